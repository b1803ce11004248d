"""Everybody against everybody, all on the same dice, and what that says about each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.evaluation.match import Progress, judge_of, play_match
from nardy_rl.evaluation.ratings import Ratings, elo_ratings, point_ratings
from nardy_rl.evaluation.statistics import MatchResult
from nardy_rl.players.registry import Player
from nardy_rl.rules.variant import Variant


@dataclass(frozen=True)
class RoundRobin:
    """The matches of all pairs of players, and the ratings drawn from them (see `ratings`)."""

    names: tuple[str, ...]
    matches: dict[tuple[int, int], MatchResult]
    """By the numbers of the two players, the smaller first."""
    points: NDArray[np.float64]
    """[players, players]: what row wins from column a game, luck taken off where it was judged; antisymmetric."""
    errors: NDArray[np.float64]
    """[players, players]: their standard errors."""
    ratings: Ratings
    """In points per game. The pairings share their dice, which is not taken into account."""
    misfit: float
    """Chi-squared of the ratings, by `degrees` degrees of freedom."""
    elo: Ratings

    @property
    def degrees(self) -> int:
        """Pairings beyond those that the ratings need."""
        players = len(self.names)
        return (players - 1) * (players - 2) // 2

    def to_dict(self) -> dict[str, Any]:
        """Everything in types that JSON knows, players by rating."""
        rows = [
            {
                "bot": self.names[player],
                "rating": float(self.ratings.values[player]), "rating_error": float(self.ratings.errors[player]),
                "elo": float(self.elo.values[player]), "elo_error": float(self.elo.errors[player]),
            }
            for player in self.order()
        ]  # fmt: skip
        matches = [
            {"a": self.names[one], "b": self.names[other], **result.to_dict()}
            for (one, other), result in self.matches.items()
        ]
        return {"standings": rows, "chi_squared": self.misfit, "degrees_of_freedom": self.degrees, "matches": matches}

    def order(self) -> list[int]:
        """The players' numbers, the best first."""
        return [int(player) for player in np.argsort(-self.ratings.values, kind="stable")]


def check_names(names: list[str]) -> None:
    """Raise ValueError unless these names are those of a round robin."""
    if len(names) < 2:
        raise ValueError(f"a round robin needs two bots or more, as in bots=[random,heuristic]; got {len(names)}")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"bots names {twice[0]} twice")


def play_round_robin(
    variant: Variant,
    players: dict[str, Player],
    games: int,
    seed: int,
    workers: int | None = None,
    progress: Progress | None = None,
    luck: bool | None = None,
) -> RoundRobin:
    """Let each pair of players play `games` games. Arguments and errors as for `match.play_match`.

    luck: whether luck is taken off in matches with a network, as for `match.judge_of`.
    """
    names = tuple(players)
    check_names(list(names))
    points, errors, won = (np.zeros((len(names), len(names))) for _ in range(3))
    matches = {}
    for one, other in combinations(range(len(names)), 2):
        a, b = players[names[one]], players[names[other]]
        judge = judge_of(a, b, luck)
        result = play_match(variant, a, b, games, seed, workers, progress, judge)
        matches[one, other] = result
        points[one, other], errors[one, other] = result.best_estimate
        points[other, one], errors[other, one] = -points[one, other], errors[one, other]
        won[one, other] = sum(result.classes_a.values())
        won[other, one] = result.games - won[one, other]
    ratings, misfit = point_ratings(points, errors)
    return RoundRobin(names, matches, points, errors, ratings, misfit, elo_ratings(won))
