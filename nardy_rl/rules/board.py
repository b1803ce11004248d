"""The board as text, from the seat of row 0: X is row 0, O the other; the points bear row 0's own numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.position import BAR, OFF, Position, check_position
from nardy_rl.rules.variant import Variant

_HEIGHT = 5  # checkers of a stack that are drawn; a taller one tells its count
_CELL = 4
TOP, BOTTOM = tuple(range(13, 25)), tuple(range(12, 0, -1))
"""Row 0's points from left to right: his home lies at the right of the lower edge, for every variant."""


def pips(row: NDArray[np.int8]) -> int:
    """How many points a side, int8[26], has still to move."""
    return int(row @ np.arange(len(row)))


def check_drawn(dice: Sequence[int]) -> tuple[int, ...]:
    """Dice to draw, as plain ints. Raises ValueError unless they are one to four whole numbers from 1 to 6."""
    numbers = tuple(dice)
    if not 1 <= len(numbers) <= 4 or not all(isinstance(die, (int, np.integer)) and 1 <= die <= 6 for die in numbers):
        raise ValueError(f"dice to draw are one to four whole numbers from 1 to 6, not {dice!r}")
    return tuple(int(die) for die in numbers)


def draw_text(variant: Variant, position: Position, dice: Sequence[int] | None = None) -> str:
    """The board in lines of ASCII. Both move to lower numbers of their own; O's points are given as X numbers them.

    dice: one to four that X has to play. Raises ValueError for a position that cannot stand in `variant`, or other
    dice.
    """
    check_position(variant, position)
    lines = [
        _side_line("O", position.array[1]),
        _edge(TOP),
        *_half(variant, position, TOP),
        _middle(dice),
        *reversed(_half(variant, position, BOTTOM)),
        _edge(BOTTOM),
        _side_line("X", position.array[0]),
    ]
    return "\n".join(lines)


def _side_line(name: str, row: NDArray[np.int8]) -> str:
    return f" {name}: {pips(row)} pips, off {row[OFF]}, bar {row[BAR]}"


def _edge(points: tuple[int, ...]) -> str:
    left, right = ("".join(f"{point:^{_CELL}}" for point in half) for half in (points[:6], points[6:]))
    return f"+{left}+---+{right}+".replace(" ", "-")


def _middle(dice: Sequence[int] | None) -> str:
    text = "" if dice is None else f"X plays {'-'.join(map(str, check_drawn(dice)))}"
    return f"|{'':{6 * _CELL}}|BAR|{text:^{6 * _CELL}}|"


def _half(variant: Variant, position: Position, points: tuple[int, ...]) -> list[str]:
    """The lines of one edge's points, the line at the edge first."""
    own, opp = position.array
    # Each side's checkers on the bar lie on its own half of it: O above, X below.
    bar = _stack(int(opp[BAR]), "O") if points is TOP else _stack(int(own[BAR]), "X")
    stacks = []
    for point in points:
        other = int(opp[variant.mirror(point)])
        stacks.append(_stack(other, "O") if other else _stack(int(own[point]), "X"))
    lines = []
    for level in range(_HEIGHT + 1):
        left, right = ("".join(f"{stack[level]:^{_CELL}}" for stack in half) for half in (stacks[:6], stacks[6:]))
        lines.append(f"|{left}|{bar[level]:^3}|{right}|")
    return lines


def _stack(count: int, name: str) -> list[str]:
    """A stack from the edge inwards; its number stands on top where it is higher than the board draws."""
    tall = count > _HEIGHT
    shown = [name if level < count else "" for level in range(_HEIGHT)]
    return [*shown, str(count) if tall else ""]
