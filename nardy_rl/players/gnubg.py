"""GNU Backgammon's networks and Tesauro's pubeval, by way of the package gnubg-nn: opponents of known strength.

gnubg-nn checks nothing that it is given, and takes boards as two lists of 25 plain ints, row 1 the mover, each row in
its owner's numbering: index 0 the ace point, 24 the bar. It is asked about unfinished positions with a choice only. Its
networks, cache and random numbers are global to the process: use processes, never threads.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.kernel import Plays
from nardy_rl.rules.position import BAR, OFF, POINTS
from nardy_rl.rules.variant import Variant, variant
from nardy_rl.rules.words import pack, unpack

_COUNTS_HIGH = (1 << 40) - 1  # of a play's `high`: the counts on points 16…25, without the hits
_INSTALL = "pip install gnubg-nn"


@functools.cache
def _engine() -> ModuleType:
    try:
        import gnubg_nn
    except ImportError:
        raise ValueError(f"gnubg and pubeval need the package gnubg-nn: {_INSTALL}") from None
    return gnubg_nn


def is_installed() -> bool:
    """Whether gnubg and pubeval can play here at all."""
    return importlib.util.find_spec("gnubg_nn") is not None


def _check(rules: Variant) -> None:
    """Raise ValueError unless gnubg is installed and plays by these rules and for these points."""
    _engine()
    if rules.rules != variant("short").rules:
        raise ValueError(f"gnubg and pubeval play variant short by its preset rules only, not {rules.name}")


def engine_board(board: NDArray[np.int8]) -> list[list[int]]:
    """A position int8[2, 26], row 0 the mover, as gnubg-nn takes it."""
    return [board[1, 1:].tolist(), board[0, 1:].tolist()]


def engine_equity(board: NDArray[np.int8], plies: int) -> float:
    """The cubeless equity in points of row 0 of int8[2, 26], who is about to roll, in gnubg's eyes at so many plies.

    The game must not be finished. Raises ValueError where gnubg is not installed.
    """
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = _engine().probabilities(engine_board(board), plies)
    return 2 * win - 1 + win_gammon + win_backgammon - lose_gammon - lose_backgammon


class _EnginePlayer:
    """Asks gnubg-nn for moves and finds the play that they make. Raises ValueError if gnubg cannot play `variant`."""

    def __init__(self, variant: Variant) -> None:
        _check(variant)
        self.variant = variant
        self._wanted, self._room = (np.empty((2, POINTS), np.int8) for _ in range(2))

    def choose(self, board: NDArray[np.int8], plays: Plays, size: int, dice: tuple[int, int]) -> int:
        """The index of the engine's play: see `registry.OutsidePlayer`. Raises RuntimeError if that is not legal."""
        if size == 1:
            return 0
        moves = list(self._moves(engine_board(board), *dice))
        self._wanted[:] = _after(board, moves)
        index = find_play(self._wanted, board, plays, size, self.variant.rules, self._room)
        if index < 0:
            raise RuntimeError(f"{type(self).__name__} plays {moves} on {board.tolist()} with {dice}: not legal")
        return index

    def _moves(self, board: list[list[int]], first: int, second: int) -> Iterable[tuple[int, int]]:
        """Its moves in playing order, each from and to in the mover's numbering: 25 the bar, 0 off."""
        raise NotImplementedError


class Gnubg(_EnginePlayer):
    """gnubg at 0, 1 or 2 plies in its own count: 0 is the bare network."""

    def __init__(self, variant: Variant, plies: int) -> None:
        super().__init__(variant)
        self.plies = plies

    def _moves(self, board: list[list[int]], first: int, second: int) -> Iterable[tuple[int, int]]:
        return _engine().best_move(board, first, second, self.plies)


class Pubeval(_EnginePlayer):
    """Tesauro's public linear benchmark player of 1993."""

    def _moves(self, board: list[list[int]], first: int, second: int) -> Iterable[tuple[int, int]]:
        flat: list[Any] = _engine().pub_best_move(board, first, second)
        return [(source + 1, target + 1) for source, target in zip(flat[::2], flat[1::2], strict=True)]


def _after(board: NDArray[np.int8], moves: Iterable[tuple[int, int]]) -> list[list[int]]:
    own, other = board.tolist()
    for source, target in moves:
        own[source] -= 1
        own[target] += 1
        if target != OFF and other[BAR - target]:
            other[BAR - target] -= 1
            other[BAR] += 1
    return [own, other]


@kernel
def find_play(
    wanted: NDArray[np.int8], board: NDArray[np.int8], plays: Plays, size: int, rules: Rules, room: NDArray[np.int8]
) -> int:
    """The index of the play of `board` that leads to `wanted`, -1 if none does. All boards int8[2, 26], mover row 0."""
    low, high = pack(wanted)
    for index in range(size):
        if plays.low[index] == low and plays.high[index] & _COUNTS_HIGH == high:
            unpack(plays.low[index], plays.high[index], board, rules, room)
            differs = 0
            for point in range(POINTS):
                differs += room[1, point] != wanted[1, point]
            if differs == 0:
                return index
    return -1
