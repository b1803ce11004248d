"""Matches that end as soon as they have told what was asked: whether A's points per game are above or below a bound.

Whoever looks at a 95 % interval again and again, and stops at the first that suits him, is wrong far more often than
one time in twenty. What is used here holds at all moments at once: an asymptotic confidence sequence, Robbins' normal
mixture with the variance estimated (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas, "Time-uniform central limit theory
and asymptotic confidence sequences", Annals of Statistics 52, 2024). After t observations with mean m and
standard deviation s it is, for any ρ > 0 fixed beforehand and 1 - α = 95 %,

    m ± s · sqrt(2 (t ρ² + 1) / (t² ρ²) · log(sqrt(t ρ² + 1) / α)).

It is narrowest around the t* for which ρ² = (-2 log α + log(1 - 2 log α)) / t* is chosen (their section B.2, rounded).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.evaluation.match import Progress, check_match, joined, playing
from nardy_rl.evaluation.statistics import POINTS_A, Games, MatchResult, match_result
from nardy_rl.formats.files import Keep
from nardy_rl.players.registry import Player
from nardy_rl.rules.variant import Variant
from nardy_rl.search.rater import Rater

ABOVE, BELOW, OPEN = "above", "below", "open"
"""What a match can tell of A's points per game and a bound."""

_LOOK = 50  # pairs between two looks, whatever the number of workers, so that a match ends at the same game with any
_LEAST = 200  # pairs before the first look: the interval holds for many observations
_ALPHA = 0.05
_NARROWEST = 0.1  # share of a match's length at which its interval is narrowest compared with one look alone


class ConfidenceSequence:
    """An interval for the mean of a stream of independent numbers that may be looked at after each of them.

    With a probability of 95 % the mean is within the intervals of all moments from some 100 numbers on. `narrowest`:
    after how many numbers the interval is to be at its best.
    """

    def __init__(self, narrowest: float) -> None:
        doubled = -2 * math.log(_ALPHA)
        self._rho_squared = (doubled + math.log(1 + doubled)) / narrowest
        self._count, self._mean, self._squares = 0, 0.0, 0.0

    def add(self, values: NDArray[np.floating[Any]]) -> None:
        """Take these numbers [N], N ≥ 1, into account."""
        # Two samples' means and sums of squares put together (Chan, Golub, LeVeque 1979).
        count, mean = len(values), float(values.mean())
        total, apart = self._count + count, mean - self._mean
        self._squares += float(((values - mean) ** 2).sum()) + apart**2 * self._count * count / total
        self._mean += apart * count / total
        self._count = total

    @property
    def interval(self) -> tuple[float, float]:
        """The interval at this moment; without ends before the second number."""
        if self._count < 2:
            return -math.inf, math.inf
        deviation = math.sqrt(self._squares / (self._count - 1))
        grown = self._count * self._rho_squared + 1
        reach = 2 * grown / (self._count**2 * self._rho_squared) * math.log(math.sqrt(grown) / _ALPHA)
        return self._mean - deviation * math.sqrt(reach), self._mean + deviation * math.sqrt(reach)


@dataclass(frozen=True, kw_only=True)
class SequentialResult:
    """Where a match stopped, and what it told."""

    result: MatchResult
    """Of the games played. Its own intervals ask that their number was fixed beforehand: here they are too narrow."""
    bound: float
    interval: tuple[float, float]
    """For A's points per game, 95 % whenever one stops; of results less luck where that was judged."""
    most_games: int

    @property
    def verdict(self) -> str:
        """ABOVE: A's points per game are above the bound; BELOW; or OPEN, if `most_games` did not tell."""
        low, high = self.interval
        return ABOVE if low > self.bound else BELOW if high < self.bound else OPEN


def play_until(
    variant: Variant,
    a: Player,
    b: Player,
    games: int,
    seed: int,
    bound: float = 0.0,
    workers: int | None = None,
    progress: Progress | None = None,
    judge: Rater | None = None,
    keep: Keep | None = None,
) -> SequentialResult:
    """Play until the interval for A's points per game is clear of `bound`, `games` games at most.

    Arguments and errors as for `play_match`, whose first games these are.
    """
    check_match(games, seed, workers)
    pairs = games // 2
    chunks = [range(first, min(first + _LOOK, pairs)) for first in range(0, pairs, _LOOK)]
    sequence = ConfidenceSequence(max(_LEAST, pairs * _NARROWEST))
    parts: list[Games] = []
    with playing(variant, a, b, judge, seed, chunks, workers, keep) as played:
        started = time.perf_counter()
        for chunk, pairs_played in zip(played, chunks, strict=True):
            parts.append(chunk)
            sequence.add((chunk.games[:, :, POINTS_A] - chunk.luck).mean(axis=1))
            if progress:
                progress(2 * len(chunk.games))
            low, high = sequence.interval
            if pairs_played.stop >= _LEAST and not low <= bound <= high:
                break
        seconds = time.perf_counter() - started
    result = match_result(variant, joined(parts), judge is not None, seconds, seed)
    return SequentialResult(result=result, bound=bound, interval=sequence.interval, most_games=games)
