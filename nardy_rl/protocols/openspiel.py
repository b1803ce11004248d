"""A bot for OpenSpiel's backgammon, as `open_spiel.python.algorithms.evaluate_bots` and others play it.

bot = openspiel.load("my_bot")
returns = evaluate_bots(state, [bot, other], np.random)
"""

from __future__ import annotations

from typing import Any

from nardy_rl.players.bot import Bot
from nardy_rl.players.registry import Player
from nardy_rl.protocols.boards import check_short, openspiel_position, parse_openspiel_turn, position_after
from nardy_rl.protocols.mind import Mind, half_double, load_bot
from nardy_rl.rules.game import Game
from nardy_rl.rules.variant import Variant

try:
    import pyspiel
except ImportError:
    raise ImportError("bots for OpenSpiel need the package open-spiel: pip install open-spiel") from None

_MOVES = 2  # of one action


class OpenSpielBot(pyspiel.Bot):
    """A compiled bot, on either seat; it keeps nothing from one decision to the next.

    Raises ValueError for a variant other than short, and for a player that only knows whole turns (gnubg, pubeval).
    """

    def __init__(self, player: Player, rules: Variant) -> None:
        super().__init__()
        check_short(rules, "OpenSpiel")
        if not isinstance(player, Bot):
            raise ValueError("gnubg and pubeval play whole turns, not the half doubles of OpenSpiel")
        self._mind = Mind(player, rules)

    def step(self, state: Any) -> int:
        """The bot's action in a `pyspiel.BackgammonState`. Raises ValueError if that is no decision in backgammon."""
        turn = parse_openspiel_turn(state)
        actions: list[int] = state.legal_actions()
        if len(actions) == 1:
            return actions[0]
        if turn.second_half:
            game = half_double(self._mind.variant, turn.position, turn.dice[0])
        else:
            game = Game.from_position(self._mind.variant, turn.position, 0, dice=turn.dice)
        moves = game.plays[self._mind.choose(game)].moves
        wanted = position_after(turn.position, moves[:_MOVES])
        mover = state.current_player()
        for action in actions:
            # Several actions lead to one position; which of them is played is the same.
            if openspiel_position(state.child(action), mover) == wanted:
                return action
        raise ValueError(f"no action of OpenSpiel's leads to {wanted}")

    def restart(self) -> None:
        """A new game begins: there is nothing to forget."""

    def restart_at(self, state: Any) -> None:
        """A game goes on from `state`: there is nothing to forget."""


def load(name: str) -> OpenSpielBot:
    """The bot of a bundle, checkpoint or name; raises ValueError as `registry.load_player` and `OpenSpielBot` do."""
    return OpenSpielBot(*load_bot(name))
