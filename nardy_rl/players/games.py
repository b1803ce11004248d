"""Whole games between compiled bots: the one loop in which self-play, evaluation and benchmarks play."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.network.inference import Scratch, new_scratch
from nardy_rl.players.bot import Bot, choose
from nardy_rl.rules.dice import opening_roll, roll
from nardy_rl.rules.kernel import LATER, SECOND, STARTER, Plays, generate, new_plays
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.position import POINTS, Position
from nardy_rl.rules.variant import Rules, Variant
from nardy_rl.rules.words import unpack

MAX_TURNS = 100_000
"""A game of more turns than this is taken for one that cannot end."""


class Record(NamedTuple):
    """Where a game is written down, turn by turn. With room for 0 turns nothing is."""

    positions: NDArray[np.int8]  # [turns, 2, 26]: before the roll, row 0 on roll
    values: NDArray[np.float32]  # [turns, outputs]: what the network made of it; not set for a game's first turn


class Result(NamedTuple):
    """How a game ended. `turns` is 0 if the record had no room for it, -1 if it passed MAX_TURNS."""

    starter_won: bool
    points: int
    turns: int
    passes: int


class Table(NamedTuple):
    """The room that one thread needs to play: made by `new_table`."""

    plays: Plays
    scratch_a: Scratch
    scratch_b: Scratch
    board: NDArray[np.int8]
    after: NDArray[np.int8]


def new_record(turns: int, outputs: int) -> Record:
    """Room to write down `turns` turns."""
    return Record(np.empty((turns, 2, POINTS), np.int8), np.empty((turns, outputs), np.float32))


def new_table(starter: Bot, second: Bot) -> Table:
    """Room for a game between two bots; each thread needs its own."""
    boards = (np.empty((2, POINTS), np.int8) for _ in range(2))
    return Table(new_plays(), new_scratch(starter.net), new_scratch(second.net), *boards)


def start_board(variant: Variant) -> NDArray[np.int8]:
    """The starting position as the kernels take it: int8[2, 26]."""
    return Position.start(variant).board()


@inlined
def _copy(source: NDArray[np.int8], target: NDArray[np.int8]) -> None:
    for row in range(2):
        for point in range(POINTS):
            target[row, point] = source[row, point]


@kernel
def offer(board: NDArray[np.int8], turn: int, dice_key: int, rules: Rules, plays: Plays) -> tuple[int, int, int, int]:
    """Roll for a turn and list its plays: (first die, second die, plays, moves in each).

    board: int8[2, 26], row 0 on roll. Draw `turn` of the stream `dice_key` is the roll, whoever plays; in turn 0 it is
    that of the lottery where the variant plays those dice.
    """
    first, second = roll(dice_key, turn)
    if turn == 0 and rules.lottery_opening:
        first, second = opening_roll(dice_key, 0)
    phase = LATER if turn > 1 else (STARTER if turn == 0 else SECOND)
    size, depth, _ = generate(board, first, second, phase, rules, plays)
    return first, second, size, depth


@kernel
def play_game(
    starter: Bot, second: Bot, start: NDArray[np.int8], rules: Rules, dice_key: int, choice_key: int, table: Table,
    record: Record, written: int,
) -> Result:  # fmt: skip
    """Play one game from `start`, int8[2, 26], and write it to `record` from row `written` on.

    Dice come from the stream `dice_key` as `offer` says, a bot's own chance likewise from `choice_key`.
    """
    board, after = table.board, table.after
    _copy(start, board)
    room = record.positions.shape[0]
    outputs = record.values.shape[1]
    passes = 0
    for turn in range(MAX_TURNS):
        if room:
            if written + turn >= room:
                return Result(False, 0, 0, passes)
            _copy(board, record.positions[written + turn])
        _, _, size, depth = offer(board, turn, dice_key, rules, table.plays)
        if turn & 1:
            chosen = choose(second, board, table.plays, size, depth, rules, table.scratch_b, choice_key, turn)
        else:
            chosen = choose(starter, board, table.plays, size, depth, rules, table.scratch_a, choice_key, turn)
        passes += depth == 0
        unpack(table.plays.low[chosen], table.plays.high[chosen], board, rules, after)
        if after[0, 0] == rules.checkers:
            return Result(turn & 1 == 0, points_won(after[1], rules), turn + 1, passes)
        if room and written + turn + 1 < room:
            rated = table.scratch_b.probabilities if turn & 1 else table.scratch_a.probabilities
            for out in range(outputs):
                record.values[written + turn + 1, out] = rated[chosen, out]
        for point in range(POINTS):
            board[0, point], board[1, point] = after[1, point], after[0, point]
    return Result(False, 0, -1, passes)
