"""Our own record of games of any variant, both ways; `docs/formats.md` is its specification."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from nardy_rl.formats.heading import Heading, Lines
from nardy_rl.formats.played import PLAYERS, Decision, Part, PlayedGame, Replay
from nardy_rl.rules.notation import moves_text
from nardy_rl.rules.variant import VARIANTS, Variant, variant, variant_from_dict

MAGIC, VERSION = "nardy_rl record", 1
_COMMENT = "#"
_PARTS = {Part.ROLL: "", Part.GOES_ON: "goes on ", Part.FINISHES: "finishes "}
_BY_WORD = {word.strip(): part for part, word in _PARTS.items()}
_GAME = re.compile(r"game ([0-9]{1,9})")
_DECISION = re.compile(
    r"(?:(?P<number>[0-9]{1,9})\.)? *(?P<player>[AB]) (?:(?P<part>goes on|finishes) )?"
    r"(?P<dice>[1-6](?:-[1-6])*): (?P<play>.+)"
)
_RESULT = re.compile(r"(?P<player>[AB]) wins (?P<points>[0-9]{1,9}) points? \((?P<kind>\w+)\)")
_END = re.compile(r"end: ([0-9]{1,9}) games?, A ([0-9]{1,9}) points?, B ([0-9]{1,9}) points?")


class RecordWriter:
    """The text of a record, piece by piece: `opening`, each `game`, `closing`."""

    def __init__(self, heading: Heading) -> None:
        self._heading = heading
        self._games = 0
        self._score = [0, 0]

    def opening(self) -> str:
        """Everything above the games."""
        heading, lines = self._heading, [f"{MAGIC} {VERSION}"]
        lines += [f"{player}: {_line(name)}" for player, name in zip(PLAYERS, heading.names, strict=True)]
        lines += [f"{option}: {value}" for option, value in _rule_lines(heading.variant)]
        lines += [f"note: {_line(heading.note)}"] if heading.note else []
        return "\n".join(lines) + "\n\n"

    def game(self, played: PlayedGame) -> str:
        """The next game."""
        self._games += 1
        self._score[played.winner] += played.points
        lines = [f"game {self._games}"]
        rolls = 0
        for decision in played.decisions:
            rolls += decision.part is Part.ROLL
            lines.append(_decision_line(decision, rolls))
        lines.append(f"{PLAYERS[played.winner]} wins {_points(played.points)} ({played.kind})")
        return "\n".join(lines) + "\n\n"

    def closing(self) -> str:
        """The last line, without which a record is not whole."""
        games = f"{self._games} game{'s' * (self._games != 1)}"
        points = (f"{player} {_points(won)}" for player, won in zip(PLAYERS, self._score, strict=True))
        return f"end: {', '.join((games, *points))}\n"


def read_record(text: Iterable[str]) -> tuple[Heading, Iterator[PlayedGame]]:
    """The heading of a record, given line by line, and its games, each replayed by the rules as it is asked for.

    Raises ValueError, at once or with a game, that says which line cannot be read or cannot be.
    """
    lines = Lines(text, _COMMENT)
    heading = _heading(lines)
    return heading, _games(lines, heading.variant)


def _heading(lines: Lines) -> Heading:
    first = next(lines, "")
    version = first.removeprefix(MAGIC).strip()
    if not first.startswith(MAGIC) or not version.isdecimal():
        raise ValueError(f"this is no record: the first line of one is {MAGIC} {VERSION}")
    if int(version) != VERSION:
        raise ValueError(f"this is a record of version {version}; only version {VERSION} is known here")
    entries: dict[str, str] = {}
    for line in lines:
        if not line:
            break
        key, colon, value = line.partition(":")
        if not colon or key in entries:
            wrong = f"{key} is named twice" if colon else f"cannot read {line!r} in the heading: it is no key: value"
            raise lines.fault(wrong)
        entries[key] = value.strip()
    missing = [key for key in (*PLAYERS, "variant") if key not in entries]
    if missing:
        raise lines.fault(f"the heading names no {missing[0]}")
    names, note = (entries.pop("A"), entries.pop("B")), entries.pop("note", "")
    name = entries.pop("variant")
    options = {option: _value(option, text) for option, text in entries.items() if option != "base"}
    try:
        rules = variant_from_dict({"base": entries.get("base", name), "name": name, **options}, source="the heading")
    except ValueError as error:
        raise lines.fault(error) from None
    return Heading(rules, names, note)


def _games(lines: Lines, rules: Variant) -> Iterator[PlayedGame]:
    score = [0, 0]
    for number, line in enumerate(filter(None, lines), 1):
        end = _END.fullmatch(line)
        if end:
            if (number - 1, *score) != tuple(int(count) for count in end.groups()):
                raise lines.fault(f"{line!r}, but the games are {number - 1} with {score[0]} and {score[1]} points")
            if any(lines):
                raise lines.fault("something follows the end of the record")
            return
        game = _GAME.fullmatch(line)
        if not game or int(game[1]) != number:
            raise lines.fault(f"here begins game {number}, or the record ends, but there stands {line!r}")
        played = _game(lines, rules, number)
        score[played.winner] += played.points
        yield played
    raise lines.fault("the record breaks off: its last line, end: …, is missing")


def _game(lines: Lines, rules: Variant, number: int) -> PlayedGame:
    """The game whose first line has just been read, up to its result."""
    replay, rolls = Replay(rules), 0
    for line in filter(None, lines):
        words = " ".join(line.split())
        try:
            result = _RESULT.fullmatch(words)
            if result:
                played = replay.end()
                _check_result(played, result)
                return played
            decision = _DECISION.fullmatch(words)
            if not decision:
                raise ValueError(f"cannot read {words!r}; a roll reads like 7. A 6-5: 24/13")
            part = _BY_WORD[decision["part"] or ""]
            rolls += part is Part.ROLL
            if decision["number"] != (str(rolls) if part is Part.ROLL else None):
                wanted = f"the number {rolls}." if part is Part.ROLL else "no number"
                raise ValueError(f"{words!r} must have {wanted} before it")
            dice = tuple(int(die) for die in decision["dice"].split("-"))
            replay.add(PLAYERS.index(decision["player"]), part, dice, decision["play"])
        except ValueError as error:
            raise lines.fault(f"game {number}: {error}") from None
    raise lines.fault(f"the record breaks off in game {number}")


def _check_result(played: PlayedGame, result: re.Match[str]) -> None:
    said = PLAYERS.index(result["player"]), int(result["points"]), result["kind"]
    if said != (played.winner, played.points, played.kind):
        by_rules = f"{PLAYERS[played.winner]} wins {_points(played.points)} ({played.kind})"
        raise ValueError(f"{result[0]!r}, but by the rules {by_rules}")


def _rule_lines(rules: Variant) -> Iterator[tuple[str, str]]:
    """The name of a variant, the preset it is based on if it is not one of them, and the options that differ."""
    yield "variant", _line(rules.name)
    sheets = {name: variant(name).to_dict() for name in VARIANTS}
    differing = {
        name: {
            option: value for option, value in rules.to_dict().items() if option != "name" and sheet[option] != value
        }
        for name, sheet in sheets.items()
    }
    base = rules.name if rules.name in sheets else min(differing, key=lambda name: len(differing[name]))
    if base != rules.name:
        yield "base", base
    for option, value in differing[base].items():
        yield option, str(value).lower() if isinstance(value, bool) else str(value)


def _value(option: str, text: str) -> object:
    """An option's value; a text that is none is left to the rule sheet, which says what it wants."""
    default = next((field.default for field in dataclasses.fields(Variant) if field.name == option), "")
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text, text)
    return int(text) if isinstance(default, int) and text.isdecimal() and len(text) < 10 else text


def _decision_line(decision: Decision, rolls: int) -> str:
    number = f"{rolls:3}. " if decision.part is Part.ROLL else " " * 5
    dice = "-".join(map(str, decision.dice))
    return f"{number}{PLAYERS[decision.player]} {_PARTS[decision.part]}{dice}: {moves_text(decision.moves)}"


def _points(number: int) -> str:
    return f"{number} point{'s' * (number != 1)}"


def _line(text: str) -> str:
    return " ".join(text.split())
