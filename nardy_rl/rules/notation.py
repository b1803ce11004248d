"""Text forms, both ways: sides, positions, plays (rules 1), and the names of the rolls (rules 12)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.rules.plays import Move, Play, check_dice, legal_plays
from nardy_rl.rules.position import BAR, OFF, POINTS, Position, check_position
from nardy_rl.rules.variant import Variant

PASS = "pass"
"""How the play without moves is written."""

_NAMES = {BAR: "bar", OFF: "off"}
_NUMBERS = {name: point for point, name in _NAMES.items()} | {str(point): point for point in range(1, 25)}
_MOVE = re.compile(r"(?P<path>\w+\*?(?:/\w+\*?)+)(?:\((?P<times>\d)\))?")


def side_text(row: NDArray[np.int8]) -> str:
    """One side, int8[26], in its own numbering, rearmost first: `bar:1,24:14`; what is missing is off."""
    return ",".join(f"{_NAMES.get(point, point)}:{row[point]}" for point in range(BAR, OFF, -1) if row[point])


def parse_side(text: str, checkers: int = 15) -> dict[int | str, int]:
    """The points of a side's text, as `Position.from_points` takes them. `off:3` may be written, it is checked.

    Raises ValueError naming the part that cannot be read.
    """
    points: dict[int | str, int] = {}
    for part in filter(None, (part.strip().lower() for part in text.split(","))):
        name, _, count = part.partition(":")
        if name not in _NUMBERS or not (count.isascii() and count.isdigit()):
            raise ValueError(f"cannot read {part!r} in {text!r}; a side reads like 24:14,13:1 (also bar:1, off:2)")
        key: int | str = name if name in _NAMES.values() else int(name)
        if key in points:
            raise ValueError(f"point {name} is named twice in {text!r}")
        points[key] = int(count)
    if sum(points.values()) > checkers:
        raise ValueError(f"{text!r} places {sum(points.values())} checkers instead of {checkers}")
    return points


def position_text(position: Position) -> str:
    """Both sides, each in its own numbering: `X=24:15; O=24:15`. X is row 0."""
    own, opp = position.array
    return f"X={side_text(own)}; O={side_text(opp)}"


def parse_position(variant: Variant, text: str) -> Position:
    """The position of such a text. Raises ValueError if it cannot be read or cannot stand in `variant`."""
    parts = re.fullmatch(r"\s*X=(?P<own>[^;]*);\s*O=(?P<opp>[^;]*)", text)
    if parts is None:
        raise ValueError(f"cannot read {text!r}; a position reads like X=24:15; O=24:14,13:1")
    own, opp = (parse_side(parts[side], variant.checkers) for side in ("own", "opp"))
    position = Position.from_points(own, opp, checkers=variant.checkers)
    check_position(variant, position)
    return position


def play_text(play: Play) -> str:
    """A play as the books write it: `24/18(2)`, `13/off`, `bar/20*`; rearmost first; `pass` without moves."""
    return moves_text(play.moves)


def moves_text(moves: Iterable[Move]) -> str:
    """The moves of a play in any order, as `play_text` writes them."""
    parts = []
    ordered = sorted(moves, key=lambda move: (-move.source, -move.target))
    for (source, target), group in groupby(ordered, key=lambda move: move[:2]):
        same = list(group)
        hit = "*" if any(move.hit for move in same) else ""
        times = f"({len(same)})" if len(same) > 1 else ""
        parts.append(f"{_NAMES.get(source, source)}/{_NAMES.get(target, target)}{hit}{times}")
    return " ".join(parts) or PASS


def parse_play(
    variant: Variant, position: Position, dice: tuple[int, int], text: str, first_turn: str | None = None
) -> Play:
    """The legal play of `dice` that `text` means; row 0 of `position` moves.

    Moves may stand in any order, those of one checker may be merged (24/14 for 24/18 18/14, 24/18/14), and `*` may be
    left out where it makes no difference. Raises ValueError naming what cannot be read, is not legal or is ambiguous.
    """
    plays = legal_plays(variant, position, dice, first_turn)
    return plays[read_play(plays, position, text, f"{dice[0]}-{dice[1]}")]


def read_play(plays: list[Play], position: Position, text: str, dice: str) -> int:
    """The index of the play that `text` means among the legal `plays` of row 0; `dice` names them in messages.

    Reads and raises as `parse_play`.
    """
    if text.strip().lower() == PASS:
        if plays[0].moves:
            raise ValueError(f"a pass is not legal: the roll can be played, for instance {play_text(plays[0])}")
        return 0
    row, hits = _read_moves(text, position.array[0])
    legal = [index for index, play in enumerate(plays) if (play.after.array[0] == row).all()]
    if not legal:
        examples = ", ".join(play_text(play) for play in plays[:3])
        raise ValueError(f"{text!r} is no legal play of {dice}; among the {len(plays)} legal: {examples}")
    exact = [index for index in legal if _hits(plays[index]) == hits]
    if exact:
        return exact[0]
    if hits:
        raise ValueError(f"{text!r} hits where nothing can be hit; legal is {play_text(plays[legal[0]])}")
    if len(legal) > 1:
        choices = " or ".join(play_text(plays[index]) for index in legal)
        raise ValueError(f"{text!r} is ambiguous: {choices}")
    return legal[0]


def _hits(play: Play) -> set[int]:
    return {move.target for move in play.moves if move.hit}


def _read_moves(text: str, before: NDArray[np.int8]) -> tuple[NDArray[np.int64], set[int]]:
    """The mover's row after the moves in `text`, int64[26], and the points on which it hits."""
    change: Counter[int] = Counter()
    hits: set[int] = set()
    for word in text.split():
        match = _MOVE.fullmatch(word.lower())
        if match is None:
            raise ValueError(f"cannot read the move {word!r}; a move reads like 24/18, bar/20*, 13/off or 24/18(2)")
        path = _path(word, match["path"])
        hits |= {step.target for step in path if step.hit}
        times = int(match["times"] or 1)
        change[path[0].source] -= times
        change[path[-1].target] += times
    if not change:
        raise ValueError(f"an empty text is no play; a play without moves is written {PASS!r}")
    row = before.astype(np.int64)
    for point, number in change.items():
        row[point] += number
    for point in range(POINTS):
        if row[point] < 0:
            raise ValueError(f"{text!r} moves more checkers from {_NAMES.get(point, point)} than stand there")
    return row, hits


