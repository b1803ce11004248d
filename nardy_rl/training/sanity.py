"""What the games of a batch of self-play look like, for comparison with `evaluation.bands`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.variant import Variant
from nardy_rl.selfplay.batch import PASSES, POINTS, STARTER_WON, TURNS


def game_statistics(variant: Variant, games: NDArray[np.int64]) -> dict[str, float]:
    """Shares of games the starter won, of games won as mars (gammon) and as koks (backgammon), turns a game, and the
    share of turns without a move. games: int64[N, 5], as in `Batch`."""
    statistics = {
        "starter_wins": float(games[:, STARTER_WON].mean()),
        "turns": float(games[:, TURNS].mean()),
        "passes": float(games[:, PASSES].sum() / games[:, TURNS].sum()),
        "mars": float(np.isin(games[:, POINTS], [variant.mars, variant.home_mars]).mean()),
    }
    if variant.koks:
        statistics["koks"] = float((games[:, POINTS] == variant.koks).mean())
    return statistics
