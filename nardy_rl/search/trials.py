"""The trials of a rollout, compiled: one position after another from where it stands to where its outcome is known.

See `rollout` for what is taken off a trial, and why.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.network.fast_net import Scratch, new_scratch
from nardy_rl.network.inference import rate
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import roll, stream
from nardy_rl.rules.kernel import Plays, new_plays
from nardy_rl.rules.position import POINTS
from nardy_rl.rules.protocol import Standing, after_play, list_plays, pending_steps, take_dice
from nardy_rl.rules.words import copy_board
from nardy_rl.search.bearoff import both_home, rate_ending
from nardy_rl.search.lookahead import ROLLS, Room, choose_ahead, look_ahead, new_room, numbered_roll, play_on
from nardy_rl.search.rater import Rater, rate_all

FACES, LOTTERY_FACES = 36, 30
"""Equally likely rolls; and those of the lottery, without doubles."""
TO_THE_END = -1
"""The `half_turns` of a trial that is not broken off."""
LONGEST = 100_000
"""Decisions of a trial; one that takes more is taken for a game that cannot end."""


class Plan(NamedTuple):
    """How trials are played: see `roll_out`."""

    plies: int
    half_turns: int  # or TO_THE_END
    reduce: bool
    seed: int
    orders: NDArray[np.int64]  # [1 + first rolls, 36]: the first rolls in order; and after each of them the second


class Desk(NamedTuple):
    """The room that one thread needs."""

    plays: Plays
    scratch: Scratch
    room: Room
    board: NDArray[np.int8]  # [2, 26]
    after: NDArray[np.int8]  # [2, 26]
    rated: NDArray[np.float32]  # [outputs]


def new_desk(rater: Rater) -> Desk:
    """Room for trials with `rater`; each thread needs its own."""
    net = rater.net
    board, after = (np.zeros((2, POINTS), np.int8) for _ in range(2))
    return Desk(new_plays(), new_scratch(net), new_room(net), board, after, np.zeros(len(net.equity) - 1, np.float32))


@kernel
def play_trials(
    rater: Rater, start: NDArray[np.int8], standing: Standing, plan: Plan, first: int, rules: Rules, desk: Desk,
    outcomes: NDArray[np.float64],
) -> bool:  # fmt: skip
    """Play the trials from number `first` on and add what came of each to its row of `outcomes` float64[N, outputs].

    start: int8[2, 26], row 0 the player who acts as `standing` says, for whom the outcomes are. False if a trial did
    not end.
    """
    for index in range(len(outcomes)):
        if not _play_trial(rater, start, standing, plan, first + index, rules, desk, outcomes[index]):
            return False
    return True


@kernel
def _play_trial(
    rater: Rater, start: NDArray[np.int8], standing: Standing, plan: Plan, trial: int, rules: Rules, desk: Desk,
    outcome: NDArray[np.float64],
) -> bool:  # fmt: skip
    """Add to `outcome` float64[outputs] what came of a trial for who acts first, luck taken off. False: it did not end.

    start: int8[2, 26], unchanged.
    """
    board, plays, scratch = desk.board, desk.plays, desk.scratch
    seat, levels, key, rolled = standing.seat, rater.net.levels.size, stream(plan.seed, trial), 0
    copy_board(start, board)
    if plan.half_turns == 0:
        _rate_start(rater, standing, plan.plies, rules, desk)
        _add(1.0, desk.rated, seat, seat, levels, outcome)
        return True
    for _ in range(LONGEST):
        rolls = standing.number == 0
        missing = 0.0
        if rolls:
            if rater.endings.turns.shape[0] and both_home(board):
                rate_ending(rater.endings, board, desk.rated)
                _add(1.0, desk.rated, standing.seat, seat, levels, outcome)
                return True
            first, second = _dice(plan.orders, key, trial, rolled)
            rolled += 1
            if plan.reduce:
                missing = _add_other_rolls(rater, standing, first, second, seat, rules, desk, outcome)
            standing = take_dice(standing, board, first, second, rules, plays)
        chosen, follower, size, depth, left_over = _answer(rater, standing, rules, desk)
        if missing > 0.0:
            whose = _whose(plays, chosen, standing.seat, follower, rules)
            _add(-missing, scratch.probabilities[chosen], whose, seat, levels, outcome)
        if plan.plies and size > 1:
            chosen = choose_ahead(
                rater, board, standing, plays, size, depth, left_over, plan.plies, rules, scratch, desk.room
            )
        if plays.low[chosen] & 15 == rules.checkers or (rolls and rolled == plan.half_turns):
            whose = _whose(plays, chosen, standing.seat, follower, rules)
            _add(1.0, scratch.probabilities[chosen], whose, seat, levels, outcome)
            return True
        standing = play_on(standing, board, plays, chosen, depth, left_over, rules, desk.after)
    return False


@kernel
def _rate_start(rater: Rater, standing: Standing, plies: int, rules: Rules, desk: Desk) -> None:
    """Fill `desk.rated` for who acts on the desk's board."""
    if plies:
        look_ahead(rater, desk.board, standing, plies, rules, desk.room, desk.rated)
    else:
        rate(rater.net, desk.board, pending_steps(standing), desk.scratch, desk.rated)


