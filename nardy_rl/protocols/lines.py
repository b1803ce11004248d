"""Lines of text from a stream of bytes, in bounded memory whatever the other side sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator

LIMIT = 4096
"""How many bytes a line may have."""

_SHOWN = 60


def read_lines(read: Callable[[int], bytes]) -> Iterator[bytes | None]:
    """The lines of a stream without their ends; the last may lack its own. None stands for a line beyond LIMIT.

    read: gives some bytes, at most so many as it is asked for, and none at the end. A line beyond LIMIT is told of at
    once, not at its end, which may never come.
    """
    held = bytearray()
    dropping = False
    while chunk := read(LIMIT):
        *ended, begun = chunk.split(b"\n")
        for part in ended:
            if not dropping:
                yield None if len(held) + len(part) > LIMIT else bytes(held + part)
            held.clear()
            dropping = False
        if not dropping:
            held += begun
        if len(held) > LIMIT:
            held.clear()
            dropping = True
            yield None
    if held:
        yield bytes(held)


def text_of(line: bytes | None) -> str:
    """A line of `read_lines` as text, without blanks at its ends. Raises ValueError saying why it is none."""
    if line is None:
        raise ValueError(f"a line has at most {LIMIT} bytes")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("a line must be text in UTF-8") from None
    if "\0" in text:
        raise ValueError("a line holds no NUL")
    return text.strip()


def shown(text: str) -> str:
    """What somebody sent, as one may repeat it to him: in quotes, short, and printable ASCII throughout."""
    return ascii(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
