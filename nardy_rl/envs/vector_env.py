"""Many games at once: `gymnasium.make_vec("nardy_rl/Nardy-v0", num_envs=n, variant=…)`, one compiled call a step."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Dict
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from nardy_rl.envs.gym_env import PENDING, PlaySpace, as_variant, observation_space
from nardy_rl.envs.vector_kernel import STANDING, Choices, Games, begin_all, step_all, unpack_all
from nardy_rl.rules.dice import stream
from nardy_rl.rules.kernel import MAX_PLAYS, new_plays
from nardy_rl.rules.position import POINTS, Position
from nardy_rl.rules.variant import Variant

Observations = dict[str, NDArray[np.int8]]


class NardyVectorEnv(VectorEnv[Observations, NDArray[np.int64], NDArray[Any]]):
    """`num_envs` games of `NardyEnv`, each against the random opponent.

    It is what `make_vec` makes unless told otherwise; Gymnasium's own sync and async vectors of `NardyEnv` fail,
    because they stack only infos of one length, and rolls differ in their number of plays.

    Game i draws its dice from stream (seed, i): with one and the same seed, game 0 is that of `NardyEnv`. A step is one
    decision of each learner and all that his opponent plays before the next. Observations are those of `NardyEnv`:
    `position` int8[n, 2, 26], `dice` int8[n, 2] and `pending` int8[n, 7]. `info` holds, ragged,

    - `afterstates`: int8[total, 2, 26], the learner still in row 0;
    - `offsets`: int64[n + 1]; action a of game i leads to afterstates[offsets[i] + a], so it has
      offsets[i + 1] - offsets[i] actions: none if it has finished and its next step begins a new game.

    autoreset_mode: NEXT_STEP, where the step after the end begins the next game, its action unread, its reward 0; or
    SAME_STEP, where it begins at once and `info` holds the last observation in `final_obs` (see Gymnasium).
    Raises ValueError for an unknown variant, mode or opponent, a render mode, or no envs at all.
    """

    def __init__(
        self,
        num_envs: int = 1,
        variant: str | Variant = "long",
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        opponent: str = "random",
        render_mode: None = None,
    ) -> None:
        if opponent != "random" or render_mode is not None:
            raise ValueError(
                f"the vector env has the random opponent and draws nothing, not opponent={opponent!r} "
                f"render_mode={render_mode!r}; NardyEnv has a choice of both"
            )
        mode = AutoresetMode(autoreset_mode)
        if mode == AutoresetMode.DISABLED:
            raise ValueError("autoreset_mode must be NextStep or SameStep, not Disabled")
        if num_envs < 1:
            raise ValueError(f"num_envs must be at least 1, not {num_envs}")
        self.num_envs = num_envs
        self.variant = as_variant(variant)
        self.metadata = {"autoreset_mode": mode}
        self.single_observation_space: Dict = observation_space()
        self.single_action_space = PlaySpace()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._same_step = mode == AutoresetMode.SAME_STEP
        self._start = Position.start(self.variant).array
        self._rules = self.variant.rules
        self._room = new_plays()
        self._games: Games | None = None
        self._choices = _new_choices(num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin every game. Without a seed the games go on drawing where they stopped. There are no options."""
        super().reset(seed=seed)
        if options:
            raise ValueError(f"reset of the vector env takes no options, not {sorted(options)}")
        if seed is not None or self._games is None:
            base = seed % 2**63 if seed is not None else int(self.np_random.integers(2**63 - 1))
            self._games = _new_games([stream(base, index) for index in range(self.num_envs)])
        begin_all(self._games, self._choices, self._start, self._rules, self._room)
        return self._observations(self._games), self._info(self._games)

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Play one decision in every game, and whatever the opponent has to play. actions: whole numbers [num_envs].

        Raises ValueError naming the first action that is not legal; then nothing has been played.
        """
        if self._games is None:
            raise ValueError("no game has begun: call reset first")
        points = np.empty(self.num_envs, np.int64)
        finals = np.zeros((self.num_envs, 2, POINTS), np.int8)
        step_all(
            self._games,
            self._choices,
            self._checked(actions),
            self._same_step,
            self._start,
            self._rules,
            self._room,
            points,
            finals,
        )
        finished = points != 0
        info = self._info(self._games)
        if self._same_step and finished.any():
            info |= _final(finals, finished)
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._observations(self._games), points.astype(np.float64), finished, truncated, info

    def _checked(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        numbers = np.asarray(actions)
        if numbers.shape != (self.num_envs,) or not np.issubdtype(numbers.dtype, np.integer):
            raise ValueError(f"actions are {self.num_envs} whole numbers, not {numbers.dtype}{numbers.shape}")
        sizes = np.diff(self._choices.offsets)
        wrong = ((numbers < 0) | (numbers >= sizes)) & (sizes > 0)
        if wrong.any():
            game = int(wrong.argmax())
            number = sizes[game]
            raise ValueError(
                f"action {numbers[game]} of game {game} names no play: this roll has {number} plays, 0 to {number - 1}"
            )
        return numbers.astype(np.int64)

    @staticmethod
    def _observations(games: Games) -> Observations:
        return {"position": games.boards.copy(), "dice": games.dice.copy(), "pending": games.pending.copy()}

    def _info(self, games: Games) -> dict[str, Any]:
        offsets = self._choices.offsets.copy()
        afterstates = np.empty((offsets[-1], 2, POINTS), np.int8)
        unpack_all(games, self._choices, self._rules, afterstates)
        return {"afterstates": afterstates, "offsets": offsets}


def _new_games(keys: list[int]) -> Games:
    number = len(keys)
    return Games(
        boards=np.zeros((number, 2, POINTS), np.int8),
        standings=np.zeros((number, STANDING), np.int64),
        dice=np.zeros((number, 2), np.int8),
        pending=np.zeros((number, PENDING), np.int8),
        keys=np.array(keys, np.int64),
        counters=np.zeros(number, np.int64),
    )


def _new_choices(number: int) -> Choices:
    # Room for the worst case everywhere; the system gives memory only to the part that is written.
    size = number * MAX_PLAYS
    return Choices(
        low=np.empty(size, np.int64),
        high=np.empty(size, np.int64),
        offsets=np.zeros(number + 1, np.int64),
        depths=np.zeros(number, np.int64),
        left_overs=np.zeros(number, np.int64),
    )


def _final(finals: NDArray[np.int8], finished: NDArray[np.bool_]) -> dict[str, Any]:
    """What Gymnasium wants to know of games that began anew in the same step: observations and infos by game."""
    observations = np.full(len(finals), None, dtype=object)
    for game in np.flatnonzero(finished):
        nothing = {"dice": np.zeros(2, np.int8), "pending": np.zeros(PENDING, np.int8)}
        observations[game] = {"position": finals[game].copy(), **nothing}
    return {"final_obs": observations, "_final_obs": finished.copy(), "final_info": {}, "_final_info": finished.copy()}