@inlined
def _dice(orders: NDArray[np.int64], key: int, trial: int, rolled: int) -> tuple[int, int]:
    """Roll number `rolled` of a trial: the first two by the orders of `Plan`."""
    faces = orders.shape[0] - 1
    if rolled > 1:
        return roll(key, rolled)
    number = orders[0, trial % faces]
    if rolled == 1:
        number = orders[1 + number, trial // faces % FACES]
    elif faces == LOTTERY_FACES:
        mine, other = number // 5 + 1, number % 5 + 1
        return mine, other + (other >= mine)
    return number // 6 + 1, number % 6 + 1


@kernel
def _add_other_rolls(
    rater: Rater, standing: Standing, first: int, second: int, seat: int, rules: Rules, desk: Desk,
    outcome: NDArray[np.float64],
) -> float:  # fmt: skip
    """Add the best plays of all rolls but this one, weighted by their chances, to `outcome`; returns their total.

    The best play of the roll itself with this weight, taken off, leaves minus the luck of the roll.
    """
    lottery = rules.lottery_opening != 0 and standing.rolls_0 + standing.rolls_1 == 0
    larger, smaller = max(first, second), min(first, second)
    total = 0.0
    for number in range(ROLLS):
        one, other = numbered_roll(number)
        if (one == larger and other == smaller) or (lottery and one == other):
            continue
        share = (1 if one == other else 2) / (LOTTERY_FACES if lottery else FACES)
        rolled = take_dice(standing, desk.board, one, other, rules, desk.plays)
        best, follower, _, _, _ = _answer(rater, rolled, rules, desk)
        whose = _whose(desk.plays, best, standing.seat, follower, rules)
        _add(share, desk.scratch.probabilities[best], whose, seat, rater.net.levels.size, outcome)
        total += share
    return total


@kernel
def _answer(rater: Rater, standing: Standing, rules: Rules, desk: Desk) -> tuple[int, int, int, int, int]:
    """Rate all plays of a segment: (the best, who acts next, plays, moves in each, die left over)."""
    size, depth, left_over = list_plays(standing, desk.board, rules, desk.plays)
    coming = after_play(standing, depth, left_over, 0, rules)
    best = rate_all(rater, desk.board, standing, coming, desk.plays, size, depth, False, rules, desk.scratch)
    return best, coming.seat, size, depth, left_over


@inlined
def _whose(plays: Plays, index: int, mover: int, follower: int, rules: Rules) -> int:
    """Whose outcome a play's rating is: that of who acts next, and of a won game the loser's."""
    return 1 - mover if plays.low[index] & 15 == rules.checkers else follower


@inlined
def _add(
    share: float, probabilities: NDArray[np.float32], whose: int, seat: int, levels: int, outcome: NDArray[np.float64]
) -> None:
    """Add so much of the nested probabilities of seat `whose`, as `seat` sees them."""
    if whose == seat:
        for out in range(outcome.size):
            outcome[out] += share * probabilities[out]
        return
    outcome[0] += share * (1.0 - probabilities[0])
    for level in range(1, levels):
        outcome[level] += share * probabilities[levels + level - 1]
        outcome[levels + level - 1] += share * probabilities[level]
