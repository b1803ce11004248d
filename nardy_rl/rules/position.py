"""A position: where the checkers of both players stand, each in his owner's own numbering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.variant import Variant

OFF, HEAD, BAR, POINTS = 0, 24, 25, 26
_NAMES: dict[str, int] = {"off": OFF, "bar": BAR}


class Position:
    """An immutable position. Row 0 is the player on roll (or the mover), row 1 the other.

    `array` is int8[2, 26], read-only; column 0 counts the checkers borne off, 1…24 the points of the owner's path
    (24 farthest, 6…1 home), 25 the bar.
    """

    __slots__ = ("array",)

    array: NDArray[np.int8]

    def __init__(self, array: Any) -> None:
        rows = np.array(array)
        if rows.shape != (2, POINTS) or not np.issubdtype(rows.dtype, np.integer):
            raise ValueError(f"a position is a whole-number array of shape (2, 26), not {rows.dtype}{rows.shape}")
        if (rows < 0).any() or (rows > 15).any():
            raise ValueError("a point holds 0 to 15 checkers")
        frozen = rows.astype(np.int8)
        frozen.setflags(write=False)
        object.__setattr__(self, "array", frozen)

    def __reduce__(self) -> tuple[type[Position], tuple[NDArray[np.int8]]]:
        return Position, (self.array,)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Position cannot be changed")

    @classmethod
    def start(cls, variant: Variant) -> Position:
        """The position in which a game of `variant` begins."""
        return cls.from_points(variant.start_points, variant.start_points, checkers=variant.checkers)

    @classmethod
    def from_points(cls, own: Mapping[Any, int], opp: Mapping[Any, int], *, checkers: int = 15) -> Position:
        """A position from point -> count, each side in its own numbering: 1–24, "bar", "off" (else inferred).

        Raises ValueError when a side's checkers do not add up to `checkers`.
        """
        return cls(np.stack([_row(own, "own", checkers), _row(opp, "opp", checkers)]))

    def board(self) -> NDArray[np.int8]:
        """A copy of `array` that may be written: what the compiled kernels take."""
        return self.array.copy()

    def swapped(self) -> Position:
        """The same position with the other player in row 0."""
        return Position(self.array[::-1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and bool((self.array == other.array).all())

    def __hash__(self) -> int:
        return hash(self.array.tobytes())

    def __repr__(self) -> str:
        own, opp = (_points(row) for row in self.array)
        return f"Position.from_points({own}, {opp})"


def check_position(variant: Variant, position: Position) -> None:
    """Raise ValueError if `position` cannot stand on the board of `variant`."""
    for name, row in zip(("own", "opp"), position.array, strict=True):
        if row.sum() != variant.checkers:
            raise ValueError(f"{name} has {row.sum()} checkers, variant {variant.name} has {variant.checkers}")
        if row[BAR] and not variant.hit:
            raise ValueError(f"{name} has a checker on the bar, but nobody is hit in variant {variant.name}")
    own, opp = position.array
    for point in range(1, 25):
        if own[point] and opp[variant.mirror(point)]:
            raise ValueError(f"both sides stand on own point {point} (the opponent's {variant.mirror(point)})")


def _row(points: Mapping[Any, int], side: str, checkers: int) -> list[int]:
    row = [0] * POINTS
    for key, count in points.items():
        point = _NAMES.get(key, -1) if isinstance(key, str) else key
        whole = isinstance(point, (int, np.integer)) and not isinstance(point, bool)
        if not whole or point < 0 or not (isinstance(key, str) or 1 <= point <= 24):
            raise ValueError(f'{side}: {key!r} is no point; use 1 to 24, "bar" or "off"')
        if not isinstance(count, (int, np.integer)) or count < 0:
            raise ValueError(f"{side}: {count!r} is no number of checkers (point {key})")
        row[point] = int(count)
    total = sum(row)
    if total > checkers or ("off" in points and total != checkers):
        raise ValueError(f"{side} has {total} checkers instead of {checkers}")
    row[OFF] += checkers - total
    return row


def _points(row: NDArray[np.int8]) -> dict[int | str, int]:
    names = {OFF: "off", BAR: "bar"}
    return {names.get(point, point): int(row[point]) for point in range(POINTS - 1, -1, -1) if row[point]}
