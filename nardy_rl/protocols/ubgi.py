"""The Universal Backgammon Interface, version 0.2, over standard input and output; other variants beside backgammon.

    python -m nardy_rl.protocols.ubgi BOT

docs/protocols.md lists the commands, the keys, and what is added to the specification for long nardy and its kin.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from nardy_rl.formats.gnu import from_position_id
from nardy_rl.formats.xgid import parse_xgid
from nardy_rl.players.bot import is_network
from nardy_rl.players.registry import load_player
from nardy_rl.protocols.boards import moves_text
from nardy_rl.protocols.command import parser, run
from nardy_rl.protocols.lines import read_lines, shown, text_of
from nardy_rl.protocols.mind import Mind, load_bot, passed_dice
from nardy_rl.rules.game import Game
from nardy_rl.rules.notation import PASS, parse_position
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import VARIANTS, Variant, variant
from nardy_rl.search.lookahead import MAX_PLIES

_BACKGAMMON = "backgammon"  # what the specification calls our variant short
_ALL_VARIANTS = ("random", "heuristic")  # bots that play whatever is set
_FIRST_TURN, _PASSED, _THEN = "first_turn=", "passed", "then"
_LONGEST_DETAIL = 300


def _position(form: str, text: str, rules: Variant) -> Position:
    """A position in one of the protocol's three forms, from the side of the player on roll."""
    if form == "gnubgid":
        return from_position_id(text)
    return parse_xgid(text).position if form == "xgid" else parse_position(rules, text)


class _RefusalError(Exception):
    """An error line: one of the four codes of the specification, and what is wrong."""

    def __init__(self, code: str, detail: object) -> None:
        super().__init__(f"error {code} {' '.join(str(detail).split())[:_LONGEST_DETAIL]}")


class Engine:
    """An engine at one controller: `answer` takes his lines in order. Raises ValueError if there is no such bot."""

    def __init__(self, bot: str) -> None:
        self.bot = bot
        self.quitting = False
        player, rules = load_bot(bot)
        self._mind = Mind(player, rules)
        self._variants = tuple(map(variant, VARIANTS)) if bot in _ALL_VARIANTS else (rules,)
        self._defaults = self._values()
        self._position: Position | None = None
        self._first_turn: str | None = None
        self._begin: Callable[[], Game] | None = None
        self._commands: dict[str, Callable[[str], list[str]]] = {
            "ubgi": _alone(self._introduce),
            "isready": _alone(self._get_ready),
            "newgame": _alone(self._forget),
            "position": self._set_position,
            "dice": self._set_dice,
            "go": self._go,
            "set": self._set,
            "get": self._get,
            "keys": _alone(self._list_keys),
            "quit": _alone(self._quit),
        }

    def answer(self, line: str) -> list[str]:
        """The lines that answer a command: none, or that of an error at the worst."""
        name, _, rest = line.strip().partition(" ")
        if not name:
            return []
        try:
            if name not in self._commands:
                raise _RefusalError("bad_command", f"unknown {shown(name)}; known are {', '.join(self._commands)}")
            return self._commands[name](rest.strip())
        except _RefusalError as refusal:
            return [str(refusal)]

    def _introduce(self) -> list[str]:
        name = " ".join(Path(self.bot).name.split())
        return [f"id name nardy_rl {name}", "id author The nardy_rl authors", "proto 0.2", "ubgiok"]

    def _get_ready(self) -> list[str]:
        self._mind.warm_up()
        return ["readyok"]

    def _forget(self) -> list[str]:
        self._position = self._first_turn = self._begin = None
        return []

    def _quit(self) -> list[str]:
        self.quitting = True
        return []

    def _set_position(self, rest: str) -> list[str]:
        self._forget()  # a position that is refused leaves no older one behind to be answered about
        form, _, text = rest.partition(" ")
        if form not in ("gnubgid", "xgid", "nardy") or not text:
            raise _RefusalError("bad_command", "expected: position gnubgid <id>, xgid <x> or nardy X=<side>; O=<side>")
        rules, first_turn = self._mind.variant, None
        if form != "nardy" and not (rules.direction == "contrary" and rules.hit and rules.checkers == 15):
            raise _RefusalError("unsupported", f"position {form} in variant {_name(rules)}; use nardy")
        if form == "nardy":
            text, first_turn = _split_first_turn(text)
        try:
            position = _position(form, text, rules)
            Game.from_position(rules, position, 0, dice=(2, 1), first_turn=first_turn)  # raises if nobody can roll
        except ValueError as error:
            raise _RefusalError("bad_value", f"position: {error}") from None
        self._position, self._first_turn = position, first_turn
        return []

    def _set_dice(self, rest: str) -> list[str]:
        self._begin = None
        words = rest.split()
        passed = words[:1] == [_PASSED]
        end = words.index(_THEN) if _THEN in words else len(words)
        now, later = words[passed:end], words[end + 1 :]
        if not now or (not passed and (len(now) != 2 or later)):
            raise _RefusalError("bad_command", "expected: dice <d1> <d2>, or dice passed <d> … [then <d> …]")
        dice, to_follow = _numbers(now), _numbers(later)
        if self._position is None:
            raise _RefusalError("bad_state", "missing position")
        rules, position, first_turn = self._mind.variant, self._position, self._first_turn
        if passed and rules.pass_when == "never":
            raise _RefusalError("unsupported", f"dice passed in variant {_name(rules)}")

        def begin() -> Game:
            if passed:
                return passed_dice(rules, position, dice, to_follow, first_turn)
            return Game.from_position(rules, position, 0, dice=(dice[0], dice[1]), first_turn=first_turn)

        try:
            begin()
        except ValueError as error:
            raise _RefusalError("bad_value", error) from None
        self._begin = begin
        return []

    def _go(self, rest: str) -> list[str]:
        if rest not in ("", "chequer", "cube", "turn"):
            raise _RefusalError("bad_command", "expected: go, go chequer, go cube or go turn")
        if self._position is None:
            raise _RefusalError("bad_state", "missing position")
        if rest == "cube":
            return ["bestcube nodouble"]  # the bots play without the cube
        if self._begin is None:
            raise _RefusalError("bad_state", "missing dice")
        move = moves_text(self._mind.turn(self._begin())) or PASS
        return [f"bestturn cube=nodouble move={move}" if rest == "turn" else f"bestmove {move}"]

    def _values(self) -> dict[str, str]:
        """Each key's value."""
        player, values = self._mind.player, {"game.variant": _name(self._mind.variant)}
        if is_network(player):
            values["engine.ply"] = str(player.plies + 1)
        return values

    def _list_keys(self) -> list[str]:
        kinds = {
            "game.variant": (f"enum {'|'.join(map(_name, self._variants))}", "the game to be played"),
            "engine.ply": (f"int 1..{MAX_PLIES + 1}", "search depth, 1 is the network alone"),
        }
        return [f"key {key} {kinds[key][0]} {default} {kinds[key][1]}" for key, default in self._defaults.items()]

    def _get(self, rest: str) -> list[str]:
        if len(rest.split()) != 1:
            raise _RefusalError("bad_command", "expected: get <key>")
        self._check_key(rest)
        return [f"value {rest} {self._values()[rest]}"]

    def _set(self, rest: str) -> list[str]:
        words = rest.split()
        if len(words) != 2:
            raise _RefusalError("bad_command", "expected: set <key> <value>, all keys have values of one word")
        self._check_key(words[0])
        (self._set_variant if words[0] == "game.variant" else self._set_ply)(words[1])
        return []

    def _check_key(self, key: str) -> None:
        if key not in self._defaults:
            raise _RefusalError("unsupported", f"key {shown(key)}; known are {', '.join(self._defaults)}")

    def _set_variant(self, value: str) -> None:
        wanted = next((rules for rules in self._variants if value in (_name(rules), rules.name)), None)
        if wanted is None and value in (*VARIANTS, _BACKGAMMON):
            raise _RefusalError("unsupported", f"game.variant {value}: this bot plays {self._defaults['game.variant']}")
        if wanted is None:
            raise _RefusalError("bad_value", f"game.variant must_be {'|'.join(map(_name, self._variants))}")
        if wanted != self._mind.variant:
            self._mind = Mind(load_player(self.bot, wanted), wanted)
            self._forget()

    def _set_ply(self, value: str) -> None:
        if value not in map(str, range(1, MAX_PLIES + 2)):
            raise _RefusalError("bad_value", f"engine.ply must_be 1..{MAX_PLIES + 1}")
        player = self._mind.player
        if is_network(player):
            self._mind = Mind(player._replace(plies=int(value) - 1), self._mind.variant)


