"""Look-ahead: the rolls to come are tried out, all 21 of them, and each is answered by the play that the network likes.

Depth is counted as GNU Backgammon counts it: 0 plies is the bare network on the position after a play, 1 ply averages
over the next roll, 2 plies over the next two. Dice that are already known (passed on, or the next value of a chain) are
played by the network's choice and count for nothing. Everything is deterministic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.network.fast_net import FastNet, Scratch, new_scratch
from nardy_rl.network.inference import change_sides, equity_of
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.kernel import Plays, new_plays
from nardy_rl.rules.position import HEAD, POINTS
from nardy_rl.rules.protocol import Standing, after_play, begin, list_plays, take_dice
from nardy_rl.rules.words import copy_board, unpack
from nardy_rl.search.rater import Rater, rate_all

MAX_PLIES = 3
ROLLS = 21
"""Different rolls; number 0 is 1-1, then 2-1, 2-2, 3-1, …, 6-6."""

_CANDIDATES = (5, 3, 2)  # how many plays are looked at 1, 2, 3 plies deep …
_MARGINS = (0.08, 0.04, 0.04)  # … and how far, in points, they may be behind the best at one ply less


_SEAT, _ROLLER, _STARTER, _ROLLS_0, _ROLLS_1, _HEAD_LEFT, _NEXT = range(7)


class Room(NamedTuple):
    """What a look-ahead works in. A level of it is a player about to roll, and what his rolls so far come to."""

    plays: Plays
    scratch: Scratch
    boards: NDArray[np.int8]  # [MAX_PLIES, 2, 26]: row 0 is about to roll
    states: NDArray[np.int64]  # [MAX_PLIES, 7]: whose outcome is wanted, the roller's Standing, the next roll's number
    outcomes: NDArray[np.float32]  # [MAX_PLIES, outputs]
    changed: NDArray[np.float32]  # [outputs]
    after: NDArray[np.int8]  # [2, 26]
    candidates: NDArray[np.int64]  # [_CANDIDATES[0]]


def new_room(net: FastNet) -> Room:
    """Fresh room for looking ahead with `net`; each thread needs its own."""
    outputs = len(net.equity) - 1
    return Room(
        new_plays(),
        new_scratch(net),
        np.zeros((MAX_PLIES, 2, POINTS), np.int8),
        np.zeros((MAX_PLIES, _NEXT + 1), np.int64),
        np.zeros((MAX_PLIES, outputs), np.float32),
        np.zeros(outputs, np.float32),
        np.zeros((2, POINTS), np.int8),
        np.zeros(_CANDIDATES[0], np.int64),
    )


@inlined
def numbered_roll(number: int) -> tuple[int, int]:
    """Roll `number` of ROLLS, the larger die first."""
    larger = 1
    while number >= larger:
        number -= larger
        larger += 1
    return larger, number + 1


@inlined
def rolling(seat: int, rolls_0: int, rolls_1: int) -> Standing:
    """Seat `seat` is about to roll in a game that seat 0 began, in which they have rolled so often."""
    return Standing(seat, 0, rolls_0, rolls_1, 0, 0, 0, 0, 0, True, False, False, begin(0).head_left, False)


@inlined
def play_on(
    standing: Standing, board: NDArray[np.int8], plays: Plays, chosen: int, depth: int, left_over: int, rules: Rules,
    after: NDArray[np.int8],
) -> Standing:  # fmt: skip
    """Make a play that does not end the game: `board` becomes that of who acts next, as the result says.

    board, after (room for it): int8[2, 26]; plays, depth and left_over as `list_plays` gave them.
    """
    unpack(plays.low[chosen], plays.high[chosen], board, rules, after)
    coming = after_play(standing, depth, left_over, board[0, HEAD] - after[0, HEAD], rules)
    mover = 0 if coming.seat == standing.seat else 1
    for point in range(POINTS):
        board[0, point], board[1, point] = after[mover, point], after[1 - mover, point]
    return coming


@kernel
def look_ahead(
    rater: Rater, board: NDArray[np.int8], standing: Standing, plies: int, rules: Rules, room: Room,
    outcome: NDArray[np.float32],
) -> None:  # fmt: skip
    """Fill `outcome` float32[outputs] with the nested probabilities of row 0, who acts next as `standing` says.

    board: int8[2, 26], unchanged. plies: from 1 to MAX_PLIES.
    """
    copy_board(board, room.boards[0])
    plays, scratch, levels = room.plays, room.scratch, rater.net.levels.size
    level = 0 if _enter(rater, standing, 0, rules, room) else -1
    while level >= 0:
        board, state = room.boards[level], room.states[level]
        number = state[_NEXT]
        if number == ROLLS:
            level -= 1
            if level >= 0:
                _add(room.outcomes[level + 1], state[_SEAT], level, room, levels)
            continue
        state[_NEXT] = number + 1
        first, second = numbered_roll(number)
        rolled = take_dice(_roller(state), board, first, second, rules, plays)
        size, depth, left_over = list_plays(rolled, board, rules, plays)
        coming = after_play(rolled, depth, left_over, 0, rules)
        best = rate_all(rater, board, rolled, coming, plays, size, depth, True, rules, scratch)
        if plays.low[best] & 15 == rules.checkers:
            _add(scratch.probabilities[best], 1 - rolled.seat, level, room, levels)
        elif level == plies - 1:
            _add(scratch.probabilities[best], coming.seat, level, room, levels)
        else:
            copy_board(board, room.boards[level + 1])
            coming = play_on(rolled, room.boards[level + 1], plays, best, depth, left_over, rules, room.after)
            if _enter(rater, coming, level + 1, rules, room):
                level += 1
            else:
                _add(room.outcomes[level + 1], coming.seat, level, room, levels)
    for out in range(outcome.size):
        outcome[out] = room.outcomes[0, out]


@kernel
def _enter(rater: Rater, standing: Standing, level: int, rules: Rules, room: Room) -> bool:
    """Begin a level with the outcome of who acts next on its board: play the dice that are known.

    False if that ends the game; the level's outcome is then complete.
    """
    board, state, outcome = room.boards[level], room.states[level], room.outcomes[level]
    state[_SEAT] = standing.seat
    now = standing
    while now.number:
        size, depth, left_over = list_plays(now, board, rules, room.plays)
        coming = after_play(now, depth, left_over, 0, rules)
        best = rate_all(rater, board, now, coming, room.plays, size, depth, True, rules, room.scratch)
        if room.plays.low[best] & 15 == rules.checkers:
            see(room.scratch.probabilities[best], 1 - now.seat, standing.seat, rater.net.levels.size, outcome)
            return False
        now = play_on(now, board, room.plays, best, depth, left_over, rules, room.after)
    state[_ROLLER], state[_STARTER], state[_HEAD_LEFT] = now.seat, now.starter, now.head_left
    state[_ROLLS_0], state[_ROLLS_1], state[_NEXT] = now.rolls_0, now.rolls_1, 0
    for out in range(outcome.size):
        outcome[out] = 0.0
    return True


@inlined
def _roller(state: NDArray[np.int64]) -> Standing:
    """The player of a level, about to roll."""
    return Standing(
        state[_ROLLER], state[_STARTER], state[_ROLLS_0], state[_ROLLS_1],
        0, 0, 0, 0, 0, True, False, False, state[_HEAD_LEFT], False,
    )  # fmt: skip


@inlined
def _add(probabilities: NDArray[np.float32], whose: int, level: int, room: Room, levels: int) -> None:
    """Add what came of a level's last roll, as seat `whose` sees it, to its outcome."""
    state, outcome = room.states[level], room.outcomes[level]
    first, second = numbered_roll(state[_NEXT] - 1)
    share = np.float32(1 / 36 if first == second else 2 / 36)
    see(probabilities, whose, state[_SEAT], levels, room.changed)
    for out in range(outcome.size):
        outcome[out] += share * room.changed[out]