def _path(word: str, path: str) -> list[Move]:
    stops = path.split("/")
    for stop in stops:
        if stop.rstrip("*") not in _NUMBERS:
            raise ValueError(f"{stop!r} in {word!r} is no point; use 1 to 24, bar or off")
    points = [_NUMBERS[stop.rstrip("*")] for stop in stops]
    if any(source <= target for source, target in pairwise(points)):
        raise ValueError(f"{word!r} does not move forwards, to a lower number")
    return [Move(*step, stop.endswith("*")) for step, stop in zip(pairwise(points), stops[1:], strict=True)]


class RollName(NamedTuple):
    """What players call a roll: the dice, larger first, the Russian name, and an identifier."""

    dice: tuple[int, int]
    russian: str
    identifier: str


ROLL_NAMES: tuple[RollName, ...] = (
    RollName((6, 6), "ду-шеш", "du_shesh"),
    RollName((5, 5), "ду-беш", "du_besh"),
    RollName((4, 4), "дур-чар", "dur_char"),
    RollName((3, 3), "ду-сэ", "du_se"),
    RollName((2, 2), "ду-бара", "du_bara"),
    RollName((1, 1), "яган", "yagan"),
    RollName((6, 5), "шеш-беш", "shesh_besh"),
    RollName((6, 4), "шеш-чар", "shesh_char"),
    RollName((6, 3), "шеш-сэ", "shesh_se"),
    RollName((6, 2), "шеш-ду", "shesh_du"),
    RollName((6, 1), "шеш-як", "shesh_yak"),
    RollName((5, 4), "пянджи-чар", "pyandji_char"),
    RollName((5, 3), "пянджи-сэ", "pyandji_se"),
    RollName((5, 2), "пянджи-ду", "pyandji_du"),
    RollName((5, 1), "пянджи-як", "pyandji_yak"),
    RollName((4, 3), "чари-сэ", "chari_se"),
    RollName((4, 2), "чари-ду", "chari_du"),
    RollName((4, 1), "чари-як", "chari_yak"),
    RollName((3, 2), "сэ бай ду", "se_bay_du"),
    RollName((3, 1), "сэ-як", "se_yak"),
    RollName((2, 1), "ду-як", "du_yak"),
)
"""The 21 rolls (rules 12)."""

_BY_DICE = {name.dice: name for name in ROLL_NAMES}


def roll_name(dice: tuple[int, int]) -> RollName:
    """What a roll is called; the order of the dice does not matter. Raises ValueError for impossible dice."""
    first, second = check_dice(dice)
    return _BY_DICE[max(first, second), min(first, second)]
