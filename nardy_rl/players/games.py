"""Whole games between compiled bots: the one loop in which self-play, evaluation and benchmarks play."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.network.inference import Scratch, new_scratch
from nardy_rl.players.bot import Bot, choose
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import opening_roll, roll
from nardy_rl.rules.kernel import Plays, new_plays
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.position import HEAD, POINTS, Position
from nardy_rl.rules.protocol import Standing, after_play, begin, list_plays, pending_steps, take_dice
from nardy_rl.rules.variant import Variant
from nardy_rl.rules.words import copy_board, unpack

MAX_DECISIONS = 100_000
"""A game of more decisions than this is taken for one that cannot end."""


class Record(NamedTuple):
    """Where a game is written down, decision by decision. With room for 0 of them nothing is."""

    positions: NDArray[np.int8]  # [decisions, 2, 26]: before the roll or segment, row 0 the player who acts
    pending: NDArray[np.int32]  # [decisions]: what he has to play, 0 if he is about to roll (`pending_steps`)
    seats: NDArray[np.int8]  # [decisions]: who he is, 0 or 1
    values: NDArray[np.float32]  # [decisions, outputs]: what the network made of it; not set for a game's first


class Result(NamedTuple):
    """How a game ended. `decisions` is 0 if the record had no room for it, -1 if it passed MAX_DECISIONS."""

    starter_won: bool
    points: int
    decisions: int  # choices of a play: one for each roll, and one for each further segment
    turns: int  # rolls; -1 if it passed MAX_DECISIONS
    passes: int  # rolls of which nothing could be played


class Table(NamedTuple):
    """The room that one thread needs to play: made by `new_table`."""

    plays: Plays
    scratch_a: Scratch
    scratch_b: Scratch
    board: NDArray[np.int8]
    after: NDArray[np.int8]


def new_record(decisions: int, outputs: int) -> Record:
    """Room to write down so many decisions."""
    return Record(
        np.empty((decisions, 2, POINTS), np.int8),
        np.empty(decisions, np.int32),
        np.empty(decisions, np.int8),
        np.empty((decisions, outputs), np.float32),
    )


def new_table(starter: Bot, second: Bot) -> Table:
    """Room for a game between two bots; each thread needs its own."""
    boards = (np.empty((2, POINTS), np.int8) for _ in range(2))
    return Table(new_plays(), new_scratch(starter.net), new_scratch(second.net), *boards)


def start_board(variant: Variant) -> NDArray[np.int8]:
    """The starting position as the kernels take it: int8[2, 26]."""
    return Position.start(variant).board()


@inlined
def offer(
    standing: Standing, board: NDArray[np.int8], dice_key: int, rules: Rules, plays: Plays
) -> tuple[Standing, int, int, int]:
    """Roll if nothing is left to play, and list the plays: (standing, plays, moves in each, die left over).

    board: int8[2, 26], row 0 the player who acts. Roll number t of a game is draw t of the stream `dice_key`, whoever
    rolls; the first is that of the lottery where the variant plays those dice.
    """
    if standing.number == 0:
        rolled = standing.rolls_0 + standing.rolls_1
        first, second = roll(dice_key, rolled)
        if rolled == 0 and rules.lottery_opening:
            first, second = opening_roll(dice_key, 0)
        standing = take_dice(standing, board, first, second, rules, plays)
    size, depth, left_over = list_plays(standing, board, rules, plays)
    return standing, size, depth, left_over


@kernel
def play_game(
    starter: Bot, second: Bot, start: NDArray[np.int8], rules: Rules, dice_key: int, choice_key: int, table: Table,
    record: Record, written: int,
) -> Result:  # fmt: skip
    """Play one game from `start`, int8[2, 26], and write it to `record` from row `written` on. The starter is seat 0.

    Dice come from the stream `dice_key` as `offer` says; decision c has draw c of `choice_key` for a bot's own chance.
    """
    board, after, plays = table.board, table.after, table.plays
    copy_board(start, board)
    room = record.positions.shape[0]
    outputs = record.values.shape[1]
    passes = 0
    standing = begin(0)
    for decision in range(MAX_DECISIONS):
        row = written + decision
        if room:
            if row >= room:
                return Result(False, 0, 0, 0, passes)
            copy_board(board, record.positions[row])
            record.pending[row] = pending_steps(standing)
            record.seats[row] = standing.seat
        rolls = standing.number == 0
        standing, size, depth, left_over = offer(standing, board, dice_key, rules, plays)
        coming = after_play(standing, depth, left_over, 0, rules)
        goes_on = coming.seat == standing.seat
        pending = pending_steps(coming)
        if standing.seat == 0:
            chosen = choose(
                starter, board, plays, size, depth, goes_on, pending, rules, table.scratch_a, choice_key, decision
            )
        else:
            chosen = choose(
                second, board, plays, size, depth, goes_on, pending, rules, table.scratch_b, choice_key, decision
            )
        passes += rolls and depth == 0
        unpack(plays.low[chosen], plays.high[chosen], board, rules, after)
        if after[0, 0] == rules.checkers:
            turns = standing.rolls_0 + standing.rolls_1
            return Result(standing.seat == 0, points_won(after[1], rules), decision + 1, turns, passes)
        if room and row + 1 < room:
            rated = table.scratch_b.probabilities if standing.seat else table.scratch_a.probabilities
            for out in range(outputs):
                record.values[row + 1, out] = rated[chosen, out]
        if coming.number or rules.head_whole_turn:
            coming = after_play(standing, depth, left_over, board[0, HEAD] - after[0, HEAD], rules)
        standing = coming
        mover = 0 if goes_on else 1
        for point in range(POINTS):
            board[0, point], board[1, point] = after[mover, point], after[1 - mover, point]
    return Result(False, 0, -1, -1, passes)
