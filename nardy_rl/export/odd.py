"""Positions that games seldom come to, and in which whoever ports the rules goes wrong: one maker for each kind.

Each gives both sides as counts of 26 points, the player who acts first, or None where his board has no room for it.
They need not be reachable; every rule sheet says what may be played in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from nardy_rl.rules.dice import below, stream
from nardy_rl.rules.position import BAR, HEAD, OFF, POINTS
from nardy_rl.rules.variant import Variant

Sides: TypeAlias = tuple[list[int], list[int]]
_Item = TypeVar("_Item")


class Chance:
    """Random choices from one of the streams of `rules.dice`: the same on every machine."""

    def __init__(self, seed: int) -> None:
        self._key, self._counter = stream(seed, 0), 0

    def below(self, number: int) -> int:
        """From 0 to `number` - 1."""
        self._counter += 1
        return below(self._key, self._counter - 1, number)

    def between(self, low: int, high: int) -> int:
        """From `low` to `high`, both included."""
        return low + self.below(high - low + 1)

    def one_in(self, number: int) -> bool:
        """True once in so many times."""
        return self.below(number) == 0

    def choice(self, items: Sequence[_Item]) -> _Item:
        """One of them."""
        return items[self.below(len(items))]

    def some(self, items: Sequence[_Item], number: int) -> list[_Item]:
        """So many different ones of them, or all if they are fewer."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(min(number, len(left)))]

    def dice(self) -> tuple[int, int]:
        """A roll; doubles, which are longer and in which more can go wrong, come twice as often as in play."""
        first, second = self.between(1, 6), self.between(1, 6)
        return (first, first) if self.one_in(6) else (first, second)


Maker: TypeAlias = Callable[[Variant, Chance], Sides]


def makers(variant: Variant) -> dict[str, Maker]:
    """The kinds of odd positions that the variant has."""
    kinds: dict[str, Maker] = {"scattered": _scattered, "home": _home, "ending": _ending, "block": _block}
    if variant.hit:
        kinds["bar"] = _bar
    if variant.head:
        kinds["head"] = _head
    return kinds


def _side(variant: Variant, chance: Chance, points: Sequence[int], once: Sequence[int] = ()) -> list[int]:
    """One side, at random on `points`, a checker on each of `once` first, and never with all of them off."""
    row = [0] * POINTS
    for number in range(variant.checkers):
        row[once[number] if number < len(once) else chance.choice(points)] += 1
    if row[OFF] == variant.checkers:
        row[OFF], row[1] = variant.checkers - 1, 1
    return row


def _other(variant: Variant, chance: Chance, own: list[int], points: Sequence[int], extra: Sequence[int]) -> list[int]:
    """The other side on those of `points` that are free, in his own numbering, and on `extra`."""
    free = [point for point in points if own[variant.mirror(point)] == 0]
    return _side(variant, chance, [*free, *extra] or [OFF])


def _scattered(variant: Variant, chance: Chance) -> Sides:
    beyond = [OFF, BAR] if variant.hit else [OFF]
    own = _side(variant, chance, chance.some(range(1, 25), chance.between(1, 9)) + beyond * chance.one_in(3))
    points = chance.some(range(1, 25), chance.between(2, 12))
    return _free_of(variant, own, _other(variant, chance, own, points, beyond * chance.one_in(3)))


def _home(variant: Variant, chance: Chance) -> Sides:
    """Bearing off, perhaps with a straggler, while the other is anywhere."""
    points = chance.some(range(1, 7), chance.between(1, 5)) + [OFF] * chance.below(6)
    own = _side(variant, chance, points + [chance.between(7, 12)] * chance.one_in(4))
    points = chance.some(range(1, 25), chance.between(2, 9))
    return _free_of(variant, own, _other(variant, chance, own, points, [OFF] * chance.one_in(3)))


def _ending(variant: Variant, chance: Chance) -> Sides:
    """A game that the next roll may end, of every worth."""
    last = [chance.between(1, 6) for _ in range(min(chance.between(1, 4), variant.checkers))]
    own = _side(variant, chance, [OFF], once=last)
    points = [range(1, 7), range(1, 25), range(13, 25)][chance.below(3)]
    return _free_of(variant, own, _other(variant, chance, own, points, [OFF] * chance.below(3)))


def _block(variant: Variant, chance: Chance) -> Sides:
    """Five or six of seven points in a row of the other's path, over his edge too, and checkers to fill gaps with."""
    first = chance.below(24)
    row = [variant.mirror((first + ahead) % 24 + 1) for ahead in range(7)]
    spare = chance.some(range(1, 25), 5) + [HEAD] * chance.below(4)
    own = _side(variant, chance, row + spare, once=chance.some(row, chance.between(5, 6)))
    points = chance.some(range(1, 25), chance.between(2, 8))
    other = _other(variant, chance, own, points, [OFF] * chance.one_in(6))
    return _free_of(variant, own, other)


def _bar(variant: Variant, chance: Chance) -> Sides:
    """Checkers on the bar, and sometimes no way in."""
    own = _side(variant, chance, [BAR] * chance.between(1, 3) + chance.some(range(1, 19), chance.between(1, 6)))
    home = list(range(1, 7)) if chance.one_in(3) else chance.some(range(1, 7), chance.between(2, 5))
    held = [point for point in home for _ in range(2)] + [chance.between(1, 6) for _ in range(3)]
    other = _side(variant, chance, chance.some(range(1, 25), 4), once=held)
    return _free_of(variant, own, other)


def _head(variant: Variant, chance: Chance) -> Sides:
    """Most checkers on the head, and many closed points before it."""
    own = _side(variant, chance, [HEAD] * 12 + chance.some(range(7, 24), chance.between(1, 3)), once=[HEAD] * 3)
    points = chance.some(range(1, 25), chance.between(3, 12))
    return _free_of(variant, own, _other(variant, chance, own, points, []))


def _free_of(variant: Variant, own: list[int], other: list[int]) -> Sides:
    """The sides, the other's checkers moved on from points that both would stand on."""
    for point in range(24, 0, -1):
        if other[point] and own[variant.mirror(point)]:
            other[point - 1] += other[point]
            other[point] = 0
    if other[OFF] == variant.checkers:
        free = [point for point in range(1, 25) if own[variant.mirror(point)] == 0]
        other[OFF], other[free[0]] = variant.checkers - 1, 1
    return own, other
