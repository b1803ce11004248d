"""What this package does when it is timed: random games, legal afterstates, decisions at 0 to 2 plies."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.evaluation.match import compiled_pairs
from nardy_rl.network.fast_net import Scratch, new_scratch
from nardy_rl.network.value_net import ValueNet
from nardy_rl.players.bot import HEURISTIC, RANDOM, Bot, choose, network_bot, simple_bot
from nardy_rl.players.games import MAX_DECISIONS, new_record, new_table, play_game, start_board
from nardy_rl.players.registry import load_player
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import roll, stream
from nardy_rl.rules.kernel import Plays, new_plays
from nardy_rl.rules.protocol import LATER, after_play, generate
from nardy_rl.rules.variant import Variant, variant
from nardy_rl.search.lookahead import Room, new_room

ROLLS: tuple[tuple[int, int], ...] = tuple(
    (larger, smaller) for larger in range(1, 7) for smaller in range(1, larger + 1)
)
"""The 21 different rolls."""

POSITIONS, RANDOM_GAMES, WIDTH = 2_000, 3_000, 128
DECISIONS = (6_000, 500, 50)
"""How many decisions are timed at 0, 1 and 2 plies of look-ahead."""

_SPREAD = 0.05
# One round of our own works is too short to time. Five are at most 4 % faster than as much on new positions.
_ROUNDS = 5
_EVERY, _FIRST_TURN = 8, 4  # of a game's turns, these become positions


@functools.lru_cache(maxsize=4)
def positions(name: str, number: int, repetition: int) -> NDArray[np.int8]:
    """Positions int8[number, 2, 26], row 0 on roll, of the heuristic against itself; new every repetition."""
    rules, bot = variant(name), simple_bot(HEURISTIC, variant(name))
    table, record, start = new_table(bot, bot), new_record(4_000, rules.outputs), start_board(rules)
    found: list[NDArray[np.int8]] = []
    game = 0
    while len(found) < number:
        key = stream(1_000 + repetition, game)
        result = play_game(bot, bot, start, rules.rules, key, key, MAX_DECISIONS, True, table, record, 0)
        found.extend(record.positions[_FIRST_TURN : result.decisions : _EVERY].copy())
        game += 1
    return np.stack(found[:number])


def rolls_of(number: int, repetition: int) -> list[tuple[int, int]]:
    """A roll for each of `number` positions."""
    key = stream(2_000 + repetition, 0)
    return [roll(key, index) for index in range(number)]


def random_games(name: str, repetition: int) -> Callable[[], int]:
    """Whole games between random bots: games."""
    rules, bot = variant(name), simple_bot(RANDOM, variant(name))
    pairs = range(repetition * RANDOM_GAMES, repetition * RANDOM_GAMES + RANDOM_GAMES // 2)
    return lambda: 2 * len(compiled_pairs(rules, bot, bot, None, 1, False, pairs).games)


def afterstates(name: str, repetition: int) -> Callable[[], int]:
    """All plays of all 21 rolls of POSITIONS positions: afterstates."""
    boards, rolls, plays = positions(name, POSITIONS, repetition), np.array(ROLLS), new_plays()
    rules = variant(name).rules
    return lambda: sum(_generate_all(boards, rolls, rules, plays) for _ in range(_ROUNDS))


def decisions(name: str, plies: int, repetition: int, boxed: bool = False) -> Callable[[], int]:
    """The play that a network likes best, one roll for each of so many positions: decisions.

    boxed: by the bot in the box, else by a network WIDTH wide.
    """
    number = DECISIONS[plies]
    boards, rolls, plays = positions(name, number, repetition), np.array(rolls_of(number, repetition)), new_plays()
    rules = variant(name).rules
    bot = _boxed(variant(name), plies) if boxed else _network(variant(name), plies)
    scratch, room = new_scratch(bot.rater.net), new_room(bot.rater.net)
    rounds = 1 if plies else _ROUNDS
    return lambda: sum(_decide_all(bot, boards, rolls, rules, plays, scratch, room) for _ in range(rounds))


def _boxed(rules: Variant, plies: int) -> Bot:
    bot = load_player(rules.name, rules)
    assert isinstance(bot, Bot), "what is in the box is compiled"
    return bot._replace(plies=plies)


def _network(rules: Variant, plies: int) -> Bot:
    torch.manual_seed(1)
    net = ValueNet([WIDTH], rules)
    # With opinions, and as close ones as a trained net's: else look-ahead has nothing to weigh.
    torch.nn.init.normal_(list(net.parameters())[-2], std=_SPREAD)
    return network_bot(net, rules, plies)


@kernel
def _generate_all(boards: NDArray[np.int8], rolls: NDArray[np.int64], rules: Rules, plays: Plays) -> int:
    """How many afterstates the positions int8[N, 2, 26] have with the rolls int64[R, 2]."""
    total = 0
    for index in range(len(boards)):
        for number in range(len(rolls)):
            total += generate(boards[index], rolls[number, 0], rolls[number, 1], LATER, rules, plays)[1]
    return total


@kernel
def _decide_all(
    bot: Bot, boards: NDArray[np.int8], rolls: NDArray[np.int64], rules: Rules, plays: Plays, scratch: Scratch,
    room: Room,
) -> int:  # fmt: skip
    """Decide each of the positions int8[N, 2, 26] with its roll of int64[N, 2]; gives N."""
    for index in range(len(boards)):
        board = boards[index]
        standing, size, depth, left_over = generate(board, rolls[index, 0], rolls[index, 1], LATER, rules, plays)
        coming = after_play(standing, depth, left_over, 0, rules)
        choose(bot, board, standing, coming, plays, size, depth, left_over, rules, scratch, room, 0, 0)
    return len(boards)
