"""A side's points as masks: bit p for its own point p, 25 for the bar; checkers move towards bit 0."""

from __future__ import annotations

from typing import NamedTuple

from nardy_rl.compiled import inlined, reversed_bits
from nardy_rl.network.features import Sight

POINTS = 0x1FFFFFE  # points 1…24
BAR = 1 << 25

_EACH_LOW, _EACH_HIGH = 0x1111111111111111, 0x111111111  # the lowest bit of the counts of points 0…15 and of 16…24


class Side(NamedTuple):
    """A side's checkers."""

    there: int  # where it has any, the bar included
    held: int  # points that it closes to the other side: those with `Sight.least` checkers or more
    bar: int  # how many are on the bar


class Facing(NamedTuple):
    """The other side's points in the numbering of the side that faces them."""

    reachable: int  # those that the other side does not close
    blots: int  # those where it can be hit


@inlined
def side_of(low: int, high: int, sight: Sight) -> Side:
    """A side by its words."""
    bar = (high >> 36) & 15
    two_low, two_high = (low >> 1) | (low >> 2) | (low >> 3), (high >> 1) | (high >> 2) | (high >> 3)
    there = _together(low | two_low, high | two_high)
    held = there if sight.least == 1 else _together(two_low, two_high)
    return Side(there | BAR if bar else there, held, bar)


@inlined
def _together(low: int, high: int) -> int:
    """The lowest bits of a side's counts as a mask of points 1…24."""
    return (_sixteenth(low & _EACH_LOW) | (_sixteenth(high & _EACH_HIGH) << 16)) & POINTS


@inlined
def _sixteenth(spread: int) -> int:
    """One bit in four of 64 moved together."""
    pairs = (spread | (spread >> 3)) & 0x0303030303030303
    fours = (pairs | (pairs >> 6)) & 0x000F000F000F000F
    eights = (fours | (fours >> 12)) & 0x000000FF000000FF
    return (eights | (eights >> 24)) & 0xFFFF


@inlined
def with_move(there: int, held: int, source: int, target: int, left: int, came: int, sight: Sight) -> tuple[int, int]:
    """`Side.there` and `Side.held` after a move; left, came: how many checkers then stand where it began and ended."""
    begun, ended = 1 << source, (1 << target) & POINTS
    there |= ended
    if left == 0:
        there &= ~begun
    if left < sight.least:
        held &= ~begun
    if came >= sight.least:
        held |= ended
    return there, held


@inlined
def facing(other: Side, sight: Sight) -> Facing:
    """What a side has before it (rules 1)."""
    held, blots = other.held, other.there & ~other.held
    if sight.contrary:
        # Bit p becomes bit 63 - p: in the upper half p + 32 becomes 31 - p, in the lower one p becomes 63 - p.
        turned = reversed_bits((held << 32) | (blots & POINTS))
        return Facing(POINTS & ~(turned >> 6), POINTS & (turned >> 38))
    return Facing(POINTS & ~_half_round(held), POINTS & _half_round(blots))


@inlined
def _half_round(mask: int) -> int:
    """Points 1…24 of one side in the numbering of the other where both move in the same direction."""
    return ((mask & 0x1FFE) << 12) | ((mask >> 12) & 0x1FFE)


@inlined
def held_set(held: int, quarter: int) -> int:
    """The set of held points of a quarter, 0…3, as `features` numbers it."""
    return (held >> (6 * quarter + 1)) & 63
