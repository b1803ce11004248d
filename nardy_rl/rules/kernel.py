"""The compiled play generator: one for every variant, driven by `Rules`, dice and a head budget.

Inside, the mover's checkers are two 64-bit words of 4-bit counts (`low`: points 0–15, `high`: points 16–25), and the
enemy points hit in this turn are bits 40…63 of `high`; (`low`, `high`) therefore names an afterstate exactly. Sets of
points are bit masks, bit p for the mover's point p, so that "which checkers may move a 5" is one shift.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import highest_bit, kernel, lowest_bit
from nardy_rl.rules.variant import Rules

MAX_PLAYS = 3060
"""No roll has more distinct plays: four moves shared out among 15 checkers, C(15 + 4 - 1, 4)."""

MAX_MOVES = 4
_HIT_SHIFT = 39  # a hit on the mover's point p sets bit p + 39 of `high`
_HIT_FLAG = 1 << 10
_MOVE_BITS = 16
_HEAD, _BAR = 24, 25
_POINTS = 0x1FFFFFE  # points 1…24
_HOME = 0x7E  # points 1…6
_AHEAD, _IN_HOME, _FORBID = 1, 2, 3  # Rules.prime
_D46 = 3  # Rules.head_exception
_BLOCKED, _SEED_LIST, _D346, _ANY_DOUBLE = 0, 1, 2, 4

LATER, STARTER, SECOND = 0, 1, 2
"""Whose first own turn it is: nobody's, that of the player who began, that of the other."""


class Plays(NamedTuple):
    """Room for the plays of one roll, made by `new_plays`, filled by `generate`.

    A play is (`low`, `high`), the mover's packed afterstate, and `moves`, its moves in 16 bits each, the first lowest:
    from | to << 5 | hit << 10. The `_a` and `_b` arrays are the generator's scratch.
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
    """Fresh room for the plays of one roll; each thread needs its own."""
    return Plays(*(np.zeros(MAX_PLAYS, np.int64) for _ in Plays._fields))


@kernel
def count_at(low: int, high: int, point: int) -> int:
    """How many of the mover's checkers stand on `point` (0…25)."""
    if point < 16:
        return (low >> (point * 4)) & 15
    return (high >> (point * 4 - 64)) & 15


@kernel
def pack(board: NDArray[np.int8]) -> tuple[int, int]:
    """The two words of the mover, row 0 of int8[2, 26]."""
    low = 0
    high = 0
    for point in range(16):
        low |= np.int64(board[0, point]) << (point * 4)
    for point in range(16, 26):
        high |= np.int64(board[0, point]) << (point * 4 - 64)
    return low, high


@kernel
def moved(low: int, high: int, source: int, target: int) -> tuple[int, int]:
    """The mover's words after one checker went from `source` to `target`."""
    if source < 16:
        low -= 1 << (source * 4)
    else:
        high -= 1 << (source * 4 - 64)
    if target < 16:
        low += 1 << (target * 4)
    else:
        high += 1 << (target * 4 - 64)
    return low, high


@kernel
def _sources(occupied: int, open_: int, die: int, head_left: int, last_head: bool, rules: Rules) -> int:
    """The points from which a checker may move `die`, as far as landing, head and bear-off rules go."""
    if (occupied >> _BAR) & 1:
        return ((open_ >> (_BAR - die)) & 1) << _BAR
    sources = occupied & (open_ << die) & _POINTS
    if head_left <= 0:
        sources &= ~(1 << _HEAD)
    all_home = (occupied & ~_HOME) == 0
    if rules.exact_bearoff == 2 or (rules.exact_bearoff == 1 and all_home):
        sources &= ~_HOME
    if all_home:
        if (occupied >> die) & 1:
            sources |= 1 << die
        elif rules.exact_bearoff == 0:
            higher = occupied >> (die + 1) << (die + 1)
            if higher == 0:
                if occupied:
                    sources |= 1 << highest_bit(occupied)
            elif rules.from_higher:
                sources |= higher
    if last_head and sources & ~(1 << _HEAD):
        sources &= ~(1 << _HEAD)
    return sources


