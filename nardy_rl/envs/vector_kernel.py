"""The compiled step of the vector environment: every game plays its turn, the random opponent his, dice are rolled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.rules.dice import below, opening_roll, roll
from nardy_rl.rules.kernel import LATER, SECOND, STARTER, Plays, generate, unpack
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.variant import Rules

LEARNER, OPPONENT = 0, 1


class Games(NamedTuple):
    """n games in progress between learner and random opponent; each game draws from a stream of its own."""

    boards: NDArray[np.int8]
    """int8[n, 2, 26], the learner in row 0; between steps he is on roll."""
    dice: NDArray[np.int8]
    """int8[n, 2], larger first; 0, 0 in a finished game."""
    first_turns: NDArray[np.int64]
    """int64[n, 2]: LATER, STARTER or SECOND for the next own turn of learner and opponent."""
    keys: NDArray[np.int64]
    counters: NDArray[np.int64]


class Choices(NamedTuple):
    """The legal plays of all games, packed as in `kernel.Plays`: game i owns offsets[i] … offsets[i + 1] - 1."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    offsets: NDArray[np.int64]


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
    first, second = np.int64(games.dice[game, 0]), np.int64(games.dice[game, 1])
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
    games.boards[game] = start
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
def _grown(array: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    grown = np.empty(2 * size, np.int64)
    grown[: len(array)] = array
    return grown


@kernel
def _list_plays(games: Games, rules: Rules, room: Plays) -> tuple[Choices, NDArray[np.int8]]:
    """The plays of every game's learner, none in finished games, and their afterstates, int8[total, 2, 26]."""
    number = len(games.keys)
    offsets = np.zeros(number + 1, np.int64)
    low = np.empty(32 * number, np.int64)
    high = np.empty(32 * number, np.int64)
    total = 0
    for game in range(number):
        first, second = np.int64(games.dice[game, 0]), np.int64(games.dice[game, 1])
        if first:
            turn = games.first_turns[game, LEARNER]
            size, _, _ = generate(games.boards[game], first, second, turn, rules, room)
            if total + size > len(low):
                low = _grown(low, total + size)
                high = _grown(high, total + size)
            for index in range(size):
                low[total + index] = room.low[index]
                high[total + index] = room.high[index]
            total += size
        offsets[game + 1] = total
    afterstates = np.empty((total, 2, 26), np.int8)
    for game in range(number):
        for index in range(offsets[game], offsets[game + 1]):
            unpack(low[index], high[index], games.boards[game], rules, afterstates[index])
    return Choices(low[:total].copy(), high[:total].copy(), offsets), afterstates


@kernel
def begin_all(games: Games, start: NDArray[np.int8], rules: Rules, room: Plays) -> tuple[Choices, NDArray[np.int8]]:
    """Begin every game; the learners' choices and their afterstates, int8[total, 2, 26]."""
    for game in range(len(games.keys)):
        _begin(games, game, start, rules, room)
    return _list_plays(games, rules, room)


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
) -> tuple[Choices, NDArray[np.int8]]:
    """One step of every game: a turn of both players or, in a game that had finished, a new beginning.

    actions: int64[n], an index into each game's choices, unread where the game had finished. Fills `points`,
    int64[n], with what the learner won (0: not finished) and `finals`, int8[n, 2, 26], with the positions of the games
    that finished. `same_step`: these begin anew at once, else they wait as finished. Returns as `begin_all`.
    """
    for game in range(len(actions)):
        points[game] = 0
        if games.dice[game, 0] == 0:
            _begin(games, game, start, rules, room)
            continue
        chosen = choices.offsets[game] + actions[game]
        points[game] = _turn(games, game, choices.low[chosen], choices.high[chosen], rules, room)
        if points[game]:
            finals[game] = games.boards[game]
            _set_dice(games, game, 0, 0)
            if same_step:
                _begin(games, game, start, rules, room)
    return _list_plays(games, rules, room)
