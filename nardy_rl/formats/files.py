"""Files of games by their names: `.mat` or, for our own record, `.txt`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeAlias

from nardy_rl.files import replacing
from nardy_rl.formats.heading import Heading
from nardy_rl.formats.mat import MatWriter, read_mat
from nardy_rl.formats.played import PlayedGame
from nardy_rl.formats.record import RecordWriter, read_record

Keep: TypeAlias = Callable[[Iterable[PlayedGame]], None]
"""Is given games as they are finished, in order."""


class _Writer(Protocol):
    def opening(self) -> str: ...
    def game(self, played: PlayedGame) -> str: ...
    def closing(self) -> str: ...


_WRITERS: dict[str, Callable[[Heading], _Writer]] = {".mat": MatWriter, ".txt": RecordWriter}
_READERS = {".mat": read_mat, ".txt": read_record}


def check_name(path: Path) -> None:
    """Raise ValueError unless the name of a file says how games stand in it."""
    if path.suffix.lower() not in _WRITERS:
        raise ValueError(f"a file of games ends in {' or '.join(_WRITERS)}, not as {path.name}")


@contextmanager
def writing(path: Path, heading: Heading) -> Iterator[Keep]:
    """What writes games to `path`, which is there once the context is left, and as it was before on an error.

    Raises ValueError for a name of no known kind or rules that do not fit it, and OSError.
    """
    check_name(path)
    writer = _WRITERS[path.suffix.lower()](heading)
    with replacing(path) as file:
        file.write(writer.opening().encode())

        def keep(games: Iterable[PlayedGame]) -> None:
            file.writelines(writer.game(played).encode() for played in games)

        yield keep
        file.write(writer.closing().encode())


@contextmanager
def reading(path: Path) -> Iterator[tuple[Heading, Iterator[PlayedGame]]]:
    """The heading of a file of games, and the games, each replayed by the rules as it is asked for.

    Raises ValueError, at once or with a game, that says in which line something cannot be read or cannot be; OSError.
    """
    check_name(path)
    with path.open(encoding="utf-8-sig") as lines:
        with _located(path):
            heading, games = _READERS[path.suffix.lower()](lines)
        yield heading, _each(path, games)


def _each(path: Path, games: Iterator[PlayedGame]) -> Iterator[PlayedGame]:
    with _located(path):
        yield from games


@contextmanager
def _located(path: Path) -> Iterator[None]:
    """Faults name the file."""
    try:
        yield
    except UnicodeDecodeError:
        raise ValueError(f"{path}: this is no text in UTF-8") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