@kernel
def _opponent_view(points: int, contrary: int) -> int:
    """A set of the mover's points (bits 1…24) in the opponent's numbering, point 1 in bit 0."""
    bits = (points & _POINTS) >> 1
    if contrary == 0:
        return ((bits >> 12) | (bits << 12)) & 0xFFFFFF
    turned = 0
    for point in range(24):
        turned |= ((bits >> point) & 1) << (23 - point)
    return turned


@kernel
def illegal_prime(occupied: int, front: int, rules: Rules) -> bool:
    """Whether the mover's block is forbidden (rules 3.4); `front`: the opponent's foremost point, 0 if one is off."""
    if rules.prime == 0:
        return False
    bits = _opponent_view(occupied, rules.contrary)
    runs = bits & (bits >> 1)
    runs &= runs >> 2
    runs &= (bits >> 4) & (bits >> 5)
    if runs:
        if rules.prime == _FORBID:
            return True
        if rules.prime == _AHEAD and front > lowest_bit(runs):
            return True
        if rules.prime == _IN_HOME and front > 6:
            return True
    if rules.prime_closed_edge and front > 0:
        ring = (bits | (bits << 24)) >> 19  # bit 0: his point 20; runs that start on 20…24 pass over his edge
        around = ring & (ring >> 1)
        around &= around >> 2
        around &= (ring >> 4) & (ring >> 5)
        return (around & 31) != 0
    return False


@kernel
def _contains(out: Plays, size: int, low: int, high: int) -> bool:
    found = 0
    for index in range(size):
        found |= (out.low[index] == low) & (out.high[index] == high)
    return found != 0


@kernel
def _put(out: Plays, size: int, low: int, high: int, moves: int) -> None:
    out.low[size] = low
    out.high[size] = high
    out.moves[size] = moves


@kernel
def _step(low: int, high: int, occupied: int, source: int, die: int, blots: int) -> tuple[int, int, int, int]:
    """One checker moves `die` from `source`: the new words and occupancy, and the move in 16 bits."""
    target = max(source - die, 0)
    low, high = moved(low, high, source, target)
    if count_at(low, high, source) == 0:
        occupied &= ~(1 << source)
    if target > 0:
        occupied |= 1 << target
    move = source | (target << 5)
    if (blots >> target) & 1 and ((high >> (target + _HIT_SHIFT)) & 1) == 0:
        high |= 1 << (target + _HIT_SHIFT)
        move |= _HIT_FLAG
    return low, high, occupied, move


@kernel
def _two_dice(
    low: int,
    high: int,
    occupied: int,
    open_: int,
    blots: int,
    front: int,
    larger: int,
    smaller: int,
    head_budget: int,
    rules: Rules,
    out: Plays,
) -> tuple[int, int, int]:
    """Plays of two different dice: (number, moves each, die left over or 0)."""
    size = 0
    best = 0
    left_over = 0
    head_start = count_at(low, high, _HEAD)
    for order in range(2):
        first, second = (larger, smaller) if order == 0 else (smaller, larger)
        firsts = _sources(occupied, open_, first, head_budget, False, rules)
        while firsts:
            source = highest_bit(firsts)
            firsts ^= 1 << source
            low1, high1, occupied1, move1 = _step(low, high, occupied, source, first, blots)
            legal = not illegal_prime(occupied1, front, rules)
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
            head_left = head_budget - head_start + count_at(low1, high1, _HEAD)
            last_head = rules.last_resort and head_budget > rules.head and head_left < head_budget
            seconds = _sources(occupied1, open_, second, head_left, last_head, rules)
            while seconds:
                source = highest_bit(seconds)
                seconds ^= 1 << source
                low2, high2, occupied2, move2 = _step(low1, high1, occupied1, source, second, blots)
                if illegal_prime(occupied2, front, rules):
                    continue
                if best < 2:
                    best = 2
                    left_over = 0
                    size = 0
                if not _contains(out, size, low2, high2):
                    _put(out, size, low2, high2, move1 | (move2 << _MOVE_BITS))
                    size += 1
    return size, best, left_over


