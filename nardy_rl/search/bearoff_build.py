"""Computing the bear-off tables of `bearoff`, with the plays and the turn protocol of the rules core itself."""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.kernel import MAX_PLAYS, Plays, new_plays
from nardy_rl.rules.position import POINTS
from nardy_rl.rules.protocol import LATER, after_play, before_roll, list_plays, take_dice
from nardy_rl.search.bearoff import TURNS, home_index

HOME = 6
_PAIR_CHECKERS = 6  # a side of the table of pairs has at most so many left
_ROLLS = 21
_ALL_OFF, _FIRST_OFF = 0, 1  # the two goals


class Tables(NamedTuple):
    """What is computed and kept on disk: the fields of `bearoff.Endings` that do not depend on points."""

    turns: NDArray[np.float32]
    none_off: NDArray[np.float32]
    pairs: NDArray[np.float32]
    chains: NDArray[np.int32]


class _Workshop(NamedTuple):
    """What the kernels work with: the positions in the order of their numbers, and their room."""

    counts: NDArray[np.int8]  # [positions, 7]: checkers off and on points 1…6
    places: NDArray[np.int32]  # as in `Endings`
    plays: Plays
    ends: NDArray[np.int32]  # [MAX_PLAYS]: positions after the plays of a roll
    board: NDArray[np.int8]  # [2, 26]


def home_places() -> NDArray[np.int32]:
    """int32[3, 256]: what s(p), low 4 bits, and s(p + 1) add to a position's number, for p = 1, 3, 5."""

    def place(point: int, above: int) -> int:
        return math.comb(above + HOME - point, HOME + 1 - point)

    return np.array(
        [[place(p, byte & 15) + place(p + 1, byte >> 4) for byte in range(256)] for p in (1, 3, 5)], np.int32
    )


def home_counts(checkers: int) -> NDArray[np.int8]:
    """int8[C(checkers + 6, 6), 7]: how many are off and on points 1…6 in every position, in the order of numbers."""
    falling = itertools.combinations_with_replacement(range(checkers, -1, -1), HOME)
    sums = np.array(list(falling), np.int8)[::-1]  # s(1) ≥ s(2) ≥ … ≥ s(6)
    edges = np.pad(sums, ((0, 0), (1, 1)))
    edges[:, 0] = checkers
    return np.ascontiguousarray(edges[:, :-1] - edges[:, 1:])


def positions(checkers: int) -> int:
    """How many positions at most so many checkers have."""
    return math.comb(checkers + HOME, HOME)


@inlined
def _list_ends(shop: _Workshop, index: int, first: int, second: int, rules: Rules) -> tuple[int, int, bool]:
    """Fill `ends` with the positions after the first segment of a roll: (how many, next value of a chain, extra roll).

    The value is 0 where the roll is then over. As long as a checker is left, every die can be played.
    """
    board = shop.board
    for point in range(HOME + 1):
        board[0, point] = shop.counts[index, point]
    standing = take_dice(before_roll(LATER, rules), board, first, second, rules, shop.plays)
    size, depth, left_over = list_plays(standing, board, rules, shop.plays)
    for play in range(size):
        shop.ends[play] = home_index(shop.places, shop.plays.low[play])
    coming = after_play(standing, depth, left_over, 0, rules)
    return size, coming.first if coming.number and coming.seat == 0 else 0, standing.extra


@kernel
def _race(
    shop: _Workshop, rules: Rules, goals: NDArray[np.int64], means: NDArray[np.float64], turns: NDArray[np.float64],
    chains: NDArray[np.int32],
) -> None:  # fmt: skip
    """Play every position to each of the two goals in the fewest turns on average; among equals the first play.

    goals: int64[2], positions below are there. means: float64[2, positions]. turns: float64[2, positions, TURNS], the
    chance of more than k turns. chains: int32[7, positions or 0], where a chain from value v on ends, the goal being
    to bear off all (the other goal is reached by every chain: its sixes take a checker off). All zero at first.
    """
    for index in range(1, shop.counts.shape[0]):
        for first in range(1, 7):
            for second in range(1, first + 1):
                size, following, again = _list_ends(shop, index, first, second, rules)
                weight = (1 if first == second else 2) / 36
                for goal in range(2):
                    if index < goals[goal]:
                        break
                    best, best_mean = 0, np.inf
                    for play in range(size):
                        end = shop.ends[play]
                        if following:
                            end = chains[following, end]
                        if means[goal, end] < best_mean:
                            best, best_mean = end, means[goal, end]
                    if goal == _ALL_OFF and first == second and chains.shape[1]:
                        chains[first, index] = best
                    table = turns[goal]
                    if again and best >= goals[goal]:  # all that is not at the goal goes on in the same turn
                        for turn in range(TURNS):
                            table[index, turn] += weight * table[best, turn]
                    else:
                        table[index, 0] += weight
                        for turn in range(1, TURNS):
                            table[index, turn] += weight * table[best, turn - 1]
        for goal in range(2):
            for turn in range(TURNS):
                means[goal, index] += turns[goal, index, turn]


