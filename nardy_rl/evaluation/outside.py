"""Games in which Python asks an outside player for each decision: `play_game` and its pairs, turn by turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nardy_rl.evaluation.kept import Columns, kept_game
from nardy_rl.evaluation.luck import game_luck
from nardy_rl.evaluation.statistics import Games, new_games
from nardy_rl.network.fast_net import new_scratch
from nardy_rl.players.bot import Bot, choose
from nardy_rl.players.games import MAX_DECISIONS, offer, start_board
from nardy_rl.players.registry import Player
from nardy_rl.rules.dice import stream
from nardy_rl.rules.kernel import Plays, new_plays
from nardy_rl.rules.outcome import points_won, result_class
from nardy_rl.rules.position import OFF, POINTS
from nardy_rl.rules.protocol import Standing, after_play, begin, pending_steps
from nardy_rl.rules.variant import Variant
from nardy_rl.rules.words import unpack
from nardy_rl.search.lookahead import ROLLS, new_room, play_on
from nardy_rl.search.rater import Rater

Decide = Callable[[NDArray[np.int8], Plays, int, int, int, Standing, int, int], int]
"""(board, plays, their number, moves in each, die left over, standing, choice key, decision) -> index of a play."""


def outside_pairs(
    variant: Variant, a: Player, b: Player, judge: Rater | None, seed: int, kept: bool, pairs: range
) -> Games:
    """Play the pairs of these numbers, of whatever players. As `compiled_pairs` does."""
    games, luck, played = new_games(len(pairs))
    deciders = decider(a, variant), decider(b, variant)
    plays, equities = new_plays(), np.zeros(ROLLS, np.float32)
    room = new_room(judge.net) if judge else None
    for index, pair in enumerate(pairs):
        dice_key = stream(seed, pair)
        for second, (starter, other) in enumerate((deciders, deciders[::-1])):
            game = GameLog()
            row = play_asked(variant, starter, other, dice_key, plays, game)
            sign = -1 if second else 1
            games[index, second] = sign * row[0], *row[1:]
            if kept:
                columns = Columns(game.pending, game.seats, game.dice, game.moves)
                played.append(kept_game(variant, columns, second, games[index, second]))
            if judge and room:
                luck[index, second] = sign * game_luck(judge, *game.arrays(), dice_key, variant.rules, room, equities)
    return Games(games, luck, played)


@dataclass(frozen=True)
class GameLog:
    """A game's decisions: see `players.games.Record`."""

    positions: list[NDArray[np.int8]] = field(default_factory=list)
    pending: list[int] = field(default_factory=list)
    seats: list[int] = field(default_factory=list)
    dice: list[tuple[int, int, int]] = field(default_factory=list)
    moves: list[int] = field(default_factory=list)

    def arrays(self) -> tuple[NDArray[np.int8], NDArray[np.int32], NDArray[np.int8]]:
        """What luck is judged by."""
        return np.array(self.positions), np.array(self.pending, np.int32), np.array(self.seats, np.int8)


def play_asked(
    variant: Variant, starter: Decide, second: Decide, dice_key: int, plays: Plays, game: GameLog
) -> tuple[int, int, int, int]:
    """One game on dice of stream `dice_key`, written down in `game`: the columns of `statistics`, points for the
    starter."""
    rules = variant.rules
    choice_key = stream(dice_key, 0)
    board, after = start_board(variant), np.empty((2, POINTS), np.int8)
    passes = 0
    standing = begin(0)
    for decision in range(MAX_DECISIONS):
        game.positions.append(board.copy())
        game.pending.append(pending_steps(standing))
        game.seats.append(standing.seat)
        rolls = standing.number == 0
        standing, size, depth, left_over = offer(standing, board, dice_key, rules, plays)
        passes += rolls and depth == 0
        decide = second if standing.seat else starter
        chosen = decide(board, plays, size, depth, left_over, standing, choice_key, decision)
        game.dice.append((standing.first, standing.second, standing.number))
        game.moves.append(int(plays.moves[chosen]))
        unpack(plays.low[chosen], plays.high[chosen], board, rules, after)
        if after[0, OFF] == rules.checkers:
            points = points_won(after[1], rules)
            turns = standing.rolls_0 + standing.rolls_1
            return -points if standing.seat else points, result_class(after[1], rules), turns, passes
        standing = play_on(standing, board, plays, chosen, depth, left_over, rules, after)
    return 0, 0, -1, passes


def decider(player: Player, variant: Variant) -> Decide:
    """A player as a function that chooses: see `Decide`."""
    rules = variant.rules
    if not isinstance(player, Bot):

        def ask(
            board: NDArray[np.int8], plays: Plays, size: int, depth: int, left_over: int, standing: Standing, key: int,
            decision: int,
        ) -> int:  # fmt: skip
            return player.choose(board, plays, size, (standing.first, standing.second or standing.first))

        return ask
    bot, scratch, room = player, new_scratch(player.rater.net), new_room(player.rater.net)

    def decide(
        board: NDArray[np.int8], plays: Plays, size: int, depth: int, left_over: int, standing: Standing, key: int,
        decision: int,
    ) -> int:  # fmt: skip
        coming = after_play(standing, depth, left_over, 0, rules)
        return choose(bot, board, standing, coming, plays, size, depth, left_over, rules, scratch, room, key, decision)

    return decide
