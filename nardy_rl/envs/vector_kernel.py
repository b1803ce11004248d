"""The compiled step of the vector environment: every game plays its turn, the random opponent his, dice are rolled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.rules.dice import below, opening_roll, roll
from nardy_rl.rules.kernel import LATER, SECOND, STARTER, Plays, generate
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.variant import Rules
from nardy_rl.rules.words import unpack

LEARNER, OPPONENT = 0, 1


class Games(NamedTuple):
    """n games in progress between learner and random opponent; each game draws from a stream of its own."""

    boards: NDArray[np.int8]
    """int8[n, 2, 26], the learner in row 0; between steps he is on roll."""
    dice: NDArray[np.int64]
    """int64[n, 2], larger first; 0, 0 in a finished game."""
    first_turns: NDArray[np.int64]
    """int64[n, 2]: LATER, STARTER or SECOND for the next own turn of learner and opponent."""
    keys: NDArray[np.int64]
    counters: NDArray[np.int64]
    """int64[n] both: each game's stream and the number of its next draw."""


class Choices(NamedTuple):
    """Room for the plays of all games, packed as in `kernel.Plays`: game i owns offsets[i] … offsets[i + 1] - 1."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    offsets: NDArray[np.int64]


@kernel
def _copy(board: NDArray[np.int8], to: NDArray[np.int8]) -> None:
    for point in range(26):
        to[0, point] = board[0, point]
        to[1, point] = board[1, point]


@kernel
def _swap(board: NDArray[np.int8]) -> None:
    for point in range(26):
        board[0, point], board[1, point] = board[1, point], board[0, point]


@kernel
def _set_dice(games: Games, game: int, first: int, second: int) -> None:
    games.dice[game, 0] = max(first, second)
    games.dice[game, 1] = min(first, second)


@kernel
def _roll(games: Games, game: int) -> None:
    first, second = roll(games.keys[game], games.counters[game])
    games.counters[game] += 1
    _set_dice(games, game, first, second)


@kernel
def _opponents_turn(games: Games, game: int, rules: Rules, room: Plays) -> bool:
    """The opponent plays the dice on the table at random; whether he has won. The learner stays in row 0."""
    board = games.boards[game]
    first, second = games.dice[game, 0], games.dice[game, 1]
    _swap(board)
    size, _, _ = generate(board, first, second, games.first_turns[game, OPPONENT], rules, room)
    games.first_turns[game, OPPONENT] = LATER
    index = below(games.keys[game], games.counters[game], size)
    games.counters[game] += 1
    unpack(room.low[index], room.high[index], board, rules, board)
    _swap(board)
    return board[OPPONENT, 0] == rules.checkers


@kernel
def _begin(games: Games, game: int, start: NDArray[np.int8], rules: Rules, room: Plays) -> None:
    """A new game up to the learner's first roll (rules 2.1, 3.2, 4.2)."""
    mine, other = opening_roll(games.keys[game], games.counters[game])
    games.counters[game] += 1
    starter = LEARNER if mine > other else OPPONENT
    _copy(start, games.boards[game])
    games.first_turns[game, starter] = STARTER
    games.first_turns[game, 1 - starter] = SECOND
    if rules.lottery_opening:
        _set_dice(games, game, mine, other)
    else:
        _roll(games, game)
    if starter == OPPONENT:
        _opponents_turn(games, game, rules, room)
        _roll(games, game)


@kernel
def _turn(games: Games, game: int, low: int, high: int, rules: Rules, room: Plays) -> int:
    """The learner's play (`low`, `high`) and the opponent's answer; the points won or, negative, lost, or 0."""
    board = games.boards[game]
    unpack(low, high, board, rules, board)
    games.first_turns[game, LEARNER] = LATER
    if board[LEARNER, 0] == rules.checkers:
        return points_won(board[OPPONENT], rules)
    _roll(games, game)
    if _opponents_turn(games, game, rules, room):
        return -points_won(board[LEARNER], rules)
    _roll(games, game)
    return 0


@kernel
def _list_plays(games: Games, choices: Choices, rules: Rules, room: Plays) -> None:
    """Fill `choices` with the plays of every game's learner, none in finished games."""
    total = 0
    choices.offsets[0] = 0
    for game in range(len(games.keys)):
        first, second = games.dice[game, 0], games.dice[game, 1]
        if first:
            turn = games.first_turns[game, LEARNER]
            size, _, _ = generate(games.boards[game], first, second, turn, rules, room)
            for index in range(size):
                choices.low[total + index] = room.low[index]
                choices.high[total + index] = room.high[index]
            total += size
        choices.offsets[game + 1] = total


@kernel
def begin_all(games: Games, choices: Choices, start: NDArray[np.int8], rules: Rules, room: Plays) -> None:
    """Begin every game and fill `choices` with the learners' plays."""
    for game in range(len(games.keys)):
        _begin(games, game, start, rules, room)
    _list_plays(games, choices, rules, room)


@kernel
def step_all(
    games: Games,
    choices: Choices,
    actions: NDArray[np.int64],
    same_step: bool,
    start: NDArray[np.int8],
    rules: Rules,
    room: Plays,
    points: NDArray[np.int64],
    finals: NDArray[np.int8],
) -> None:
    """One step of every game: a turn of both players or, in a game that had finished, a new beginning.

    actions: int64[n], an index into each game's choices, unread where the game had finished. Fills `points`,
    int64[n], with what the learner won (0: not finished), `finals`, int8[n, 2, 26], with the positions of the games
    that finished, and `choices` anew. `same_step`: finished games begin anew at once, else they wait.
    """
    for game in range(len(actions)):
        points[game] = 0
        if games.dice[game, 0] == 0:
            _begin(games, game, start, rules, room)
            continue
        chosen = choices.offsets[game] + actions[game]
        points[game] = _turn(games, game, choices.low[chosen], choices.high[chosen], rules, room)
        if points[game]:
            _copy(games.boards[game], finals[game])
            _set_dice(games, game, 0, 0)
            if same_step:
                _begin(games, game, start, rules, room)
    _list_plays(games, choices, rules, room)


@kernel
def unpack_all(games: Games, choices: Choices, rules: Rules, afterstates: NDArray[np.int8]) -> None:
    """Write the positions after all `choices` into `afterstates`, int8[total, 2, 26], the learner in row 0."""
    for game in range(len(games.keys)):
        for index in range(choices.offsets[game], choices.offsets[game + 1]):
            unpack(choices.low[index], choices.high[index], games.boards[game], rules, afterstates[index])