@kernel
def _list_rolls(
    shop: _Workshop, rules: Rules, starts: NDArray[np.int64], ends: NDArray[np.int16], again: NDArray[np.bool_],
    seen: NDArray[np.int64],
) -> None:  # fmt: skip
    """List where each roll can end: of roll r from position i, `ends` from starts[21 i + r] up to the next start.

    starts: int64[21 M + 1]. ends: int16, room enough. again: bool_[21], whether the roll gives an extra roll.
    seen: int64[M], all below 0. Roll number first (first - 1) / 2 + second - 1 has first ≥ second.
    """
    size = 0
    for row in range(starts.size - 1):
        index, roll = row // _ROLLS, row % _ROLLS
        starts[row] = size
        if index == 0:
            ends[size] = 0
            size += 1
            continue
        first = 1
        while first * (first + 1) // 2 <= roll:
            first += 1
        second = roll - first * (first - 1) // 2 + 1
        plays, following, again[roll] = _list_ends(shop, index, first, second, rules)
        for play in range(plays):
            end = shop.ends[play]
            begin, stop = 0, 1
            if following:
                chain = end * _ROLLS + following * (following + 1) // 2 - 1
                begin, stop = starts[chain], starts[chain + 1]
            for further in range(begin, stop):
                if following:
                    end = ends[further]
                if seen[end] != row:
                    seen[end] = row
                    ends[size] = end
                    size += 1
    starts[starts.size - 1] = size


@inlined
def _best_chance(
    mine: int, his: int, starts: NDArray[np.int64], ends: NDArray[np.int16], again: NDArray[np.bool_],
    pairs: NDArray[np.float64],
) -> float:  # fmt: skip
    """The chance of the player on roll at `mine`, if all pairs after his plays are known."""
    total = 0.0
    for roll in range(_ROLLS):
        best = 0.0
        for place in range(starts[mine * _ROLLS + roll], starts[mine * _ROLLS + roll + 1]):
            end = ends[place]
            best = max(best, pairs[end, his] if again[roll] else 1 - pairs[his, end])
        double = roll in (0, 2, 5, 9, 14, 20)
        total += best * (1 if double else 2)
    return total / 36


@kernel
def _solve_pairs(
    starts: NDArray[np.int64], ends: NDArray[np.int16], again: NDArray[np.bool_], pairs: NDArray[np.float64]
) -> None:
    """Fill pairs, float64[M, M], with the chance that row i, on roll, beats column j. Rolls as `_list_rolls` gives."""
    for other in range(pairs.shape[0]):
        pairs[0, other] = 1.0
    for index in range(1, pairs.shape[0]):
        pairs[index, 0] = 0.0
        # Plays lower the number, so that each of these needs only what stands above it.
        for other in range(1, index):
            pairs[index, other] = _best_chance(index, other, starts, ends, again, pairs)
        for other in range(1, index):
            pairs[other, index] = _best_chance(other, index, starts, ends, again, pairs)
        pairs[index, index] = _best_chance(index, index, starts, ends, again, pairs)


def build(rules: Rules) -> Tables:
    """Compute the tables: a few seconds. `rules` must be of a variant that has them (`bearoff_cache.obstacle`)."""
    checkers = rules.checkers
    board = np.zeros((2, POINTS), np.int8)
    board[1, 1] = checkers  # anywhere at home
    shop = _Workshop(home_counts(checkers), home_places(), new_plays(), np.zeros(MAX_PLAYS, np.int32), board)
    number = positions(checkers)
    goals = np.array((1, positions(checkers - 1)))
    means, turns = np.zeros((2, number)), np.zeros((2, number, TURNS))
    chains = np.zeros((7, number if rules.chain_moves else 0), np.int32)
    _race(shop, rules, goals, means, turns, chains)
    # With all checkers on board a mars is possible: such positions have no place in a table of wins.
    few = positions(min(_PAIR_CHECKERS, checkers - 1))
    starts = np.zeros(_ROLLS * few + 1, np.int64)
    ends = np.empty(_ROLLS * few * few, np.int16)  # only what is filled takes up memory
    again = np.zeros(_ROLLS, np.bool_)
    pairs = np.zeros((few, few))
    _list_rolls(shop, rules, starts, ends, again, np.full(few, -1))
    _solve_pairs(starts, ends, again, pairs)
    return Tables(
        turns[_ALL_OFF].astype(np.float32),
        turns[_FIRST_OFF, goals[_FIRST_OFF] :].astype(np.float32),
        pairs.astype(np.float32),
        chains,
    )
