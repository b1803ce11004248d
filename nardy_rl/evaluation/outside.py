"""Games in which Python asks an outside player for each decision: `play_game` and its pairs, turn by turn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nardy_rl.evaluation.statistics import COLUMNS
from nardy_rl.network.inference import new_scratch
from nardy_rl.players.bot import Bot, choose
from nardy_rl.players.games import MAX_TURNS, offer, start_board
from nardy_rl.players.registry import Player
from nardy_rl.rules.dice import stream
from nardy_rl.rules.kernel import Plays, new_plays
from nardy_rl.rules.outcome import points_won, result_class
from nardy_rl.rules.position import OFF, POINTS
from nardy_rl.rules.variant import Variant
from nardy_rl.rules.words import unpack

_Decide = Callable[[NDArray[np.int8], Plays, int, int, tuple[int, int], int, int], int]


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
    for turn in range(MAX_TURNS):
        first, other, size, depth = offer(board, turn, dice_key, rules, plays)
        passes += depth == 0
        decide = second if turn & 1 else starter
        chosen = decide(board, plays, size, depth, (first, other), choice_key, turn)
        unpack(plays.low[chosen], plays.high[chosen], board, rules, after)
        if after[0, OFF] == rules.checkers:
            points = points_won(after[1], rules)
            return -points if turn & 1 else points, result_class(after[1], rules), turn + 1, passes
        board[:] = after[::-1]
    return 0, 0, -1, passes


def _decider(player: Player, variant: Variant) -> _Decide:
    """A player as a function (board, plays, size, depth, dice, choice key, turn) -> index of a play."""
    if not isinstance(player, Bot):
        return lambda board, plays, size, depth, dice, key, turn: player.choose(board, plays, size, dice)
    bot, rules, scratch = player, variant.rules, new_scratch(player.net)
    return lambda board, plays, size, depth, dice, key, turn: choose(
        bot, board, plays, size, depth, rules, scratch, key, turn
    )
