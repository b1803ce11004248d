"""Whose turn it is and with which dice: the turn protocol of every variant (rules 2, 6 and 7).

A turn is a sequence of segments. Where dice are never passed on and no double chains, a segment is a roll. In gyulbar
the dice that a player cannot play go to the other, who plays them before he rolls himself; a double played out gives
an extra roll; in mad gyulbar a double stands for a chain of doubles, one segment for each value.

One state machine drives everything: `begin`, then `take_dice` whenever nothing is left to play, `list_plays`, and
`after_play` for the play chosen. The caller keeps the board with the player who acts in row 0, and swaps its rows when
`seat` changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.rules.chain import keep_longest
from nardy_rl.rules.compact import CHAIN_BREAKS, CHAIN_HEADS, HEAD_EXCEPTIONS, MAX_SCOPES, PASS_WHEN, Rules
from nardy_rl.rules.kernel import Plays, segment

_BLOCKED, _SEED_LIST, _D346, _D46, _ANY_DOUBLE = (
    HEAD_EXCEPTIONS.index(name) for name in ("blocked", "seed_list", "d346", "d46", "any_double")
)
_ANY_ROLL, _DOUBLES_ONLY = PASS_WHEN.index("any_roll"), PASS_WHEN.index("doubles_only")
_SKIP, _LOSE_REST = CHAIN_BREAKS.index("skip"), CHAIN_BREAKS.index("lose_rest")
_GROUP_HEAD, _FREE_HEAD = CHAIN_HEADS.index("group"), CHAIN_HEADS.index("free")
_WHOLE_CHAIN = MAX_SCOPES.index("chain")
LATER, STARTER, SECOND = 0, 1, 2  # whose first own turn it is: nobody's, that of who began, that of the other
_FRESH = -1  # of `head_left` before a roll: a new budget


class Standing(NamedTuple):
    """How a game stands, the board aside. `number` 0: nothing is left to play, the player who acts rolls."""

    seat: int  # who acts, 0 or 1
    starter: int  # who began
    rolls_0: int  # how often seat 0 has rolled
    rolls_1: int
    first: int  # the dice of this segment: `number` times `first`,
    second: int  # or one each if this is not 0
    number: int
    later: int  # steps of each value in the segments that follow, 4 bits a value: value v in bits 4v … 4v + 3
    passing: int  # likewise what the other player will have to play
    own: bool  # the dice are of the player's own roll; else they were passed on to him
    chain: bool  # the segment is one value of a chain of doubles
    extra: bool  # he rolls again if he plays all of his roll
    head_left: int  # checkers that may leave 24
    patient: bool  # the last of them only when nothing else can move (A5)


@inlined
def begin(starter: int) -> Standing:
    """A game in which seat `starter`, 0 or 1, is about to roll."""
    return Standing(starter, starter, 0, 0, 0, 0, 0, 0, 0, True, False, False, _FRESH, False)


@inlined
def before_roll(turn: int, rules: Rules) -> Standing:
    """A game in which seat 0 is about to roll: his first turn as STARTER or SECOND, or a LATER one past any grace."""
    starter = 1 if turn == SECOND else 0
    rolls = max(1, rules.chain_grace_turns) if turn == LATER else 0
    return Standing(0, starter, rolls, 0, 0, 0, 0, 0, 0, True, False, False, _FRESH, False)


@inlined
def take_dice(
    standing: Standing, board: NDArray[np.int8], first: int, second: int, rules: Rules, room: Plays
) -> Standing:
    """Row 0 of int8[2, 26], who acts, has rolled; `room` is for trying whether one head checker is enough."""
    seat = standing.seat
    rolls = standing.rolls_1 if seat else standing.rolls_0
    double = first == second
    chain = double and rules.chain_moves > 0 and rolls >= rules.chain_grace_turns
    in_grace = double and rules.chain_moves > 0 and not chain
    budget, exception = _head_budget(board, first, second, rolls == 0, seat == standing.starter, rules, room)
    if standing.head_left != _FRESH:
        budget = min(budget, standing.head_left + exception)  # the exception is one more for the turn, too
    patient = exception and rules.last_resort != 0
    later = 0
    number = rules.doubles_moves if double else 2
    if chain:
        number = rules.chain_moves
        for value in range(first + 1, 7):
            later |= number << (4 * value)
        if rules.chain_head == _FREE_HEAD:
            budget, patient = rules.checkers, False
    extra = (rules.chain_extra_roll != 0) if chain else (double and rules.extra_roll != 0 and not in_grace)
    return Standing(
        seat, standing.starter, standing.rolls_0 + (1 - seat), standing.rolls_1 + seat,
        first, 0 if double else second, number, later, 0, True, chain, extra, budget, patient,
    )  # fmt: skip


@kernel
def _head_budget(
    board: NDArray[np.int8], first: int, second: int, first_turn: bool, starts: bool, rules: Rules, room: Plays
) -> tuple[int, bool]:
    """How many checkers may leave 24 in this roll, and whether that is one more than usual (rules 3.3)."""
    if rules.head == 0:
        return rules.checkers, False
    if not first_turn or not _exception_listed(first, second, starts, rules):
        return rules.head, False
    # "Blocked" and the seeds' list: a second checker only if one cannot play the whole roll.
    if rules.head_exception in (_BLOCKED, _SEED_LIST):
        double = first == second
        number = rules.doubles_moves if double else 2
        _, best, _ = segment(board, first, 0 if double else second, number, rules.head, False, rules, room)
        if best == number:
            return rules.head, False
    return rules.head + 1, True


@kernel
def _exception_listed(first: int, second: int, starts: bool, rules: Rules) -> bool:
    """Whether this roll is on the list of `head_exception` (rules 3.3)."""
    rule = rules.head_exception
    double = first == second
    if rule == _BLOCKED:
        return True
    if rule == _ANY_DOUBLE:
        return double
    if rule == _D46:
        return double and (first == 4 or first == 6)
    if rule in (_D346, _SEED_LIST):
        if double and (first == 3 or first == 4 or first == 6):
            return True
        if rule == _SEED_LIST and not starts:
            return (double and first == 5) or (max(first, second) == 6 and min(first, second) == 2)
    return False


@inlined
def list_plays(standing: Standing, board: NDArray[np.int8], rules: Rules, out: Plays) -> tuple[int, int, int]:
    """Fill `out` with the plays of the segment: (plays, moves in each, die left over), as `segment` does.

    With `chain_max_scope: chain`, where a value of an own chain can be finished, these are only the plays after which
    the most moves can follow. Passed dice are always played value by value, each as far as it goes (rules 7.4).
    """
    size, depth, left_over = segment(
        board, standing.first, standing.second, standing.number, standing.head_left, standing.patient, rules, out
    )
    if rules.chain_max_scope == _WHOLE_CHAIN and standing.chain and standing.later and depth == standing.number:
        head_anew = rules.chain_head == _GROUP_HEAD and rules.head != 0
        size = keep_longest(
            board, standing.first, depth, standing.head_left, standing.patient, head_anew, rules, size, out
        )
    return size, depth, left_over


@kernel
def generate(
    board: NDArray[np.int8], first: int, second: int, turn: int, rules: Rules, out: Plays
) -> tuple[Standing, int, int, int]:
    """Fill `out` with the plays of a roll by row 0 of int8[2, 26]: (standing, plays, moves in each, die left over).

    turn: LATER, STARTER or SECOND. Of a chain of doubles these are the plays of the first value.
    """
    standing = take_dice(before_roll(turn, rules), board, first, second, rules, out)
    size, depth, left_over = list_plays(standing, board, rules, out)
    return standing, size, depth, left_over


@inlined
def after_play(standing: Standing, depth: int, left_over: int, left_head: int, rules: Rules) -> Standing:
    """After a play of `depth` moves that left the die `left_over` (or 0), and took `left_head` checkers off the head.

    All plays of a segment use equally many dice, so that apart from the head budget this is the same after each.
    """
    head_left = standing.head_left - left_head if rules.head else standing.head_left
    carried = head_left if rules.head_whole_turn else _FRESH
    if not standing.own:
        if standing.later:
            return _group(standing, standing.seat, standing.later, 0, head_left, False, False)
        return _roll(standing, standing.seat, carried)
    missing = standing.number - depth
    passing, later = standing.passing, standing.later
    if standing.second == 0:
        passing += missing << (4 * standing.first)
    elif left_over:
        passing += 1 << (4 * left_over)
    if missing and rules.chain_break != _SKIP:
        passing += later
        later = 0
    if later:
        if rules.chain_head == _GROUP_HEAD and rules.head:  # a new budget, of which nothing is an exception
            return _group(standing, standing.seat, later, passing, rules.head, False, True)
        return _group(standing, standing.seat, later, passing, head_left, standing.patient, True)
    passes = rules.pass_when == _ANY_ROLL or (rules.pass_when == _DOUBLES_ONLY and standing.second == 0)
    if standing.chain and rules.chain_break == _LOSE_REST:
        passes = False
    nothing_played = standing.second != 0 and depth == 0
    if passes and (passing or nothing_played):
        other = 1 - standing.seat
        budget = rules.head if rules.head else rules.checkers
        if nothing_played:  # both dice of a roll stay one segment
            return Standing(
                other, standing.starter, standing.rolls_0, standing.rolls_1,
                standing.first, standing.second, 2, 0, 0, False, False, False, budget, False,
            )  # fmt: skip
        return _group(standing, other, passing, 0, budget, False, False)
    if standing.extra and passing == 0:
        return _roll(standing, standing.seat, carried)
    return _roll(standing, 1 - standing.seat, _FRESH)


@inlined
def _roll(standing: Standing, seat: int, head_left: int) -> Standing:
    """Nothing is left to play: `seat` rolls."""
    return Standing(
        seat, standing.starter, standing.rolls_0, standing.rolls_1, 0, 0, 0, 0, 0, True, False, False, head_left, False
    )


@inlined
def _group(
    standing: Standing, seat: int, steps: int, passing: int, head_left: int, patient: bool, own: bool
) -> Standing:
    """The segment of the lowest value in `steps`, 4 bits a value, the rest to follow."""
    value = 1
    while (steps >> (4 * value)) & 15 == 0:
        value += 1
    number = (steps >> (4 * value)) & 15
    return Standing(
        seat, standing.starter, standing.rolls_0, standing.rolls_1,
        value, 0, number, steps ^ (number << (4 * value)), passing,
        own, own and standing.chain, own and standing.extra, head_left, patient,
    )  # fmt: skip


@inlined
def pending_steps(standing: Standing) -> int:
    """What the player who acts has still to play, as a network is told of it: 0 if he is about to roll.

    4 bits a value as in `Standing`, and bit 0 if the dice are of his own roll.
    """
    if standing.number == 0:
        return 0
    steps = standing.later | standing.own
    if standing.second:
        return steps + (1 << (4 * standing.first)) + (1 << (4 * standing.second))
    return steps + (standing.number << (4 * standing.first))
