"""What `python -m nardy_rl.formats FILE [OUT]` does: replay every game, say what came of them, convert."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

from nardy_rl.cli import BAD_INPUT, one_line
from nardy_rl.formats.files import reading, writing
from nardy_rl.formats.heading import Heading
from nardy_rl.formats.played import PLAYERS, PlayedGame


class _Parser(argparse.ArgumentParser):
    """Complains in one line, as all our commands do."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; {' '.join(self.format_usage().split())}")


class Summary:
    """What came of games, counted as they pass."""

    def __init__(self) -> None:
        self._results: Counter[tuple[int, str]] = Counter()
        self._points = [0, 0]
        self._rolls = 0
        self._begun = 0  # games won by who began

    def counted(self, games: Iterable[PlayedGame]) -> Iterator[PlayedGame]:
        """The games, as they are."""
        for game in games:
            self._results[game.winner, game.kind] += 1
            self._points[game.winner] += game.points
            self._rolls += game.rolls
            self._begun += game.decisions[0].player == game.winner
            yield game

    def lines(self, heading: Heading) -> Iterator[str]:
        """The summary in words."""
        games = sum(self._results.values())
        yield f"{games} games of {heading.variant.name}: every play, every result is as its rules have it"
        for player, name in enumerate(heading.names):
            kinds = {kind: self._results[player, kind] for kind in heading.variant.class_names}
            classes = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count) or "none"
            yield f"{PLAYERS[player]}, {name}: {self._points[player]} points; games won: {classes}"
        if games:
            yield f"{self._rolls / games:.1f} rolls a game; {self._begun / games:.1%} won by who began"
        if heading.note:
            yield heading.note


def convert(source: Path, target: Path | None) -> Iterator[str]:
    """Replay all games of a file, write them to `target`, and say in lines what they are.

    Raises ValueError naming file and line where something cannot be read or cannot be, and OSError; then `target` is as
    it was.
    """
    summary = Summary()
    with reading(source) as (heading, games), writing(target, heading) if target else nullcontext() as keep:
        for game in summary.counted(games):
            if keep:
                keep([game])
    yield from summary.lines(heading)
    if target:
        yield f"written to {target}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line asks for. A fault is one line, and exit code 2."""
    parser = _Parser(prog="python -m nardy_rl.formats", description=__doc__)
    parser.add_argument("file", type=Path, help="a file of games: .mat, or our record, .txt (see docs/formats.md)")
    parser.add_argument("out", type=Path, nargs="?", help="where to write the same games, likewise .mat or .txt")
    try:
        options = parser.parse_args(arguments)
        for line in convert(options.file, options.out):
            print(line)
    except (ValueError, OSError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None