@kernel
def _equal_dice(
    low: int,
    high: int,
    occupied: int,
    open_: int,
    blots: int,
    front: int,
    die: int,
    number: int,
    head_budget: int,
    rules: Rules,
    out: Plays,
) -> tuple[int, int, bool]:
    """Plays of `number` equal dice, checkers moved from the rear forwards: (number, moves each, prime met).

    With equal dice a play is a multiset of source points, and moving from the rear is legal whenever any order is,
    unless the prime rule intervenes on the way (`prime met`) or `rules.any_order` holds. Each play comes once.
    """
    size = 0
    best = 0
    prime_met = False
    head_start = count_at(low, high, _HEAD)
    depth = 0
    moves = 0
    # One frame a move: the state before it and the sources not tried yet.
    lows, highs, occupieds, sources = out.low_a, out.high_a, out.moves_a, out.low_b
    lows[0], highs[0], occupieds[0] = low, high, occupied
    sources[0] = _sources(occupied, open_, die, head_budget, False, rules)
    while depth >= 0:
        if sources[depth] == 0:
            depth -= 1
            continue
        source = highest_bit(sources[depth])
        sources[depth] ^= 1 << source
        low, high, occupied, move = _step(lows[depth], highs[depth], occupieds[depth], source, die, blots)
        moves = (moves & ((1 << (_MOVE_BITS * depth)) - 1)) | (move << (_MOVE_BITS * depth))
        legal = not illegal_prime(occupied, front, rules)
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
            head_left = head_budget - head_start + count_at(low, high, _HEAD)
            rearmost = (2 << source) - 1
            sources[depth] = _sources(occupied, open_, die, head_left, False, rules) & rearmost
    return size, best, prime_met


@kernel
def _equal_dice_any_order(
    low: int,
    high: int,
    occupied: int,
    open_: int,
    blots: int,
    front: int,
    die: int,
    number: int,
    head_budget: int,
    rules: Rules,
    out: Plays,
) -> tuple[int, int]:
    """Plays of `number` equal dice where order matters: all positions after one move, after two, …"""
    size = 0
    best = 0
    head_start = count_at(low, high, _HEAD)
    now, after = 1, 0
    out.low_a[0], out.high_a[0], out.moves_a[0] = low, high, 0
    for played in range(1, number + 1):
        after = 0
        for index in range(now):
            low, high = out.low_a[index], out.high_a[index]
            occupied = occupancy(low, high)
            head_left = head_budget - head_start + count_at(low, high, _HEAD)
            last_head = rules.last_resort and head_budget > rules.head and head_left < head_budget
            sources = _sources(occupied, open_, die, head_left, last_head, rules)
            while sources:
                source = highest_bit(sources)
                sources ^= 1 << source
                low1, high1, occupied1, move = _step(low, high, occupied, source, die, blots)
                if not rules.prime_turn_end and illegal_prime(occupied1, front, rules):
                    continue
                known = 0
                for other in range(after):
                    known |= (out.low_b[other] == low1) & (out.high_b[other] == high1)
                if known == 0:
                    out.low_b[after], out.high_b[after] = low1, high1
                    out.moves_b[after] = out.moves_a[index] | (move << (_MOVE_BITS * (played - 1)))
                    after += 1
        now = after
        for index in range(now):
            low, high = out.low_b[index], out.high_b[index]
            out.low_a[index], out.high_a[index], out.moves_a[index] = low, high, out.moves_b[index]
            if rules.prime_turn_end and illegal_prime(occupancy(low, high), front, rules):
                continue
            if played > best:
                best = played
                size = 0
            _put(out, size, low, high, out.moves_b[index])
            size += 1
    return size, best


@kernel
def occupancy(low: int, high: int) -> int:
    """The mover's points 1…25 that hold a checker, as a mask."""
    occupied = 0
    for point in range(1, 26):
        occupied |= (count_at(low, high, point) != 0) << point
    return occupied


@kernel
def mirror(point: int, contrary: int) -> int:
    """The other player's number for the mover's point 1…24 (rules 1)."""
    if contrary:
        return 25 - point
    return point + 12 if point <= 12 else point - 12


@kernel
def segment(
    board: NDArray[np.int8], first: int, second: int, number: int, head_budget: int, rules: Rules, out: Plays
) -> tuple[int, int, int]:
    """Fill `out` with the distinct plays of one segment of dice: (plays, moves in each, die left over).

    board: int8[2, 26], row 0 the mover. Dice: `number` times `first` if `second` is 0, else one each. `head_budget`:
    how many checkers may leave 24. The die left over is 0 unless exactly one of two different dice was played. Where
    nothing can be moved the play without moves is the only one.
    """
    low, high = pack(board)
    occupied = occupancy(low, high)
    open_ = _POINTS
    blots = 0
    front = 0
    for point in range(24, 0, -1):
        count = board[1, point]
        if count == 0:
            continue
        front = point
        here = 1 << mirror(point, rules.contrary)
        if rules.hit and count == 1:
            blots |= here
        else:
            open_ ^= here
    if board[1, 0]:
        front = 0
    elif front == 0:
        front = _BAR
    left_over = 0
    if second:
        larger, smaller = max(first, second), min(first, second)
        size, best, left_over = _two_dice(
            low, high, occupied, open_, blots, front, larger, smaller, head_budget, rules, out
        )
    else:
        order_matters = rules.any_order != 0 or (rules.last_resort != 0 and head_budget > rules.head)
        if not order_matters:
            size, best, order_matters = _equal_dice(
                low, high, occupied, open_, blots, front, first, number, head_budget, rules, out
            )
        if order_matters:
            size, best = _equal_dice_any_order(
                low, high, occupied, open_, blots, front, first, number, head_budget, rules, out
            )
    if size == 0:
        _put(out, 0, low, high, 0)
        size = 1
    return size, best, left_over


@kernel
def _exception_listed(first: int, second: int, number: int, turn: int, rules: Rules) -> bool:
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
        if rule == _SEED_LIST and turn == SECOND:
            return (double and first == 5) or (max(first, second) == 6 and min(first, second) == 2)
    return False


@kernel
def generate(
    board: NDArray[np.int8], first: int, second: int, turn: int, rules: Rules, out: Plays
) -> tuple[int, int, int]:
    """Fill `out` with the distinct plays of a roll: (plays, moves in each, die left over). See `segment`.

    `turn`: LATER, STARTER or SECOND, for the exception of the head rule on a player's first own turn.
    """
    double = first == second
    number = rules.doubles_moves if double else 2
    other = 0 if double else second
    if rules.head == 0:
        return segment(board, first, other, number, rules.checkers, rules, out)
    budget = rules.head
    if turn != LATER and _exception_listed(first, second, number, turn, rules):
        # "Blocked" and the seeds' list: a second checker only if one cannot play the whole roll.
        if rules.head_exception in (_BLOCKED, _SEED_LIST):
            size, best, left_over = segment(board, first, other, number, budget, rules, out)
            if best == number or board[0, _HEAD] <= budget:
                return size, best, left_over
        budget += 1
    return segment(board, first, other, number, budget, rules, out)


@kernel
def unpack(low: int, high: int, before: NDArray[np.int8], rules: Rules, after: NDArray[np.int8]) -> None:
    """Write the afterstate (`low`, `high`) of `before` into `after`, int8[2, 26], mover still row 0."""
    for point in range(26):
        after[0, point] = count_at(low, high, point)
        after[1, point] = before[1, point]
    hits = (high >> (_HIT_SHIFT + 1)) & 0xFFFFFF
    while hits:
        point = lowest_bit(hits) + 1
        hits &= hits - 1
        after[1, mirror(point, rules.contrary)] -= 1
        after[1, _BAR] += 1
