"""Files that are either whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write in place of `path`, which keeps its old content until the new one is safely on the disk.

    Raises OSError if the folder cannot be written or the disk is full; `path` is then as it was.
    """
    draft = path.with_name(f".{path.name}.draft")  # always the same name: what a killed writer left is overwritten
    try:
        with draft.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException as error:
        draft.unlink(missing_ok=True)
        # Of a full disk the system does not say with which file it came up.
        if isinstance(error, OSError) and error.filename in (None, str(draft)):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise
