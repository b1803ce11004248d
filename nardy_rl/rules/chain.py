"""Chains of doubles in which the most moves of all values together must be played (rules 7.2, A23 `chain`).

Where an unfinished value ends the chain, what remains of it is one row of dice, all of a value before the next, and its
length is the number of moves up to the first die that cannot be played. So a play is right if it finishes its value,
where that can be, and the longest row that can follow it is as long as after any other play. A row that bears off the
last checker counts as one of all dice: it wins, and leaves nothing to be played (2.9, 7.6). No other row plays more of
the value with which it wins, since there each move brings one checker one move nearer to being off; with A14, where
that does not hold, and with `chain_break: skip`, where there is no such row, a variant cannot have this scope.

The search is depth first, move by move. It leaves a branch that cannot beat what was found, by an upper bound or
because its position is on record. It is exact, and where it takes too long it ends with an error, never an answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import highest_bit, inlined, kernel
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.kernel import MAX_PLAYS, RECORDS, Plays
from nardy_rl.rules.steps import Turn, illegal_prime, new_turn, sources, step
from nardy_rl.rules.words import count_at, occupancy

_PATIENCE = 1 << 26  # moves tried, a few seconds
_HEAD = 24
_BITS = 6  # of a number of moves: at most four for each of 15 checkers
_PIPS = 7 * _BITS  # the pips of a supply stand from this bit on


class _Chain(NamedTuple):
    """What stays the same while the rest of a chain is looked at."""

    turn: Turn  # of the value that is being played
    first: int  # the value after it
    number: int  # moves of each value
    head_anew: bool  # each value has a head budget of its own


@kernel
def keep_longest(
    board: NDArray[np.int8], value: int, number: int, head_budget: int, patient: bool, head_anew: bool, rules: Rules,
    size: int, out: Plays,
) -> int:  # fmt: skip
    """Of the first `size` plays in `out`, all `number` times `value`, keep those with the longest row to follow.

    Returns how many these are. Raises ValueError if that takes too long to find out.
    """
    turn = new_turn(board, head_budget, patient and not head_anew, rules)
    chain = _Chain(turn, value + 1, number, head_anew)
    _fill_supply(chain, rules, out.moves_b)
    for slot in range(MAX_PLAYS, MAX_PLAYS + RECORDS):
        out.moves_a[slot] = 0
    full = number * (6 - value)
    order_matters = rules.any_order != 0 or turn.patient
    prime_met = False
    most, kept, tried = 0, 0, 0
    for index in range(size):
        low, high, moves = out.low[index], out.high[index], out.moves[index]
        length, met, tried = _longest(low, high, chain, most - 1, full, order_matters, rules, out, tried)
        prime_met = prime_met or met  # also in earlier searches: this one believes what they put on record
        if prime_met and length < full and not order_matters:
            order_matters = True
            length, _, tried = _longest(low, high, chain, length, full, True, rules, out, tried)
        if length > most:
            most, kept = length, 0
        if length == most:
            out.low[kept], out.high[kept], out.moves[kept] = low, high, moves
            kept += 1
    return kept


@kernel
def _longest(
    low: int, high: int, chain: _Chain, length: int, enough: int, order_matters: bool, rules: Rules, out: Plays,
    tried: int,
) -> tuple[int, bool, int]:  # fmt: skip
    """The longest row from here, or `length` if none is longer: (it, prime met, moves tried).

    The search ends with a row of `enough`, all dice. Unless `order_matters`, the checkers of one value are moved from
    the rear forwards, as in `kernel`.
    """
    turn, first, number = chain.turn, chain.first, chain.number
    prime_met = False
    depth = 0
    arriving = True
    # One frame a move: the state after so many, the sources not tried yet, and the source of the move that led here.
    lows, highs, occupieds, untried, origins = out.low_a, out.high_a, out.moves_a, out.low_b, out.high_b
    lows[0], highs[0], occupieds[0] = low, high, occupancy(low, high)
    while depth >= 0:
        low, high, occupied = lows[depth], highs[depth], occupieds[depth]
        value, played = first + depth // number, depth % number
        on_record = played == 0 or order_matters
        # A budget for each value makes the future depend on how many of this value have left the head.
        heads = count_at(lows[depth - played], highs[depth - played], _HEAD) if chain.head_anew else 0
        if arriving:
            arriving = False
            tried += 1
            if tried > _PATIENCE:
                raise ValueError(
                    "option chain_max_scope (rule A23) asks for the longest chain of doubles, which takes too long to"
                    " find here: use group; got 'chain'"
                )
            if occupied == 0:
                return enough, prime_met, tried
            legal = rules.prime_turn_end == 0 or not illegal_prime(occupied, turn.enemies, high, rules)
            if legal and depth > length:
                length = depth
                if length >= enough:
                    return length, prime_met, tried
            if (
                (played == 0 and not legal)
                or depth + _at_most(low, high, occupied, value, played, chain, rules, out.moves_b) <= length
                or (on_record and _bound(low, high, depth, heads, order_matters, out) <= length)
            ):
                depth -= 1
                continue
            if chain.head_anew:
                turn = Turn(turn.open, turn.blots, turn.enemies, rules.head, heads, False)
            untried[depth] = sources(low, high, occupied, value, turn, rules)
            if played and not order_matters:
                untried[depth] &= (2 << origins[depth]) - 1
        if untried[depth] == 0:
            if on_record:
                _record(low, high, depth, heads, order_matters, length, out)
            depth -= 1
            continue
        source = highest_bit(untried[depth])
        untried[depth] ^= 1 << source
        low, high, occupied, _ = step(low, high, occupied, source, value, turn)
        if illegal_prime(occupied, turn.enemies, high, rules):
            prime_met = True
            if rules.prime_turn_end == 0:
                continue
        depth += 1
        lows[depth], highs[depth], occupieds[depth], origins[depth] = low, high, occupied, source
        arriving = True
    return length, prime_met, tried


@kernel
def _at_most(
    low: int, high: int, occupied: int, value: int, played: int, chain: _Chain, rules: Rules, supply: NDArray[np.int64]
) -> int:
    """No row from here is longer, `played` moves of this value being made: as if no checker was in another's way."""
    heads = count_at(low, high, _HEAD)
    budget = rules.head * (7 - value) if chain.head_anew else chain.turn.head_budget - chain.turn.head_count + heads
    leaving = min(heads, budget)
    # Nothing is ever borne off if a checker cannot come home.
    bears_off = int(leaving == heads and occupied & ~supply[_entry(0, value, 0)] == 0)
    total = leaving * supply[_entry(bears_off, value, _HEAD)]
    checkers, way = heads, heads * _HEAD
    others = occupied & ~(1 << _HEAD)
    while others:
        point = highest_bit(others)
        others ^= 1 << point
        count = count_at(low, high, point)
        total += count * supply[_entry(bears_off, value, point)]
        checkers += count
        way += count * point
    dice = chain.number * (7 - value) - played
    dice_pips = chain.number * (42 - value * (value - 1)) // 2 - played * value
    if bears_off and checkers <= dice and way <= dice_pips:
        return dice  # it might win
    pips = total >> _PIPS
    moves = 0
    needed = chain.number - played
    while value < 7:
        there = min((total >> (_BITS * value)) & ((1 << _BITS) - 1), pips // value)
        if there < needed:
            return moves + there
        moves += needed
        pips -= needed * value
        needed = chain.number
        value += 1
    return moves


@kernel
def _fill_supply(chain: _Chain, rules: Rules, supply: NDArray[np.int64]) -> None:
    """Write what a checker on each point can contribute to the rest of a chain if it has the board to itself.

    For each value from which the rest is to be played: its most moves of every value v, from bit 6v on, and the most
    pips that these have together; without bearing off, and with it. Entry 0 without it is the set of points from which
    a checker can come home.
    """
    for entry in range(_entry(2, 0, 0)):
        supply[entry] = 0
    for bears_off in range(2):
        for value in range(6, chain.first - 1, -1):
            home = 0
            for point in range(1, 26):
                found, moved, now = 0, 0, point
                while now >= 0:
                    later = supply[_entry(bears_off, value + 1, now)] if now else 0
                    own = (moved << (_BITS * value)) + ((moved * value) << _PIPS)
                    found = _larger_of_each(found, later + own)
                    home |= (now <= 6 or (supply[_entry(0, value + 1, 0)] >> now) & 1) << point
                    moved += 1
                    now = _target(now, value, bears_off, chain.turn.open, rules) if moved <= chain.number else -1
                supply[_entry(bears_off, value, point)] = found
            if bears_off == 0:
                supply[_entry(0, value, 0)] = home


@inlined
def _entry(bears_off: int, value: int, point: int) -> int:
    return (bears_off * 8 + value) * 26 + point


@inlined
def _target(point: int, die: int, bears_off: int, open_points: int, rules: Rules) -> int:
    """Where a checker comes that has the board to itself, 0 borne off, or -1."""
    target = point - die
    if target > 0 and (open_points >> target) & 1 and (point > 6 or rules.exact_bearoff != 2):
        return target
    fits = target == 0 or (target < 0 and rules.exact_bearoff == 0)
    return 0 if bears_off and 0 < point <= 6 and fits else -1


@inlined
def _larger_of_each(supply: int, other: int) -> int:
    """The larger of either number of moves of every value, and of pips."""
    larger = max(supply >> _PIPS, other >> _PIPS) << _PIPS
    for value in range(1, 7):
        mask = ((1 << _BITS) - 1) << (_BITS * value)
        larger |= max(supply & mask, other & mask)
    return larger


@inlined
def _slot(low: int, high: int, depth: int) -> int:
    """Where a state is on record, if it is: behind what the generator uses of its scratch."""
    mixed = low * 0x9E3779B97F4A7C1 + high * 0x632BE59BD9B4E019 + depth * 0x12345678567
    mixed ^= mixed >> 29
    return MAX_PLAYS + (((mixed * 0x2545F4914F6CDD1D) >> 40) & (RECORDS - 1))


@inlined
def _kind(depth: int, heads: int, order_matters: bool) -> int:
    """What else than the position tells states apart; never 0."""
    return 1 | (order_matters << 1) | (depth << 2) | (heads << 7)


@inlined
def _record(low: int, high: int, depth: int, heads: int, order_matters: bool, length: int, out: Plays) -> None:
    """Keep, in place of what was there, that no row over this state is longer than `length`."""
    slot = _slot(low, high, depth)
    out.low_a[slot], out.high_a[slot] = low, high
    out.moves_a[slot] = (_kind(depth, heads, order_matters) << 8) | length


@inlined
def _bound(low: int, high: int, depth: int, heads: int, order_matters: bool, out: Plays) -> int:
    """The length that no row over this state passes, if it is on record."""
    slot = _slot(low, high, depth)
    known = out.moves_a[slot]
    if out.low_a[slot] == low and out.high_a[slot] == high and known >> 8 == _kind(depth, heads, order_matters):
        return known & 255
    return 255
