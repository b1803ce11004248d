"""Whole games between compiled bots: the one loop in which self-play, evaluation and benchmarks play."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.network.fast_net import Scratch, new_scratch
from nardy_rl.players.bot import Bot, choose
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import game_roll
from nardy_rl.rules.kernel import Plays, new_plays
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.position import POINTS, Position
from nardy_rl.rules.protocol import Standing, after_play, begin, list_plays, pending_steps, take_dice
from nardy_rl.rules.variant import Variant
from nardy_rl.rules.words import copy_board, unpack
from nardy_rl.search.bearoff import Endings, both_home, sample_ending
from nardy_rl.search.lookahead import Room, new_room, play_on

MAX_DECISIONS = 100_000
"""A game of more decisions than this is taken for one that cannot end."""


class Record(NamedTuple):
    """Where a game is written down, decision by decision. With room for 0 of them nothing is, nor are plays, which take
    a room of their own."""

    positions: NDArray[np.int8]  # [decisions, 2, 26]: before the roll or segment, row 0 the player who acts
    pending: NDArray[np.int32]  # [decisions]: what he has to play, 0 if he is about to roll (`pending_steps`)
    seats: NDArray[np.int8]  # [decisions]: who he is, 0 or 1
    values: NDArray[np.float32]  # [decisions, outputs]: what the network made of it; not set for a game's first
    exact: NDArray[np.bool_]  # [decisions]: whether that is from the bear-off tables
    dice: NDArray[np.int8]  # [decisions, 3]: `first`, `second` and `number` of the `Standing` that was played
    moves: NDArray[np.int64]  # [decisions]: the play, as `kernel.Plays` packs it


class Result(NamedTuple):
    """How a game ended. `decisions` is 0 if the record had no room for it, `turns` is -1 if it was broken off."""

    starter_won: bool
    points: int
    decisions: int  # rows of the record: one for each roll, and one for each further segment
    turns: int  # rolls
    passes: int  # rolls of which nothing could be played


class Table(NamedTuple):
    """The room that one thread needs to play: made by `new_table`."""

    plays: Plays
    scratch_a: Scratch
    scratch_b: Scratch
    room_a: Room
    room_b: Room
    board: NDArray[np.int8]
    after: NDArray[np.int8]


def new_record(decisions: int, outputs: int, plays: bool = False) -> Record:
    """Room to write down so many decisions, and if asked what was played."""
    return Record(
        np.empty((decisions, 2, POINTS), np.int8),
        np.empty(decisions, np.int32),
        np.empty(decisions, np.int8),
        np.empty((decisions, outputs), np.float32),
        np.zeros(decisions, np.bool_),
        np.empty((decisions * plays, 3), np.int8),
        np.empty(decisions * plays, np.int64),
    )


def new_table(starter: Bot, second: Bot) -> Table:
    """Room for a game between two bots; each thread needs its own."""
    one, other = starter.rater.net, second.rater.net
    boards = (np.empty((2, POINTS), np.int8) for _ in range(2))
    return Table(new_plays(), new_scratch(one), new_scratch(other), new_room(one), new_room(other), *boards)


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
        first, second = game_roll(dice_key, standing.rolls_0 + standing.rolls_1, rules.lottery_opening)
        standing = take_dice(standing, board, first, second, rules, plays)
    size, depth, left_over = list_plays(standing, board, rules, plays)
    return standing, size, depth, left_over


@inlined
def _is_known(endings: Endings, board: NDArray[np.int8], standing: Standing) -> bool:
    return endings.turns.shape[0] > 0 and standing.number == 0 and both_home(board)


@kernel
def play_game(
    starter: Bot, second: Bot, start: NDArray[np.int8], rules: Rules, dice_key: int, choice_key: int, longest: int,
    to_end: bool, table: Table, record: Record, written: int,
) -> Result:  # fmt: skip
    """Play one game from `start`, int8[2, 26], and write it to `record` from row `written` on. The starter is seat 0.

    Dice come from the stream `dice_key` as `offer` says; decision c has draw c of `choice_key` for a bot's own chance.
    Unless played `to_end`, a game stops where the bear-off tables of the starter know it: what is missing of its result
    is drawn from them, and its last row is that position. After `longest` decisions it is broken off.
    """
    board, after, plays = table.board, table.after, table.plays
    copy_board(start, board)
    room = record.positions.shape[0]
    outputs = record.values.shape[1]
    passes = 0
    standing = begin(0)
    for decision in range(longest):
        row = written + decision
        if room:
            if row >= room:
                return Result(False, 0, 0, 0, passes)
            copy_board(board, record.positions[row])
            record.pending[row] = pending_steps(standing)
            record.seats[row] = standing.seat
            known = decision > 0 and _is_known(starter.rater.endings, board, standing)
            record.exact[row] = known
            if known and not to_end:
                rolled = standing.rolls_0 + standing.rolls_1
                won, points, more = sample_ending(starter.rater.endings, board, dice_key, rolled)
                return Result(won == (standing.seat == 0), points, decision + 1, rolled + more, passes)
        rolls = standing.number == 0
        standing, size, depth, left_over = offer(standing, board, dice_key, rules, plays)
        coming = after_play(standing, depth, left_over, 0, rules)
        if standing.seat == 0:
            chosen = choose(
                starter, board, standing, coming, plays, size, depth, left_over, rules, table.scratch_a, table.room_a,
                choice_key, decision,
            )  # fmt: skip
        else:
            chosen = choose(
                second, board, standing, coming, plays, size, depth, left_over, rules, table.scratch_b, table.room_b,
                choice_key, decision,
            )  # fmt: skip
        passes += rolls and depth == 0
        if len(record.moves):
            record.dice[row, 0] = standing.first
            record.dice[row, 1] = standing.second
            record.dice[row, 2] = standing.number
            record.moves[row] = plays.moves[chosen]
        unpack(plays.low[chosen], plays.high[chosen], board, rules, after)
        if after[0, 0] == rules.checkers:
            turns = standing.rolls_0 + standing.rolls_1
            return Result(standing.seat == 0, points_won(after[1], rules), decision + 1, turns, passes)
        if room and row + 1 < room:
            rated = table.scratch_b.probabilities if standing.seat else table.scratch_a.probabilities
            for out in range(outputs):
                record.values[row + 1, out] = rated[chosen, out]
        standing = play_on(standing, board, plays, chosen, depth, left_over, rules, after)
    return Result(False, 0, longest, -1, passes)
