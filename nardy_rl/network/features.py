"""What the network sees of a position: 98 numbers a player, the inputs of Tesauro's TD-Gammon (1992).

The point of view is that of the player on roll: his 98 numbers come first, then the other player's, each in its
owner's own numbering. For a player with n checkers on a point:

=================  ==============================================  =======================================
index in a side    meaning                                         value
=================  ==============================================  =======================================
4(p-1)             point p, 1…24, holds a checker                  1 if n ≥ 1, else 0
4(p-1) + 1         … holds two                                     1 if n ≥ 2, else 0
4(p-1) + 2         … holds three                                   1 if n ≥ 3, else 0
4(p-1) + 3         … holds more                                    (n - 3) / 2 if n > 3, else 0
96                 checkers on the bar                             n / 2
97                 checkers borne off                              n / 15
=================  ==============================================  =======================================

In variants where dice can be pending (`Variant.has_pending`) seven more follow, all 0 before a roll: for each value
1…6 a quarter of the steps of it that the player who acts has still to play, then 1 if they are of his own roll.

Every input depends on one count alone. The first layer is therefore a sum of table rows, one for each point, which is
what lets the compiled twin follow a play by adding two rows a move.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

UNITS = 4
SIDE_INPUTS = 24 * UNITS + 2
INPUTS = 2 * SIDE_INPUTS
PENDING_INPUTS = 7
PENDING_SCALE = 1 / 4
COUNTS = 16
BAR_SCALE, OFF_SCALE, REST_SCALE = 1 / 2, 1 / 15, 1 / 2
_BAR_INPUT, _OFF_INPUT = SIDE_INPUTS - 2, SIDE_INPUTS - 1


def count_table(weights: NDArray[np.float32]) -> NDArray[np.float32]:
    """What each count on each point adds to the first layer: float32[2, 26, 16, H] from its weights float32[H, inputs].

    Axes: 0 the player on roll, 1 the other; point (0 off, 25 bar); number of checkers there; hidden unit.
    """
    n = np.arange(COUNTS, dtype=np.float32)
    unit_values = np.stack([n >= 1, n >= 2, n >= 3, np.maximum(n - 3, 0) * REST_SCALE]).astype(np.float32)
    table = np.zeros((2, 26, COUNTS, weights.shape[0]), np.float32)
    for side in range(2):
        own = weights[:, side * SIDE_INPUTS : (side + 1) * SIDE_INPUTS]
        points = own[:, : 24 * UNITS].reshape(-1, 24, UNITS)
        table[side, 1:25] = np.einsum("hpu,uc->pch", points, unit_values)
        table[side, 25] = np.outer(n * BAR_SCALE, own[:, _BAR_INPUT])
        table[side, 0] = np.outer(n * OFF_SCALE, own[:, _OFF_INPUT])
    return table
