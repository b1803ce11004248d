"""What stands above the games in a file of them, and its lines with their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nardy_rl.rules.variant import Variant


@dataclass(frozen=True)
class Heading:
    """Who played what."""

    variant: Variant
    names: tuple[str, str]
    """Of A and B."""
    note: str = ""
    """Whatever else is to be known, in one line."""


class Lines:
    """The lines of a text, stripped of line ends and of blanks on their right, without those that begin like comments;
    `number` counts them all for messages."""

    def __init__(self, lines: Iterable[str], *comments: str) -> None:
        self._lines = iter(lines)
        self._comments = comments
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while True:
            line = next(self._lines)
            self.number += 1
            if not line.startswith(self._comments):
                return line.rstrip()

    def fault(self, what: object) -> ValueError:
        """An error that says what is wrong with the last line."""
        return ValueError(f"line {self.number}: {what}")
