"""Both seats as a PettingZoo environment: two agents who take turns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo import AECEnv

from nardy_rl.envs.gym_env import PENDING, action_mask, as_variant, check_render_mode, draw_game, next_stream, observe
from nardy_rl.rules.game import Game
from nardy_rl.rules.kernel import MAX_PLAYS
from nardy_rl.rules.position import POINTS
from nardy_rl.rules.variant import Variant

_AGENTS = ("player_0", "player_1")


class NardyAEC(AECEnv):
    """A game of a variant between `player_0` and `player_1`; the lottery decides who begins.

    A step is one decision of `Game`, so that an agent may act several times in a row. An agent observes `action_mask`,
    int8[MAX_PLAYS], 1 for its legal plays, and `observation`, int8[2, 34]:

    - columns 0…25: the position with itself in row 0 (see `Position`);
    - column 26: the `dice` of `nardy_rl.envs.gym_env.observation_space`, larger in row 0, zeros while the other acts;
    - columns 27…33: `pending` likewise, of itself in row 0, of the other in row 1; who does not act has zeros.

    An action is the index of a legal play; its info holds the `afterstates`, int8[n, 2, 26], and the `moves` of the n
    plays, and `standing`, how the turn stands (see `nardy_rl.rules.protocol.Standing`). Rewards are the points won and
    lost at the end, zero-sum.

    variant: a preset's name or a `Variant`. `reset` takes no options.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "nardy_v0",
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(self, variant: str | Variant = "long", render_mode: str | None = None) -> None:
        super().__init__()
        self.variant = as_variant(variant)
        self.render_mode = check_render_mode(render_mode)
        self.possible_agents = list(_AGENTS)
        self.observation_spaces = {
            agent: Dict(
                {
                    "observation": Box(0, 15, (2, POINTS + 1 + PENDING), np.int8),
                    "action_mask": Box(0, 1, (MAX_PLAYS,), np.int8),
                }
            )
            for agent in _AGENTS
        }
        self.action_spaces = {agent: Discrete(MAX_PLAYS) for agent in _AGENTS}
        self._game: Game | None = None

    @property
    def game(self) -> Game:
        """The game in progress; seat 0 is `player_0`. Raises ValueError before the first reset."""
        if self._game is None:
            raise ValueError("no game has begun: call reset first")
        return self._game

    def observation_space(self, agent: str) -> Dict:
        """The space of what `agent` observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """The space of `agent`'s actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game. Without a seed it goes on drawing where the last one stopped. There are no options."""
        self._game = Game.begin(self.variant, *next_stream(self._game, seed, np.random.default_rng()))
        self.agents = list(_AGENTS)
        self.rewards = dict.fromkeys(_AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(_AGENTS, 0.0)
        self.terminations = dict.fromkeys(_AGENTS, False)
        self.truncations = dict.fromkeys(_AGENTS, False)
        self.agent_selection = _AGENTS[self._game.seat]
        self._tell()

    def step(self, action: Any) -> None:
        """Play action number `action` for the agent who acts; None for one whose game is over.

        Raises ValueError for an action that is not legal.
        """
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        game = self.game
        agent = self.agent_selection
        game.play(action)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {name: game.reward(seat) for seat, name in enumerate(_AGENTS)}
        self.terminations = dict.fromkeys(_AGENTS, game.finished)
        self._accumulate_rewards()
        # At the end it is the loser whom the caller asks first.
        self.agent_selection = _AGENTS[1 - game.seat if game.finished else game.seat]
        self._tell()

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """What `agent` observes now, whether it acts or not (see the class)."""
        seat = _AGENTS.index(agent)
        seen, others = observe(self.game, seat), self.game.pending(1 - seat)
        pending = np.stack([seen["pending"], others])
        acts = self.game.seat == seat
        return {
            "observation": np.concatenate([seen["position"], seen["dice"][:, None], pending], axis=1),
            "action_mask": action_mask(len(self.game.plays) if acts else 0),
        }

    def render(self) -> Any:
        """The board from the seat of `player_0` (X): a text ("ansi") or uint8[H, W, 3] ("rgb_array")."""
        return draw_game(self.game, self.render_mode)

    def close(self) -> None:
        """Nothing is held that needs closing."""

    def _tell(self) -> None:
        """Renew the infos: the plays for the agent who acts, nothing for the other."""
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in _AGENTS}
        plays = self.game.plays
        if plays:
            self.infos[self.agent_selection] = {
                "afterstates": np.array([play.after.array for play in plays], np.int8),
                "moves": [play.moves for play in plays],
                "standing": self.game.standing,
            }
