"""The compiled play generator: one for every variant, driven by `Rules`, dice and a head budget.

Depth first over the dice; what uses fewer dice than another play is dropped, and each afterstate is kept once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import highest_bit, kernel
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.steps import Turn, illegal_prime, new_turn, sources, step
from nardy_rl.rules.words import occupancy, pack

MAX_PLAYS = 3060
"""No roll has more distinct plays: four moves shared out among 15 checkers, C(15 + 4 - 1, 4).

Where a checker may be borne off or moved by the same die (A14), all are home and a move is one of twelve: C(12 + 3, 4).
"""

MAX_MOVES = 4
RECORDS = 1 << 16  # states that `chain` can keep on record
_MOVE_BITS = 16


class Plays(NamedTuple):
    """Room for the plays of one segment of dice, made by `new_plays`, filled by `segment`.

    A play is (`low`, `high`), the mover's packed afterstate (see `words`), and `moves`, its moves in 16 bits each, the
    first lowest: from | to << 5 | hit << 10. The `_a` and `_b` arrays are scratch; what the
    former have beyond MAX_PLAYS is for `chain` alone.
    """

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    moves: NDArray[np.int64]
    low_a: NDArray[np.int64]
    high_a: NDArray[np.int64]
    moves_a: NDArray[np.int64]
    low_b: NDArray[np.int64]
    high_b: NDArray[np.int64]
    moves_b: NDArray[np.int64]


def new_plays() -> Plays:
    """Fresh room for the plays of one segment; each thread needs its own."""
    lengths = (MAX_PLAYS + RECORDS * field.endswith("_a") for field in Plays._fields)
    return Plays(*(np.empty(length, np.int64) for length in lengths))


@kernel
def segment(
    board: NDArray[np.int8], first: int, second: int, number: int, head_budget: int, patient: bool, rules: Rules,
    out: Plays,
) -> tuple[int, int, int]:  # fmt: skip
    """Fill `out` with the distinct plays of one segment of dice: (plays, moves in each, die left over).

    board: int8[2, 26], row 0 the mover. Dice: `number` times `first` if `second` is 0, else one each. `head_budget`:
    how many checkers may leave 24, the last of them, if `patient`, only when nothing else can move. The die left over
    is 0 unless exactly one of two different dice was played. Where nothing can be moved the play without moves is the
    only one.
    """
    low, high = pack(board)
    turn = new_turn(board, head_budget, patient, rules)
    left_over = 0
    if second:
        size, best, left_over = _two_dice(low, high, max(first, second), min(first, second), turn, rules, out)
    else:
        order_matters = rules.any_order != 0 or turn.patient
        if not order_matters:
            size, best, order_matters = _equal_dice(low, high, first, number, turn, rules, out)
        if order_matters:
            size, best = _equal_dice_any_order(low, high, first, number, turn, rules, out)
    if size == 0:
        _put(out, 0, low, high, 0)
        size = 1
    return size, best, left_over


@kernel
def _two_dice(
    low: int, high: int, larger: int, smaller: int, turn: Turn, rules: Rules, out: Plays
) -> tuple[int, int, int]:
    """Plays of two different dice: (number, moves in each, die left over or 0)."""
    size = 0
    best = 0
    left_over = 0
    occupied = occupancy(low, high)
    for order in range(2):
        first, second = (larger, smaller) if order == 0 else (smaller, larger)
        firsts = sources(low, high, occupied, first, turn, rules)
        while firsts:
            source = highest_bit(firsts)
            firsts ^= 1 << source
            low1, high1, occupied1, move1 = step(low, high, occupied, source, first, turn)
            legal = not illegal_prime(occupied1, turn.enemies, high1, rules)
            if not legal and not rules.prime_turn_end:
                continue
            if legal and (best == 0 or (best == 1 and left_over == second)):
                # Playing the larger die alone comes first, so the smaller alone never joins it (rule 2.6).
                best = 1
                left_over = second
                _put(out, size, low1, high1, move1)
                size += 1
            if occupied1 == 0:
                continue
            seconds = sources(low1, high1, occupied1, second, turn, rules)
            while seconds:
                source = highest_bit(seconds)
                seconds ^= 1 << source
                low2, high2, occupied2, move2 = step(low1, high1, occupied1, source, second, turn)
                if illegal_prime(occupied2, turn.enemies, high2, rules):
                    continue
                if best < 2:
                    best = 2
                    left_over = 0
                    size = 0
                if not _contains(out.low, out.high, size, low2, high2):
                    _put(out, size, low2, high2, move1 | (move2 << _MOVE_BITS))
                    size += 1
    return size, best, left_over


@kernel
def _equal_dice(
    low: int, high: int, die: int, number: int, turn: Turn, rules: Rules, out: Plays
) -> tuple[int, int, bool]:
    """Plays of `number` equal dice, checkers moved from the rear forwards: (number, moves in each, prime met).

    With equal dice a play is a multiset of source points, and moving from the rear is legal whenever any order is,
    unless the prime rule intervenes on the way (`prime met`) or `rules.any_order` holds. Each play comes once.
    """
    size = 0
    best = 0
    prime_met = False
    depth = 0
    moves = 0
    # One frame a move: the state before it and the sources not tried yet.
    lows, highs, occupieds, untried = out.low_a, out.high_a, out.moves_a, out.low_b
    lows[0], highs[0], occupieds[0] = low, high, occupancy(low, high)
    untried[0] = sources(low, high, occupieds[0], die, turn, rules)
    while depth >= 0:
        if untried[depth] == 0:
            depth -= 1
            continue
        source = highest_bit(untried[depth])
        untried[depth] ^= 1 << source
        low, high, occupied, move = step(lows[depth], highs[depth], occupieds[depth], source, die, turn)
        moves = (moves & ((1 << (_MOVE_BITS * depth)) - 1)) | (move << (_MOVE_BITS * depth))
        legal = not illegal_prime(occupied, turn.enemies, high, rules)
        if not legal:
            prime_met = True
            if not rules.prime_turn_end:
                continue
        played = depth + 1
        if legal and played >= best:
            if played > best:
                best = played
                size = 0
            _put(out, size, low, high, moves)
            size += 1
        if played < number and occupied:
            depth = played
            lows[depth], highs[depth], occupieds[depth] = low, high, occupied
            from_here_on = (2 << source) - 1
            untried[depth] = sources(low, high, occupied, die, turn, rules) & from_here_on
    return size, best, prime_met


@kernel
def _equal_dice_any_order(
    low: int, high: int, die: int, number: int, turn: Turn, rules: Rules, out: Plays
) -> tuple[int, int]:
    """Plays of `number` equal dice where order matters: all positions after one move, after two, …"""
    size = 0
    best = 0
    now = 1
    out.low_a[0], out.high_a[0], out.moves_a[0] = low, high, 0
    for played in range(1, number + 1):
        after = 0
        for index in range(now):
            low, high = out.low_a[index], out.high_a[index]
            occupied = occupancy(low, high)
            untried = sources(low, high, occupied, die, turn, rules)
            while untried:
                source = highest_bit(untried)
                untried ^= 1 << source
                low1, high1, occupied1, move = step(low, high, occupied, source, die, turn)
                if not rules.prime_turn_end and illegal_prime(occupied1, turn.enemies, high1, rules):
                    continue
                if not _contains(out.low_b, out.high_b, after, low1, high1):
                    out.low_b[after], out.high_b[after] = low1, high1
                    out.moves_b[after] = out.moves_a[index] | (move << (_MOVE_BITS * (played - 1)))
                    after += 1
        now = after
        for index in range(now):
            low, high = out.low_b[index], out.high_b[index]
            out.low_a[index], out.high_a[index], out.moves_a[index] = low, high, out.moves_b[index]
            if rules.prime_turn_end and illegal_prime(occupancy(low, high), turn.enemies, high, rules):
                continue
            if played > best:
                best = played
                size = 0
            _put(out, size, low, high, out.moves_b[index])
            size += 1
    return size, best


@kernel
def _contains(lows: NDArray[np.int64], highs: NDArray[np.int64], size: int, low: int, high: int) -> bool:
    # Without an early exit the search runs in vector registers, which for these lengths is faster.
    found = 0
    for index in range(size):
        found |= (lows[index] == low) & (highs[index] == high)
    return found != 0


@kernel
def _put(out: Plays, size: int, low: int, high: int, moves: int) -> None:
    out.low[size] = low
    out.high[size] = high
    out.moves[size] = moves
