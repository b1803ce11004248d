"""What the games of a batch of self-play look like, for comparison with `evaluation.bands`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.evaluation.bands import statistics_of
from nardy_rl.rules.variant import Variant
from nardy_rl.selfplay.batch import PASSES, POINTS, STARTER_WON, TURNS


def game_statistics(variant: Variant, games: NDArray[np.int64]) -> dict[str, float]:
    """The `bands.STATISTICS` of games int64[N, 5], as in `Batch`."""
    points, numbers = np.unique(games[:, POINTS], return_counts=True)
    return statistics_of(
        variant,
        float(games[:, STARTER_WON].mean()),
        float(games[:, TURNS].mean()),
        float(games[:, PASSES].sum() / games[:, TURNS].sum()),
        dict(zip(points.tolist(), (numbers / len(games)).tolist(), strict=True)),
    )