def serve(engine: Engine, read: Callable[[int], bytes], write: Callable[[bytes], object]) -> None:
    """Answer all lines that `read` gives (see `read_lines`), until it has no more or one says quit."""
    for line in read_lines(read):
        try:
            replies = engine.answer(text_of(line))
        except ValueError as error:
            replies = [f"error bad_command {error}"]
        for reply in replies:
            write(f"{reply}\n".encode())
        if engine.quitting:
            return


def _alone(reply: Callable[[], list[str]]) -> Callable[[str], list[str]]:
    """A command that stands alone on its line."""

    def command(rest: str) -> list[str]:
        if rest:
            raise _RefusalError("bad_command", f"nothing may follow this command, not {shown(rest)}")
        return reply()

    return command


def _name(rules: Variant) -> str:
    """What a variant is called as the value of a key: one word."""
    return _BACKGAMMON if rules == variant("short") else "_".join(rules.name.split())


def _split_first_turn(text: str) -> tuple[str, str | None]:
    """A position and what may follow it: `X=…; O=…; first_turn=starter`."""
    sides, _, last = text.rpartition(";")
    if last.strip().startswith(_FIRST_TURN):
        return sides, last.strip().removeprefix(_FIRST_TURN)
    return text, None


def _numbers(words: list[str]) -> tuple[int, ...]:
    if not all(word in ("1", "2", "3", "4", "5", "6") for word in words):
        raise _RefusalError("bad_value", "dice are numbers from 1 to 6")
    return tuple(map(int, words))


def _main() -> None:
    options = parser("ubgi", "Serve a bot over standard input and output by UBGI 0.2.").parse_args()
    engine = Engine(options.bot)
    output = sys.stdout.buffer

    def write(reply: bytes) -> None:
        output.write(reply)
        output.flush()

    serve(engine, partial(os.read, sys.stdin.fileno()), write)


if __name__ == "__main__":
    run(_main)
