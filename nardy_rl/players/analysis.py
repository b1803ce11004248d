"""What a bot thinks of a roll: its plays in order of liking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_rl.network.inference import new_scratch
from nardy_rl.players.bot import NETWORK, Bot, choose
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.plays import FIRST_TURNS, Play, legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.protocol import after_play, generate
from nardy_rl.rules.variant import Variant
from nardy_rl.search.lookahead import new_room


@dataclass(frozen=True)
class RatedPlay:
    """A play with the mover's equity in points, and float32[outputs]: the nested probabilities after
    it of the player who acts next."""

    play: Play
    equity: float
    probabilities: NDArray[np.float32]


def rank_plays(
    bot: Bot, variant: Variant, position: Position, dice: tuple[int, int], first_turn: str | None = None
) -> list[RatedPlay]:
    """All plays of a roll as a network bot rates them, the best first. Arguments and errors as for `legal_plays`."""
    if bot.kind != NETWORK:
        raise ValueError("only a network rates plays")
    legal = legal_plays(variant, position, dice, first_turn)
    rules, board, plays = variant.rules, position.board(), new_plays()
    scratch, room = new_scratch(bot.rater.net), new_room(bot.rater.net)
    standing, size, depth, left_over = generate(board, *dice, FIRST_TURNS[first_turn], rules, plays)
    coming = after_play(standing, depth, left_over, 0, rules)
    choose(bot, board, standing, coming, plays, size, depth, left_over, rules, scratch, room, 0, 0)
    rated = [
        RatedPlay(play, float(scratch.equities[index]), scratch.probabilities[index].copy())
        for index, play in enumerate(legal)
    ]
    return sorted(rated, key=lambda rating: -rating.equity)
