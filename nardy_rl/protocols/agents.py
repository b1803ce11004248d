"""A bot as an agent in the environments of `nardy_rl.envs`, the Gymnasium one and the PettingZoo one alike.

agent = load_agent("my_bot")
action = agent.act(observation, info)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nardy_rl.players.registry import Player
from nardy_rl.protocols.mind import Mind, load_bot
from nardy_rl.rules.game import Game
from nardy_rl.rules.position import POINTS, Position
from nardy_rl.rules.variant import Variant


class Agent:
    """A bot that plays whichever seat it is asked for. `variant` must be that of the environment."""

    def __init__(self, player: Player, rules: Variant) -> None:
        self.variant = rules
        self._mind = Mind(player, rules)

    def act(self, observation: Mapping[str, Any], info: Mapping[str, Any]) -> int:
        """The bot's action for what `NardyEnv.step` and `reset`, or `NardyAEC.last`, gave who has to act.

        Raises ValueError if there is nothing to play, or other plays are legal there than by the bot's rules.
        """
        if not len(info.get("moves", ())):
            raise ValueError("nothing can be played here: the game is finished, or the other has to act")
        seen = observation["position"] if "position" in observation else observation["observation"][:, :POINTS]
        game = Game(self.variant, 0, 0, Position(seen), info["standing"])
        if [play.moves for play in game.plays] != list(info["moves"]):
            raise ValueError(f"the environment plays by other rules than the bot, whose variant is {self.variant.name}")
        return self._mind.choose(game)


def load_agent(name: str) -> Agent:
    """The agent of a bundle, checkpoint or name; raises ValueError as `registry.load_player` does."""
    return Agent(*load_bot(name))
