"""Jellyfish's match text, `.mat`, which GNU Backgammon, XG and others read: games of short nardy, without the cube.

Each player counts points from his own side, 25 is the bar and 0 off. What A did stands on the left, what B did on the
right. As there is no specification, this writes what gnubg writes, and reads what gnubg and XG write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from nardy_rl.formats.heading import Heading, Lines
from nardy_rl.formats.played import PLAYERS, Decision, Part, PlayedGame, Replay
from nardy_rl.rules.notation import PASS
from nardy_rl.rules.plays import Move
from nardy_rl.rules.variant import Variant, variant

_COMMENT = ";"
_NO_MOVE = "Cannot Move"
_NAME_LENGTH = 22  # gnubg cuts 31 off, and after more than this its own files have no gap between the players
_CELL = 34  # columns: four hits of a double, and a gap by which readers tell the players apart
_LEFT = 15  # columns within which a line's text begins if it is A's
_LENGTH = re.compile(r"\s*([0-9]{1,9}) point match\s*", re.IGNORECASE)
_GAME = re.compile(r"\s*Game ([0-9]{1,9})\s*")
_SCORE = re.compile(r"\s*(.+?)\s*:\s*([0-9]{1,9})\s{2,}(.+?)\s*:\s*([0-9]{1,9})\s*")
_ROW = re.compile(r"\s*[0-9]{1,9}\)(.*)")
_ROLL = re.compile(r"(?<!\S)([1-6])([1-6]):")
_WINS = re.compile(r"(\s*)Wins ([0-9]{1,9}) points?(?: and the match)?", re.IGNORECASE)
_CUBE = re.compile(r"\b(doubles?|takes?|drops?|beavers?|raccoons?)\b", re.IGNORECASE)
_NAMES = {"25": "bar", "0": "off"}


class MatWriter:
    """The text of a session for money, piece by piece: `opening`, each `game`, `closing`.

    Raises ValueError for any rules but those of short nardy, which alone readers of this format know.
    """

    def __init__(self, heading: Heading) -> None:
        check_rules(heading.variant)
        self._heading = heading
        self._names = mat_names(heading.names)
        self._games = 0
        self._score = [0, 0]

    def opening(self) -> str:
        """Everything above the games. Gammons count and the cube is not used, which is said where readers look."""
        players = (name.replace('"', "'") for name in self._heading.names)
        tags = [f'[Player {number} "{name}"]' for number, name in enumerate(players, 1)]
        tags += ['[Variation "Backgammon"]', '[Jacoby "Off"]', '[Beaver "Off"]', '[CubeLimit "1"]']
        tags += [self._heading.note] if self._heading.note else []
        return "".join(f"{_COMMENT} {' '.join(tag.split())}\n" for tag in tags) + "\n 0 point match\n"

    def game(self, played: PlayedGame) -> str:
        """The next game."""
        self._games += 1
        left, right = (f"{name} : {score}" for name, score in zip(self._names, self._score, strict=True))
        lines = ["", f" Game {self._games}", f" {left:<{_CELL + 4}}{right}"]
        rows: list[list[str]] = []
        for decision in played.decisions:
            if decision.player == 0 or not rows or rows[-1][1]:
                rows.append(["", ""])
            rows[-1][decision.player] = _cell(decision)
        lines += [f"{number:3}) {row[0]:<{_CELL}}{row[1]}".rstrip() for number, row in enumerate(rows, 1)]
        indent = " " * (6 if played.winner == 0 else 5 + _CELL)
        lines.append(f"{indent}Wins {played.points} point{'s' * (played.points != 1)}")
        self._score[played.winner] += played.points
        return "\n".join(lines) + "\n"

    def closing(self) -> str:
        """Nothing."""
        return ""


def check_rules(rules: Variant) -> None:
    """Raise ValueError unless games by these rules can be written as .mat."""
    short = variant("short")
    if rules.rules != short.rules or rules.start != short.start:
        raise ValueError(f".mat is of short nardy by its preset rules only, not of {rules.name}; any rules fit .txt")


def mat_names(names: tuple[str, str]) -> tuple[str, str]:
    """Two different names that every reader takes whole: short enough, without `:`, which ends a name, and `,`."""
    short = [" ".join(re.sub("[:,]", " ", name).split()) or "?" for name in names]
    short = [name if len(name) <= _NAME_LENGTH else "..." + name[3 - _NAME_LENGTH :] for name in short]
    if short[0] == short[1]:
        return f"A {short[0]}"[:_NAME_LENGTH], f"B {short[1]}"[:_NAME_LENGTH]
    return short[0], short[1]


def _cell(decision: Decision) -> str:
    first, second = decision.dice
    return f"{first}{second}: {' '.join(_steps(decision.moves)) or _NO_MOVE}"


def _steps(moves: tuple[Move, ...]) -> Iterator[str]:
    """Every move by itself, rearmost first, so that each is possible when its turn comes; who comes first hits."""
    hits = {move.target for move in moves if move.hit}
    for source, target, _ in sorted(moves, key=lambda move: (-move.source, -move.target)):
        yield f"{source}/{target}{'*' * (target in hits)}"
        hits.discard(target)


def read_mat(text: Iterable[str]) -> tuple[Heading, Iterator[PlayedGame]]:
    """The heading of a match, given line by line, and its games, each replayed by the rules as it is asked for.

    Raises ValueError, at once or with a game, that says which line cannot be read or cannot be. Games with the cube
    and games that are not played to their end cannot be read.
    """
    lines = Lines(text, _COMMENT, "#")
    length = next((match for match in map(_LENGTH.fullmatch, lines) if match), None)
    if length is None:
        raise ValueError("this is no .mat file: it has no line like 5 point match")
    first = next((match for match in map(_GAME.fullmatch, lines) if match), None)
    if first is None:
        raise lines.fault("there is no game")
    names, score = _score(lines)
    note = f"{length[1]} point match" if int(length[1]) else ""
    return Heading(variant("short"), names, note), _games(lines, names, score)


def _score(lines: Lines) -> tuple[tuple[str, str], tuple[int, int]]:
    line = next(filter(None, lines), "")
    score = _SCORE.fullmatch(line)
    if not score:
        raise lines.fault(f"here stand the players and their scores, as in one : 0    other : 0, not {line!r}")
    return (score[1], score[3]), (int(score[2]), int(score[4]))


def _games(lines: Lines, names: tuple[str, str], score: tuple[int, int]) -> Iterator[PlayedGame]:
    """All games; of the first the score is already read."""
    number, due = 1, list(score)
    while True:
        if list(score) != due:
            raise lines.fault(f"the score before game {number} is {due[0]} : {due[1]}, not {score[0]} : {score[1]}")
        played = _game(lines, number)
        due[played.winner] += played.points
        yield played
        number += 1
        line = next(filter(None, lines), None)
        if line is None:
            return
        game = _GAME.fullmatch(line)
        if not game or int(game[1]) != number:
            raise lines.fault(f"here begins game {number}, or the file ends, but there stands {line.strip()!r}")
        other_names, score = _score(lines)
        if other_names != names:
            raise lines.fault(f"the players were {' and '.join(names)} before, not {' and '.join(other_names)}")


def _game(lines: Lines, number: int) -> PlayedGame:
    replay = Replay(variant("short"))
    for line in filter(None, lines):
        try:
            wins = _WINS.fullmatch(line)
            if wins:
                played = replay.end()
                said = int(len(wins[1]) > _LEFT), int(wins[2])
                if said != (played.winner, played.points):
                    by_rules = f"{PLAYERS[played.winner]} wins {played.points}, a {played.kind}"
                    raise ValueError(f"{PLAYERS[said[0]]} wins {said[1]}, but by the rules {by_rules}")
                return played
            for player, dice, play in _cells(line):
                replay.add(player, Part.ROLL, dice, play)
        except ValueError as error:
            raise lines.fault(f"game {number}: {error}") from None
    raise lines.fault(f"the file breaks off in game {number}")


def _cells(line: str) -> Iterator[tuple[int, tuple[int, int], str]]:
    """The one or two rolls of a row: who, his dice, and the play in our notation."""
    cube = _CUBE.search(line)
    if cube:
        raise ValueError(f"games with the doubling cube are not read: {cube[0]}")
    row = _ROW.fullmatch(line)
    rolls = list(_ROLL.finditer(row[1])) if row else []
    if not row or not 1 <= len(rolls) <= 2:
        raise ValueError(f"cannot read {line.strip()!r}; a row reads like 7) 31: 8/5 6/5    62: 24/18 13/11")
    players = (0, 1) if len(rolls) == 2 else (int(rolls[0].start() > _LEFT),)
    ends = [*(roll.start() for roll in rolls[1:]), len(row[1])]
    for player, roll, end in zip(players, rolls, ends, strict=True):
        words = row[1][roll.end() : end].strip()
        yield player, (int(roll[1]), int(roll[2])), PASS if words.lower() in ("", _NO_MOVE.lower()) else _ours(words)


def _ours(words: str) -> str:
    """Moves with our names for 25 and 0."""
    return re.sub(r"(?<![0-9])(25|0)(?![0-9])", lambda number: _NAMES[number[0]], words)
