"""The one way in which this package compiles: Numba, without the GIL, cached on disk by the content of the sources.

Numba's own cache looks at the time stamp of a function's file alone, so that machine code would survive a change in a
callee or a constant of another file. Here the cache folder is named after all sources next to compiled code.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from llvmlite import ir
from numba.core import config, types
from numba.core.types.misc import unliteral
from numba.extending import intrinsic

_Function = TypeVar("_Function", bound=Callable[..., Any])
_PACKAGE = Path(__file__).parent
# Sums may be reordered to use vector registers; NaN and infinity keep their meaning.
_FAST_MATH = {"reassoc", "contract", "nsz", "arcp"}


def _source_digest() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {config.CPU_NAME}".encode())
    compiled = {path.parent for path in _PACKAGE.rglob("*.py") if b"@kernel" in path.read_bytes()} - {_PACKAGE}
    sources = [Path(__file__), *(path for folder in compiled for path in folder.glob("*.py"))]
    for path in sorted(sources):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where the machine code of these sources is kept: in NUMBA_CACHE_DIR, else in the user's cache."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "nardy_rl" / _DIGEST


_DIGEST = _source_digest()


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


_CACHED = _writable(cache_folder())


def kernel(function: _Function) -> _Function:
    """Compile `function` at its first call; every hot loop of the package wears this decorator.

    A kernel allocates nothing: callers hand it its arrays. So Numba's reference counting, which costs more than the
    work itself wherever a row of an array is named, is off; copying a slice into a slice is a loop for that reason.
    """
    return _compile(function, forceinline=False)


def inlined(function: _Function) -> _Function:
    """As `kernel`, for a small step of a hot loop: its caller gets a copy, and no bundle of arrays is passed."""
    return _compile(function, forceinline=True)


def _compile(function: Any, forceinline: bool) -> Any:
    before, config.CACHE_DIR = config.CACHE_DIR, str(cache_folder())
    try:
        options = {"_nrt": False, "nogil": True, "fastmath": _FAST_MATH, "error_model": "numpy"}
        return _once(numba.njit(function, cache=_CACHED, forceinline=forceinline, **options))
    finally:
        config.CACHE_DIR = before


def _once(function: Any) -> Any:
    """Let kernels that call `function` with a constant share its machine code with those that call it with a variable.

    Numba would compile it anew for each constant, and so take half as long again for the whole package, for code that
    is no faster: LLVM sees the constant where the function is inlined.
    """
    template = function.get_call_template
    function.get_call_template = lambda arguments, named: template(
        tuple(unliteral(kind) for kind in arguments),
        {name: unliteral(kind) for name, kind in named.items()},
    )
    return function


@intrinsic
def lowest_bit(typing_context: Any, mask: Any) -> Any:
    """Index of the lowest set bit of an int64; 64 if there is none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


@intrinsic
def highest_bit(typing_context: Any, mask: Any) -> Any:
    """Index of the highest set bit of an int64; -1 if there is none."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zeros = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return types.int64(types.int64), generate


@intrinsic
def bit_count(typing_context: Any, mask: Any) -> Any:
    """How many bits of an int64 are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), generate


@intrinsic
def reversed_bits(typing_context: Any, mask: Any) -> Any:
    """An int64 turned round: bit b becomes bit 63 - b."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitreverse(arguments[0])

    return types.int64(types.int64), generate


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
