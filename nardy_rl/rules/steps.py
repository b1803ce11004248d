"""Which single steps are legal: landing, head, bear-off and block, each judged at that moment (rules 2–4).

Sets of points are bit masks, bit p for the mover's point p, so that "which checkers may move a 5" is one shift.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import highest_bit, inlined, kernel, lowest_bit
from nardy_rl.rules.compact import PRIME_RULES, Rules
from nardy_rl.rules.words import count_at, hit_points, mirror, moved, with_hit

HIT_FLAG = 1 << 10
_HEAD, _BAR = 24, 25
_POINTS = 0x1FFFFFE  # points 1…24
_HOME = 0x7E  # points 1…6
_OFF_SHIFT = 32  # a source p + 32: the checker on p is borne off though it stands higher than the die (A14)
_AHEAD, _IN_HOME, _FORBID = (PRIME_RULES.index(name) for name in ("ahead", "home", "forbid"))


class Turn(NamedTuple):
    """What stays the same while one segment of dice is played."""

    open: int  # points where the mover may land
    blots: int  # points where he would hit
    enemies: int  # the opponent's points in the opponent's numbering; bit 0: he has one off; bit 25 always set
    head_budget: int  # checkers that may leave 24
    head_count: int  # checkers on 24 at the start
    patient: bool  # the last checker off the head has to wait until nothing else can move (A5)


@kernel
def new_turn(board: NDArray[np.int8], head_budget: int, patient: bool, rules: Rules) -> Turn:
    """The turn of row 0 of int8[2, 26]."""
    open_points = _POINTS
    blots = 0
    heads = 0
    heads += int(board[0, _HEAD])  # an int64 by this: of an int8, Numba's int() is an int8
    enemies = (1 << _BAR) | (board[1, 0] != 0)
    for point in range(1, 25):
        count = board[1, point]
        if count:
            enemies |= 1 << point
            here = 1 << mirror(point, rules.contrary)
            if rules.hit and count == 1:
                blots |= here
            else:
                open_points ^= here
    return Turn(open_points, blots, enemies, head_budget, heads, patient)


@inlined
def sources(low: int, high: int, occupied: int, die: int, turn: Turn, rules: Rules) -> int:
    """The points from which a checker may move `die`, as far as landing, head and bear-off rules go."""
    if (occupied >> _BAR) & 1:
        return ((turn.open >> (_BAR - die)) & 1) << _BAR
    found = occupied & (turn.open << die) & _POINTS
    left = turn.head_budget - turn.head_count + count_at(low, high, _HEAD)
    if left <= 0:
        found &= ~(1 << _HEAD)
    all_home = (occupied & ~_HOME) == 0
    if rules.exact_bearoff == 2 or (rules.exact_bearoff == 1 and all_home):
        found &= ~_HOME
    if all_home:
        if (occupied >> die) & 1:
            found |= 1 << die
        elif rules.exact_bearoff == 0 and occupied:
            higher = occupied >> (die + 1) << (die + 1)
            if higher == 0:
                found |= 1 << highest_bit(occupied)
            elif rules.from_higher:
                found |= higher << _OFF_SHIFT
    if turn.patient and left <= 1:
        return _without_last_head(low, high, occupied, found, die, turn, rules)
    return found


@kernel
def _without_last_head(low: int, high: int, occupied: int, found: int, die: int, turn: Turn, rules: Rules) -> int:
    """`found` without the head, if another of these sources makes a legal step."""
    others = found & ~(1 << _HEAD)
    untried = others
    while untried:
        source = highest_bit(untried)
        untried ^= 1 << source
        _, high_after, occupied_after, _ = step(low, high, occupied, source, die, turn)
        if rules.prime_turn_end or not illegal_prime(occupied_after, turn.enemies, high_after, rules):
            return others
    return found


@inlined
def step(low: int, high: int, occupied: int, source: int, die: int, turn: Turn) -> tuple[int, int, int, int]:
    """One checker moves `die` from `source`: the new words and occupancy, and the move, from | to << 5 | hit << 10."""
    target = max(source - die, 0)
    if source >= _OFF_SHIFT:
        source, target = source - _OFF_SHIFT, 0
    low, high = moved(low, high, source, target)
    if count_at(low, high, source) == 0:
        occupied &= ~(1 << source)
    if target > 0:
        occupied |= 1 << target
    move = source | (target << 5)
    if ((turn.blots & ~hit_points(high)) >> target) & 1:
        high = with_hit(high, target)
        move |= HIT_FLAG
    return low, high, occupied, move


@inlined
def illegal_prime(occupied: int, enemies: int, high: int, rules: Rules) -> bool:
    """Whether the mover's block is forbidden (rules 3.4). enemies: as in `Turn`; high: its hits are taken off them."""
    if rules.prime == 0:
        return False
    bits = _opponent_view(occupied, rules.contrary)
    runs = bits & (bits >> 1)
    runs &= runs >> 2
    runs &= (bits >> 4) & (bits >> 5)
    if runs == 0 and rules.prime_closed_edge == 0:
        return False
    enemies &= ~(_opponent_view(hit_points(high), rules.contrary) << 1)
    front = lowest_bit(enemies)
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


@inlined
def _opponent_view(points: int, contrary: int) -> int:
    """A set of the mover's points (bits 1…24) in the opponent's numbering, his point 1 in bit 0."""
    bits = (points & _POINTS) >> 1
    if contrary == 0:
        return ((bits >> 12) | (bits << 12)) & 0xFFFFFF
    turned = 0
    for point in range(24):
        turned |= ((bits >> point) & 1) << (23 - point)
    return turned
