"""Games in which Python asks an outside player for each decision: `play_game` and its pairs, turn by turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nardy_rl.evaluation.statistics import COLUMNS
from nardy_rl.network.inference import new_scratch
from nardy_rl.players.bot import Bot, choose
from nardy_rl.players.games import MAX_DECISIONS, offer, start_board
from nardy_rl.players.registry import Player
from nardy_rl.rules.dice import stream
from nardy_rl.rules.kernel import Plays, new_plays
from nardy_rl.rules.outcome import points_won, result_class
from nardy_rl.rules.position import HEAD, OFF, POINTS
from nardy_rl.rules.protocol import Standing, after_play, begin, pending_steps
from nardy_rl.rules.variant import Variant
from nardy_rl.rules.words import unpack

_Decide = Callable[[NDArray[np.int8], Plays, int, int, int, Standing, int, int], int]
"""(board, plays, their number, moves in each, die left over, standing, choice key, decision) -> index of a play."""


def outside_pairs(variant: Variant, a: Player, b: Player, seed: int, pairs: range) -> NDArray[np.int32]:
    """Play the pairs of these numbers, of whatever players: int32[pairs, 2, COLUMNS]. As `compiled_pairs` does."""
    games = np.empty((len(pairs), 2, COLUMNS), np.int32)
    decide_a, decide_b = _decider(a, variant), _decider(b, variant)
    plays = new_plays()
    for row, pair in zip(games, pairs, strict=True):
        dice_key = stream(seed, pair)
        row[0] = _play_game(variant, decide_a, decide_b, dice_key, plays)
        row[1] = _play_game(variant, decide_b, decide_a, dice_key, plays)
        row[1, 0] *= -1
    return games


def _play_game(
    variant: Variant, starter: _Decide, second: _Decide, dice_key: int, plays: Plays
) -> tuple[int, int, int, int]:
    """One game: the columns of `statistics`, points for the starter."""
    rules = variant.rules
    choice_key = stream(dice_key, 0)
    board, after = start_board(variant), np.empty((2, POINTS), np.int8)
    passes = 0
    standing = begin(0)
    for decision in range(MAX_DECISIONS):
        rolls = standing.number == 0
        standing, size, depth, left_over = offer(standing, board, dice_key, rules, plays)
        passes += rolls and depth == 0
        decide = second if standing.seat else starter
        chosen = decide(board, plays, size, depth, left_over, standing, choice_key, decision)
        unpack(plays.low[chosen], plays.high[chosen], board, rules, after)
        if after[0, OFF] == rules.checkers:
            points = points_won(after[1], rules)
            turns = standing.rolls_0 + standing.rolls_1
            return -points if standing.seat else points, result_class(after[1], rules), turns, passes
        coming = after_play(standing, depth, left_over, int(board[0, HEAD] - after[0, HEAD]), rules)
        board[:] = after if coming.seat == standing.seat else after[::-1]
        standing = coming
    return 0, 0, -1, passes


def _decider(player: Player, variant: Variant) -> _Decide:
    """A player as a function that chooses: see `_Decide`."""
    rules = variant.rules
    if not isinstance(player, Bot):

        def ask(
            board: NDArray[np.int8], plays: Plays, size: int, depth: int, left_over: int, standing: Standing, key: int,
            decision: int,
        ) -> int:  # fmt: skip
            return player.choose(board, plays, size, (standing.first, standing.second or standing.first))

        return ask
    bot, scratch = player, new_scratch(player.net)

    def decide(
        board: NDArray[np.int8], plays: Plays, size: int, depth: int, left_over: int, standing: Standing, key: int,
        decision: int,
    ) -> int:  # fmt: skip
        coming = after_play(standing, depth, left_over, 0, rules)
        goes_on = coming.seat == standing.seat
        return choose(bot, board, plays, size, depth, goes_on, pending_steps(coming), rules, scratch, key, decision)

    return decide
