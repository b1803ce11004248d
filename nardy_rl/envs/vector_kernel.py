"""The compiled step of the vector environment: the learner's play in every game and the opponent's answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import below, opening_roll, roll
from nardy_rl.rules.kernel import Plays
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.protocol import Standing, after_play, begin, list_plays, pending_steps, take_dice
from nardy_rl.rules.words import copy_board, unpack

LEARNER, OPPONENT = 0, 1
STANDING = len(Standing._fields)


class Games(NamedTuple):
    """n games in progress between learner and random opponent; each game draws from a stream of its own."""

    boards: NDArray[np.int8]
    """int8[n, 2, 26], the learner in row 0; between steps he acts, or the game is finished."""
    standings: NDArray[np.int64]
    """int64[n, STANDING]: the fields of `Standing`; with nothing left to play in a finished game."""
    dice: NDArray[np.int8]
    """int8[n, 2]: what the learner sees of the dice (see `observation_space`)."""
    pending: NDArray[np.int8]
    """int8[n, 7]: what he sees of the steps that he has to play."""
    keys: NDArray[np.int64]
    counters: NDArray[np.int64]
    """int64[n] both: each game's stream and the number of its next draw."""


class Choices(NamedTuple):
    """Room for the plays of all games, packed as in `kernel.Plays`: game i owns offsets[i] … offsets[i + 1] - 1."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    offsets: NDArray[np.int64]
    depths: NDArray[np.int64]
    left_overs: NDArray[np.int64]
    """int64[n] both: moves in each play of a game, and the die left over, as `after_play` takes them."""


@inlined
def _load(games: Games, game: int) -> Standing:
    kept = games.standings[game]
    return Standing(
        kept[0], kept[1], kept[2], kept[3], kept[4], kept[5], kept[6], kept[7], kept[8],
        kept[9] != 0, kept[10] != 0, kept[11] != 0, kept[12], kept[13] != 0,
    )  # fmt: skip


@inlined
def _store(games: Games, game: int, standing: Standing) -> None:
    kept = games.standings[game]
    kept[0], kept[1] = standing.seat, standing.starter
    kept[2], kept[3] = standing.rolls_0, standing.rolls_1
    kept[4], kept[5], kept[6] = standing.first, standing.second, standing.number
    kept[7], kept[8] = standing.later, standing.passing
    kept[9], kept[10], kept[11] = standing.own, standing.chain, standing.extra
    kept[12], kept[13] = standing.head_left, standing.patient


@kernel
def _swap(board: NDArray[np.int8]) -> None:
    for point in range(26):
        board[0, point], board[1, point] = board[1, point], board[0, point]


@kernel
def _show(games: Games, game: int, standing: Standing) -> None:
    """Write what the learner sees of the dice; zeros if nothing is left to play."""
    second = standing.first if standing.second == 0 and standing.number > 1 else standing.second
    games.dice[game, 0] = max(standing.first, second)
    games.dice[game, 1] = min(standing.first, second)
    steps = pending_steps(standing)
    for value in range(1, 7):
        games.pending[game, value - 1] = (steps >> (4 * value)) & 15
    games.pending[game, 6] = steps & 1


@kernel
def _go_on(games: Games, game: int, standing: Standing, rules: Rules, room: Plays) -> int:
    """Roll where it is due and let the opponent play until the learner acts: 0, or, negative, the points he has lost.

    Every game's board has the learner in row 0 before and after.
    """
    board = games.boards[game]
    key = games.keys[game]
    lost = 0
    while True:
        if standing.seat == OPPONENT:
            _swap(board)
        if standing.number == 0:
            first, second = roll(key, games.counters[game])
            games.counters[game] += 1
            standing = take_dice(standing, board, first, second, rules, room)
        if standing.seat == LEARNER:
            break
        size, depth, left_over = list_plays(standing, board, rules, room)
        index = below(key, games.counters[game], size)
        games.counters[game] += 1
        on_head = board[0, 24]
        unpack(room.low[index], room.high[index], board, rules, board)
        left_head = on_head - board[0, 24]
        _swap(board)
        if board[OPPONENT, 0] == rules.checkers:
            lost = points_won(board[LEARNER], rules)
            standing = begin(standing.starter)
            break
        standing = after_play(standing, depth, left_over, left_head, rules)
    _store(games, game, standing)
    _show(games, game, standing)
    return -lost


@kernel
def _begin(games: Games, game: int, start: NDArray[np.int8], rules: Rules, room: Plays) -> None:
    """A new game up to the learner's first decision (rules 2.1, 3.2, 4.2)."""
    mine, other = opening_roll(games.keys[game], games.counters[game])
    games.counters[game] += 1
    copy_board(start, games.boards[game])
    standing = begin(LEARNER if mine > other else OPPONENT)
    if rules.lottery_opening:  # both stand at the start: the board is the same from either seat
        standing = take_dice(standing, games.boards[game], mine, other, rules, room)
    _go_on(games, game, standing, rules, room)


@kernel
def _turn(games: Games, choices: Choices, game: int, action: int, rules: Rules, room: Plays) -> int:
    """The learner's play and the opponent's answer; the points won or, negative, lost, or 0."""
    board = games.boards[game]
    standing = _load(games, game)
    chosen = choices.offsets[game] + action
    on_head = board[LEARNER, 24]
    unpack(choices.low[chosen], choices.high[chosen], board, rules, board)
    if board[LEARNER, 0] == rules.checkers:
        standing = begin(standing.starter)
        _store(games, game, standing)
        _show(games, game, standing)
        return points_won(board[OPPONENT], rules)
    left_head = on_head - board[LEARNER, 24]
    standing = after_play(standing, choices.depths[game], choices.left_overs[game], left_head, rules)
    return _go_on(games, game, standing, rules, room)


@kernel
def _list_plays(games: Games, choices: Choices, rules: Rules, room: Plays) -> None:
    """Fill `choices` with the plays of every game's learner, none in finished games."""
    total = 0
    choices.offsets[0] = 0
    for game in range(len(games.keys)):
        standing = _load(games, game)
        if standing.number:
            size, depth, left_over = list_plays(standing, games.boards[game], rules, room)
            for index in range(size):
                choices.low[total + index] = room.low[index]
                choices.high[total + index] = room.high[index]
            choices.depths[game], choices.left_overs[game] = depth, left_over
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
    """One step of every game: the learner's play up to his next decision or, in a finished game, a new beginning.

    actions: int64[n], an index into each game's choices, unread where the game had finished. Fills `points`,
    int64[n], with what the learner won (negative: lost; 0: not finished), `finals`, int8[n, 2, 26], with the positions
    of the games that finished, and `choices` anew. `same_step`: finished games begin anew at once, else they wait.
    """
    for game in range(len(actions)):
        points[game] = 0
        if games.dice[game, 0] == 0:
            _begin(games, game, start, rules, room)
            continue
        points[game] = _turn(games, choices, game, actions[game], rules, room)
        if points[game]:
            copy_board(games.boards[game], finals[game])
            if same_step:
                _begin(games, game, start, rules, room)
    _list_plays(games, choices, rules, room)


@kernel
def unpack_all(games: Games, choices: Choices, rules: Rules, afterstates: NDArray[np.int8]) -> None:
    """Write the positions after all `choices` into `afterstates`, int8[total, 2, 26], the learner in row 0."""
    for game in range(len(games.keys)):
        for index in range(choices.offsets[game], choices.offsets[game + 1]):
            unpack(choices.low[index], choices.high[index], games.boards[game], rules, afterstates[index])