@inlined
def see(probabilities: NDArray[np.float32], whose: int, seat: int, levels: int, seen: NDArray[np.float32]) -> None:
    """Nested probabilities of seat `whose` as `seat` sees them."""
    if whose == seat:
        for out in range(seen.size):
            seen[out] = probabilities[out]
    else:
        change_sides(probabilities, levels, seen)


@kernel
def choose_ahead(
    rater: Rater, board: NDArray[np.int8], standing: Standing, plays: Plays, size: int, depth: int, left_over: int,
    plies: int, rules: Rules, scratch: Scratch, room: Room,
) -> int:  # fmt: skip
    """The index of the best play after looking `plies` rolls ahead, from 1 to MAX_PLIES.

    board: int8[2, 26], row 0 the mover. plays: as `list_plays` gave them, and `scratch` as `rate_plays` left it. The
    best candidates are looked at one ply deeper than before, and fewer of them at each further ply; their ratings in
    `scratch` are then those of the deepest look, in the form that `rate_plays` describes.
    """
    candidates, kept = room.candidates, 0
    for index in range(size):
        kept = _insert(candidates, kept, _CANDIDATES[0], index, scratch.equities)
    for ply in range(1, plies + 1):
        least = scratch.equities[candidates[0]] - np.float32(_MARGINS[ply - 1])
        close = 0
        while close < min(kept, _CANDIDATES[ply - 1]) and scratch.equities[candidates[close]] >= least:
            close += 1
        kept = close
        if kept == 1:
            break
        for place in range(kept):
            index = candidates[place]
            if plays.low[index] & 15 == rules.checkers:
                continue
            copy_board(board, scratch.board)
            coming = play_on(standing, scratch.board, plays, index, depth, left_over, rules, room.after)
            rated = scratch.probabilities[index]
            look_ahead(rater, scratch.board, coming, ply, rules, room, rated)
            equity = equity_of(rater.net, rated)
            scratch.equities[index] = equity if coming.seat == standing.seat else -equity
        again = 0
        for place in range(kept):
            again = _insert(candidates, again, kept, candidates[place], scratch.equities)
    return candidates[0]


@inlined
def _insert(candidates: NDArray[np.int64], kept: int, most: int, index: int, equities: NDArray[np.float32]) -> int:
    """Put a play into the list of the `most` best, the best first and the earlier one among equals; its new length."""
    place = kept
    while place > 0 and equities[index] > equities[candidates[place - 1]]:
        place -= 1
    if place == most:
        return kept
    for later in range(min(kept, most - 1), place, -1):
        candidates[later] = candidates[later - 1]
    candidates[place] = index
    return min(kept + 1, most)


@kernel
def roll_equities(
    rater: Rater, board: NDArray[np.int8], standing: Standing, rules: Rules, room: Room, equities: NDArray[np.float32]
) -> None:
    """Fill `equities` float32[ROLLS] with those of row 0, who is about to roll, after the best play of each roll."""
    for number in range(ROLLS):
        first, second = numbered_roll(number)
        rolled = take_dice(standing, board, first, second, rules, room.plays)
        size, depth, left_over = list_plays(rolled, board, rules, room.plays)
        coming = after_play(rolled, depth, left_over, 0, rules)
        best = rate_all(rater, board, rolled, coming, room.plays, size, depth, True, rules, room.scratch)
        equities[number] = room.scratch.equities[best]
