"""One number for the strength of each player, from what pairs of them scored against each other.

Points: player i is taken to win r_i - r_j points a game from j on average; the ratings r are those of least squares,
each pairing weighted by its error, which under normal errors are the most likely. Elo: i is taken to win a game against
j with probability 1 / (1 + 10^((e_j - e_i) / 400)) (Bradley, Terry 1952; Elo 1978); e are the most likely. Only
differences mean anything, so both add up to 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LEAST_ERROR = 1e-4  # points; two players that play alike score exactly 0, and no pairing is to outweigh all others
_ELO = 400 / math.log(10)  # points of Elo in which the odds grow by the factor e
_PRIOR = 0.5  # games that each is taken to have won in each pairing besides: who wins all is not infinitely strong
_ITERATIONS = 100
_CLOSE = 1e-10


class Ratings(NamedTuple):
    """Ratings that add up to 0, and their standard errors if all pairings are independent."""

    values: NDArray[np.float64]  # [players]
    errors: NDArray[np.float64]  # [players]


def point_ratings(points: NDArray[np.float64], errors: NDArray[np.float64]) -> tuple[Ratings, float]:
    """The ratings in points per game, and by how much the pairings contradict them, as chi-squared.

    points: [players, players], what row wins from column a game, antisymmetric. errors: their standard errors,
    symmetric. Neither diagonal is looked at. If one number a player tells all, chi-squared is around
    (players - 1) (players - 2) / 2, its degrees of freedom.
    """
    players = len(points)
    weights = np.maximum(errors, _LEAST_ERROR) ** -2.0
    weights[np.diag_indices(players)] = 0
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    values = inverse @ (weights * points).sum(axis=1)
    misfit = weights * (points - values[:, None] + values) ** 2
    return Ratings(values, np.sqrt(np.diag(inverse))), float(np.triu(misfit, 1).sum())


def elo_ratings(won: NDArray[np.float64]) -> Ratings:
    """The Elo ratings. won: [players, players], games that row won from column; the diagonal is not looked at."""
    players = len(won)
    won = won + _PRIOR
    won[np.diag_indices(players)] = 0
    played = won + won.T
    values = np.zeros(players)
    for _ in range(_ITERATIONS):
        chances = 1 / (1 + np.exp(values - values[:, None]))
        weights = played * chances * (1 - chances)
        inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
        step = inverse @ (won - played * chances).sum(axis=1)
        # Newton's steps are kept short: far from the answer the curve is flat and they would be wild.
        values += np.clip(step, -1, 1)
        if np.abs(step).max() < _CLOSE:
            break
    return Ratings(_ELO * (values - values.mean()), _ELO * np.sqrt(np.diag(inverse)))
