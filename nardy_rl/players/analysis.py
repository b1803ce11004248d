"""What a bot thinks of a roll: its plays in order of liking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_rl.network.inference import new_scratch, rate_plays
from nardy_rl.players.bot import NETWORK, Bot
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.plays import FIRST_TURNS, Play, legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.protocol import after_play, generate, pending_steps
from nardy_rl.rules.variant import Variant


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
    plays = legal_plays(variant, position, dice, first_turn)
    rules, room, scratch, board = variant.rules, new_plays(), new_scratch(bot.net), position.board()
    standing, size, depth, left_over = generate(board, *dice, FIRST_TURNS[first_turn], rules, room)
    coming = after_play(standing, depth, left_over, 0, rules)
    rate_plays(bot.net, board, room, size, depth, coming.seat == standing.seat, pending_steps(coming), rules, scratch)
    rated = [
        RatedPlay(play, float(scratch.equities[index]), scratch.probabilities[index].copy())
        for index, play in enumerate(plays)
    ]
    return sorted(rated, key=lambda rating: -rating.equity)
