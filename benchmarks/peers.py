"""The same works done by the peers, for short nardy; a peer that is not installed is left out."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from benchmarks.works import DECISIONS, POSITIONS, ROLLS, positions, rolls_of
from nardy_rl.players.gnubg import engine_board

OPENSPIEL, GNUBG = "OpenSpiel", "gnubg-nn"
_MODULES = {OPENSPIEL: "pyspiel", GNUBG: "gnubg_nn"}
_OPENSPIEL_GAMES = 200
_GNUBG_DECISIONS = (DECISIONS[0], 30, 10)


def installed(peer: str) -> bool:
    """Whether this peer can be imported."""
    return importlib.util.find_spec(_MODULES[peer]) is not None


def openspiel_games(repetition: int) -> Callable[[], int]:
    """Whole games between OpenSpiel's random bots, in its own C++ loop: games."""
    import pyspiel

    game = pyspiel.load_game("backgammon(scoring_type=full_scoring)")

    def run() -> int:
        for index in range(_OPENSPIEL_GAMES):
            seed = repetition * _OPENSPIEL_GAMES + index
            bots = [pyspiel.make_uniform_random_bot(seat, 2 * seed + seat) for seat in range(2)]
            pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)
        return _OPENSPIEL_GAMES

    return run


def gnubg_afterstates(repetition: int) -> Callable[[], int]:
    """All plays of all 21 rolls of the same positions as `works.afterstates`: afterstates."""
    import gnubg_nn

    boards = [engine_board(board) for board in positions("short", POSITIONS, repetition)]
    # Where there is no move, it gives an empty tuple and `works.afterstates` the unchanged position.
    return lambda: sum(len(gnubg_nn.moves(board, *roll)) or 1 for board in boards for roll in ROLLS)


def gnubg_decisions(plies: int, repetition: int) -> Callable[[], int]:
    """gnubg's choice for the first positions and rolls of `works.decisions`, new ones for its cache: decisions."""
    import gnubg_nn

    number = _GNUBG_DECISIONS[plies]
    boards = [engine_board(board) for board in positions("short", DECISIONS[plies], repetition)[:number]]
    rolls = rolls_of(number, repetition)

    def run() -> int:
        for board, (first, second) in zip(boards, rolls, strict=True):
            gnubg_nn.best_move(board, first, second, plies)
        return len(boards)

    return run
