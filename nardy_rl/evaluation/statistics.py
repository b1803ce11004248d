"""What a match says about two players, and how sure one can be of it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.formats.played import PlayedGame
from nardy_rl.rules.variant import Variant

POINTS_A, KIND, TURNS, PASSES = 0, 1, 2, 3
"""Columns of a match's games: points won by A (negative: lost), result class 0…3, turns, and turns passed."""

COLUMNS = 4


class Games(NamedTuple):
    """The games of a match, in pairs with the same dice; A began the first game of each."""

    games: NDArray[np.int32]  # [pairs, 2, COLUMNS]
    luck: NDArray[np.float64]  # [pairs, 2]: of A, in points; 0 where it was not judged
    played: list[PlayedGame]  # move by move and in order, if they are to be kept; else empty


def new_games(pairs: int) -> Games:
    """Room for so many pairs."""
    return Games(np.empty((pairs, 2, COLUMNS), np.int32), np.zeros((pairs, 2)), [])


Z_95 = NormalDist().inv_cdf(0.975)
"""Standard errors on either side of the mean that a 95 % interval takes."""
_Z_95_ONE_SIDED = NormalDist().inv_cdf(0.95)


@dataclass(frozen=True, kw_only=True)
class MatchResult:
    """A finished match of A against B in which each pair of games had the same dice, played from both seats.

    Points are cubeless; rates are fractions of 1. Intervals cover 95 %. `standard_error` is that of
    `points_per_game`, over pairs: the two games of a pair are no independent ones.
    """

    games: int
    points_per_game: float
    """What A wins in a game on average, in points; B wins as much less."""
    standard_error: float
    points_interval: tuple[float, float]
    adjusted_points_per_game: float | None
    """The same without the luck of the dice (see `luck`): just as true, and surer. None: luck was not judged."""
    adjusted_standard_error: float | None
    win_rate: float
    """Of A."""
    win_interval: tuple[float, float]
    """Wilson's (1927), all games taken for independent ones: with swapped seats it is a little too wide."""
    classes_a: dict[str, int]
    """How many games A won of each class, named as the variant names them."""
    classes_b: dict[str, int]
    mean_turns: float
    """Length of a game in turns of one player."""
    pass_rate: float
    """The share of turns in which nothing could be moved."""
    first_mover_win_rate: float
    games_per_second: float
    seed: int

    @property
    def best_estimate(self) -> tuple[float, float]:
        """A's points per game and their standard error: without luck where that was judged."""
        if self.adjusted_points_per_game is None or self.adjusted_standard_error is None:
            return self.points_per_game, self.standard_error
        return self.adjusted_points_per_game, self.adjusted_standard_error

    @property
    def lower_bound(self) -> float:
        """What A's true average exceeds with a probability of 95 %, by the best estimate, in points per game.

        A gate that lets a new network pass demands that this is above 0.
        """
        mean, error = self.best_estimate
        return mean - _Z_95_ONE_SIDED * error

    def to_dict(self) -> dict[str, Any]:
        """All fields in types that JSON knows."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


def match_result(variant: Variant, played: Games, judged: bool, seconds: float, seed: int) -> MatchResult:
    """The result of at least two pairs of games; judged: whether their luck is known."""
    games = played.games
    points = games[:, :, POINTS_A]
    number, won = points.size, points > 0
    mean = float(points.mean())
    error = _pair_error(points)
    adjusted = points - played.luck
    turns = int(games[:, :, TURNS].sum())
    wins = int(won.sum())
    return MatchResult(
        games=number,
        points_per_game=mean,
        standard_error=error,
        points_interval=(mean - Z_95 * error, mean + Z_95 * error),
        adjusted_points_per_game=float(adjusted.mean()) if judged else None,
        adjusted_standard_error=_pair_error(adjusted) if judged else None,
        win_rate=wins / number,
        win_interval=wilson_interval(wins, number),
        classes_a=_classes(variant, games[won]),
        classes_b=_classes(variant, games[~won]),
        mean_turns=turns / number,
        pass_rate=int(games[:, :, PASSES].sum()) / turns,
        first_mover_win_rate=int(won[:, 0].sum() + (~won[:, 1]).sum()) / number,
        games_per_second=number / seconds,
        seed=seed,
    )


def _pair_error(points: NDArray[Any]) -> float:
    """The standard error of the mean of [pairs, 2] results."""
    return float(points.mean(axis=1).std(ddof=1) / math.sqrt(len(points)))


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % interval of a rate from independent trials, after Wilson (1927); honest at 0 and 1 too."""
    rate, weight = successes / trials, Z_95**2 / trials
    centre = (rate + weight / 2) / (1 + weight)
    reach = math.sqrt(rate * (1 - rate) * weight + weight**2 / 4) / (1 + weight)
    return max(0.0, centre - reach), min(1.0, centre + reach)


def _classes(variant: Variant, games: NDArray[np.int32]) -> dict[str, int]:
    """How many of these games, int32[N, COLUMNS], ended in each class that the variant knows."""
    points = (variant.single, variant.mars, variant.home_mars, variant.koks)
    counts = np.bincount(games[:, KIND], minlength=len(points))
    known = zip(variant.class_names, points, counts, strict=True)
    return {name: int(count) for name, worth, count in known if worth}
