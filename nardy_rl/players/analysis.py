"""What a network bot thinks of a position, and of the plays of a roll."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_rl.network.fast_net import new_scratch
from nardy_rl.network.inference import change_sides, equity_of, rate
from nardy_rl.players.bot import Bot, choose, is_network
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.plays import Play, legal_plays, standing_before
from nardy_rl.rules.position import OFF, POINTS, Position
from nardy_rl.rules.protocol import Standing, after_play, list_plays, take_dice
from nardy_rl.rules.variant import Variant
from nardy_rl.search.bearoff import both_home, rate_ending
from nardy_rl.search.lookahead import look_ahead, new_room, play_on


@dataclass(frozen=True, eq=False)
class RatedPlay:
    """A play as the mover sees it, and where it leads."""

    play: Play
    equity: float
    """Of the mover, in points."""
    probabilities: NDArray[np.float32]
    """float32[outputs]: the mover's, nested as a network's."""
    plies: int
    """How many rolls ahead this was seen: of the plays that a bot with look-ahead dismisses, fewer."""
    board: NDArray[np.int8]
    """int8[2, 26] after it, row 0 the player who acts next …"""
    coming: Standing
    """… as this says; after a win it means nothing."""


def rank_plays(
    bot: Bot, variant: Variant, position: Position, dice: tuple[int, int], first_turn: str | None = None
) -> list[RatedPlay]:
    """All plays of a roll as a network bot rates them, its choice first: the further a play was seen, the further up.

    Arguments and errors as for `legal_plays`.
    """
    _demand_network(bot)
    legal = legal_plays(variant, position, dice, first_turn)
    rules, board, plays = variant.rules, position.board(), new_plays()
    scratch, room = new_scratch(bot.rater.net), new_room(bot.rater.net)
    standing = take_dice(standing_before(first_turn, rules), board, *dice, rules, plays)
    size, depth, left_over = list_plays(standing, board, rules, plays)
    coming = after_play(standing, depth, left_over, 0, rules)
    seen = np.zeros(size, np.int64)
    for plies in range(bot.plies + 1):
        before = scratch.equities[:size].copy()
        nearer = bot._replace(plies=plies)
        chosen = choose(nearer, board, standing, coming, plays, size, depth, left_over, rules, scratch, room, 0, 0)
        if plies:  # what is not looked at is rated as before
            seen[scratch.equities[:size] != before] = plies
    seen[(plays.low[:size] & 15) == rules.checkers] = bot.plies  # a won game is seen to its end
    rated = []
    for index, play in enumerate(legal):
        after = position.board()
        follows = play_on(standing, after, plays, index, depth, left_over, rules, np.empty((2, POINTS), np.int8))
        mine = follows.seat == standing.seat and play.after.array[0, OFF] != rules.checkers
        outcome = scratch.probabilities[index].copy() if mine else other_side(scratch.probabilities[index])
        rated.append(RatedPlay(play, float(scratch.equities[index]), outcome, int(seen[index]), after, follows))
    choice = rated.pop(chosen)
    return [choice, *sorted(rated, key=lambda rating: (-rating.plies, -rating.equity))]


def rate_position(
    bot: Bot, variant: Variant, position: Position, first_turn: str | None = None
) -> tuple[float, NDArray[np.float32]]:
    """The equity in points and the nested probabilities float32[outputs] of row 0, who is about to roll.

    Errors as for `legal_plays`.
    """
    _demand_network(bot)
    legal_plays(variant, position, (2, 1), first_turn)  # raises, whatever the dice, if nobody can roll here
    board, outcome, net = position.board(), np.zeros(variant.outputs, np.float32), bot.rater.net
    if len(bot.rater.endings.turns) and both_home(board):
        return float(rate_ending(bot.rater.endings, board, outcome)), outcome
    if not bot.plies:
        return float(rate(net, board, 0, new_scratch(net), outcome)), outcome
    standing = standing_before(first_turn, variant.rules)
    look_ahead(bot.rater, board, standing, bot.plies, variant.rules, new_room(net), outcome)
    return float(equity_of(net, outcome)), outcome


def first_rolls(variant: Variant) -> list[tuple[int, int]]:
    """The rolls a game can begin with, larger die first: 15 if the lottery's dice are played, else 21."""
    least = 1 if variant.opening == "use_lottery" else 0
    return [(larger, smaller) for larger in range(6, 0, -1) for smaller in range(larger - least, 0, -1)]


def best_opening(bot: Bot, variant: Variant, dice: tuple[int, int]) -> RatedPlay:
    """The bot's play for the first roll of a game."""
    return rank_plays(bot, variant, Position.start(variant), dice, "starter")[0]


def other_side(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Nested probabilities float32[outputs] as the other player sees them."""
    changed = np.empty_like(probabilities)
    change_sides(probabilities, (len(probabilities) + 1) // 2, changed)
    return changed


def _demand_network(bot: Bot) -> None:
    if not is_network(bot):
        raise ValueError("only a network rates positions and plays")
