"""Learning from batches more than once (experience replay, Lin 1992), mixed with those around them."""

from __future__ import annotations

from collections import deque

import numpy as np

from nardy_rl.selfplay.batch import Batch

KEPT = 64
"""So many of the last batches are kept. The targets of older ones are from a network of too long ago."""


class Replay:
    """The last batches of a phase. They are in memory alone: a resumed run begins with none."""

    def __init__(self) -> None:
        self._batches: deque[Batch] = deque(maxlen=KEPT)

    def mix(self, batch: Batch, passes: int, seed: int) -> Batch:
        """What to learn now that `batch` is new, so that each position is learnt `passes` times on average.

        That is `passes` times as many positions, fewer while only a few batches are kept, which `seed` (int64) draws
        from all of them, each at most once. With one pass it is the batch itself, and nothing is kept. The result's
        games are those of `batch`.
        """
        if passes == 1:
            return batch
        self._batches.append(batch)
        positions, pending, targets = (
            np.concatenate([getattr(kept, name) for kept in self._batches])
            for name in ("positions", "pending", "targets")
        )
        number = min(passes * len(batch.positions), len(positions))
        rows = np.random.default_rng(seed % 2**64).choice(len(positions), number, replace=False, shuffle=False)
        return Batch(positions[rows], pending[rows], targets[rows], batch.games)
