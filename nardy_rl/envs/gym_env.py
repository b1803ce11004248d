"""`nardy_rl/Nardy-v0`: one learner's seat against a built-in or your own opponent, as a Gymnasium environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray

from nardy_rl.envs.drawing import draw_board
from nardy_rl.rules.board import draw_text
from nardy_rl.rules.dice import stream
from nardy_rl.rules.game import Game
from nardy_rl.rules.kernel import MAX_MOVES, MAX_PLAYS
from nardy_rl.rules.plays import Play
from nardy_rl.rules.position import POINTS, Position
from nardy_rl.rules.variant import Variant, variant

Opponent = Callable[[Position, list[Play], np.random.Generator], int]
"""Chooses the index of a play: (position with the opponent in row 0, his plays, the env's generator) -> index."""

LEARNER = 0
PENDING = 7
"""Length of `pending` in observations: six values, and whose dice they are."""

_OPTIONS = ("position", "dice", "first_turn")
_RENDER_MODES = ("ansi", "rgb_array")


class PlaySpace(Discrete):
    """Discrete(MAX_PLAYS) whose `sample()` without a mask is one of the `number` plays that are legal at the moment.

    MAX_PLAYS bounds the distinct plays of any roll: four moves shared out among 15 checkers, C(18, 4).
    """

    def __init__(self) -> None:
        super().__init__(MAX_PLAYS)
        self.number = 1

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """A random legal action; with `mask` or `probability`, as Discrete samples."""
        if mask is None and probability is None:
            return self.np_random.integers(self.number)
        return super().sample(mask, probability)


def observation_space() -> Dict:
    """What a player sees when he acts or the game is finished:

    - `position`: int8[2, 26], himself in row 0 (see `Position`);
    - `dice`: int8[2], those to play now, larger first; equal dice stand there twice as long as two of them or more are
      left, a single die beside a 0; 0, 0 at the end;
    - `pending`: int8[7], how many steps of the values 1…6 he has to play, now and in segments to follow, then 1 if the
      dice are of his own roll, 0 if they were passed on to him; all 0 at the end (see `Game.pending`).
    """
    return Dict(
        {
            "position": Box(0, 15, (2, POINTS), np.int8),
            "dice": Box(0, 6, (2,), np.int8),
            "pending": Box(0, MAX_MOVES, (PENDING,), np.int8),
        }
    )


def observe(game: Game, seat: int) -> dict[str, NDArray[np.int8]]:
    """What `seat` sees of the game (see `observation_space`): the position alone while the other acts."""
    dice = np.zeros(2, np.int8)
    if seat == game.seat:
        dice[: len(game.dice)] = game.dice[:2]
    return {"position": game.view(seat).array.copy(), "dice": dice, "pending": game.pending(seat)}


def as_variant(choice: str | Variant) -> Variant:
    """The variant of a preset's name, or the variant itself. Raises ValueError for an unknown name."""
    return choice if isinstance(choice, Variant) else variant(choice)


def check_render_mode(mode: str | None) -> str | None:
    """`mode`, if it is None or known. Raises ValueError otherwise."""
    if mode is not None and mode not in _RENDER_MODES:
        raise ValueError(f"render_mode is None or one of {', '.join(_RENDER_MODES)}, not {mode!r}")
    return mode


def next_stream(last: Game | None, seed: int | None, generator: np.random.Generator) -> tuple[int, int]:
    """Key and counter of the draws of a new game: of the seed, else where the last game stopped, else at random."""
    if seed is None and last is not None:
        return last.key, last.counter
    return stream(int(generator.integers(2**63 - 1)) if seed is None else seed % 2**63, 0), 0


def action_mask(number: int) -> NDArray[np.int8]:
    """int8[MAX_PLAYS]: 1 for the first `number` actions."""
    mask = np.zeros(MAX_PLAYS, np.int8)
    mask[:number] = 1
    return mask


def draw_game(game: Game, mode: str | None) -> str | NDArray[np.uint8] | None:
    """The game seen from seat 0 (X), as text or as an image, uint8[H, W, 3]."""
    if mode is None:
        return None
    name = "XO"[game.seat]
    origin = ", passed on" if game.passed_on else ""
    doing = f"wins {game.points}" if game.finished else f"plays {'-'.join(map(str, game.dice))}{origin}"
    caption = f"{game.variant.name}: {name} {doing}"
    if mode == "ansi":
        return f"{draw_text(game.variant, game.view(0))}\n {caption}"
    return draw_board(game.variant, game.view(0), dice=game.dice or None, caption=caption)


class NardyEnv(gymnasium.Env[Any, Any]):
    """Games of a variant from one learner's seat; all that the opponent plays before the learner acts again passes
    inside `step`.

    A step is one decision of `Game`: a roll, dice that were passed on, or one value of a chain of doubles. An action is
    the index of a legal play (`info["moves"]`, `info["afterstates"]`); where nothing can be moved, the play without
    moves is action 0, the only one. What would follow a play, `env.game.sequel(action)` tells. Observations are those
    of `observation_space`. The reward is 0 until the end, then the points won, negative if lost
    (rules 8.1; no cube). Which seat begins is up to the lottery of the episode. `info` holds

    - `afterstates`: int8[n, 2, 26], the position after each play, the learner still in row 0;
    - `moves`: n tuples of `Move`;
    - `standing`: how the turn stands (see `nardy_rl.rules.protocol.Standing`), all that an observation leaves out;
    - `action_mask`: int8[MAX_PLAYS], 1 for the n legal actions.

    variant: a preset's name or a `Variant`. opponent: "random", or a callable (see `Opponent`). Options of `reset`:
    `position` (a `Position`, the learner in row 0 and on roll; else the start), `dice` (else rolled), `first_turn`
    ("starter" or "second" if this is the learner's first turn; "starter" where no position is given).
    """

    metadata = {"render_modes": list(_RENDER_MODES), "render_fps": 2}  # noqa: RUF012 (the base class has it so)

    def __init__(
        self,
        variant: str | Variant = "long",
        opponent: str | Opponent = "random",
        render_mode: str | None = None,
    ) -> None:
        if opponent != "random" and not callable(opponent):
            raise ValueError(f'opponent is "random" or a callable, not {opponent!r}')
        self.variant = as_variant(variant)
        self.render_mode = check_render_mode(render_mode)
        self.observation_space = observation_space()
        self.action_space: PlaySpace = PlaySpace()
        self._opponent = opponent
        self._game: Game | None = None

    @property
    def game(self) -> Game:
        """The game in progress; seat 0 is the learner. Raises ValueError before the first reset."""
        if self._game is None:
            raise ValueError("no game has begun: call reset first")
        return self._game

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.int8]], dict[str, Any]]:
        """Begin a game. Without a seed the episode goes on drawing where the last one stopped.

        Raises ValueError for an unknown option or a position, dice or first_turn that cannot be.
        """
        super().reset(seed=seed)
        self._game = self._begin(*next_stream(self._game, seed, self.np_random), options or {})
        self._answer()
        return self._report()

    def step(self, action: int) -> tuple[dict[str, NDArray[np.int8]], float, bool, bool, dict[str, Any]]:
        """Play action number `action`, then whatever the opponent has to play.

        Raises ValueError for an action that is not legal.
        """
        self.game.play(action)
        self._answer()
        observation, info = self._report()
        return observation, self.game.reward(LEARNER), self.game.finished, False, info

    def render(self) -> Any:
        """The board from the learner's seat (X): a text ("ansi") or uint8[H, W, 3] ("rgb_array")."""
        return draw_game(self.game, self.render_mode)

    def state(self) -> dict[str, Any]:
        """The whole state in plain types that JSON can hold: the game and the generator of a callable opponent."""
        return {"game": self.game.state(), "generator": self.np_random.bit_generator.state}

    def restore(self, state: Mapping[str, Any]) -> tuple[dict[str, NDArray[np.int8]], dict[str, Any]]:
        """Go on exactly from a `state`; returns what `reset` returns.

        Raises ValueError if it is not a state of this variant.
        """
        if not isinstance(state, Mapping) or set(state) != {"game", "generator"}:
            raise ValueError("this is no saved state: it must hold game and generator")
        game = Game.from_state(state["game"])
        if game.variant != self.variant:
            raise ValueError(f"the saved game is one of {game.variant.name}, under other rules than this env's")
        generator = np.random.Generator(np.random.PCG64())
        try:
            generator.bit_generator.state = state["generator"]
        except (KeyError, TypeError, ValueError):
            raise ValueError("this is no saved state: generator is not that of a NumPy PCG64") from None
        self.np_random = generator
        self._game = game
        return self._report()

    def _begin(self, key: int, counter: int, options: Mapping[str, Any]) -> Game:
        unknown = sorted(set(options) - set(_OPTIONS))
        if unknown:
            raise ValueError(f"unknown option {unknown[0]!r} of reset; known are {', '.join(_OPTIONS)}")
        if not options:
            return Game.begin(self.variant, key, counter)
        position = options.get("position", Position.start(self.variant))
        if not isinstance(position, Position):
            raise ValueError(f"option position must be a Position, not {type(position).__name__}")
        first_turn = options.get("first_turn", None if "position" in options else "starter")
        return Game.from_position(self.variant, position, key, counter, dice=options.get("dice"), first_turn=first_turn)

    def _answer(self) -> None:
        """Let the opponent play until the learner acts or the game is finished."""
        game = self.game
        while not game.finished and game.seat != LEARNER:
            if callable(self._opponent):
                game.play(self._opponent(game.position, game.plays, self.np_random))
            else:
                game.play(game.random_index())

    def _report(self) -> tuple[dict[str, NDArray[np.int8]], dict[str, Any]]:
        """Observation and info of the state as it is."""
        game = self.game
        number = len(game.plays)
        self.action_space.number = max(number, 1)
        return observe(game, LEARNER), {
            "afterstates": np.array([play.after.array for play in game.plays], np.int8).reshape(-1, 2, POINTS),
            "moves": [play.moves for play in game.plays],
            "standing": game.standing,
            "action_mask": action_mask(number),
        }
