"""Bots that play inside the compiled loop: random, heuristic, or a network."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.network.fast_net import Scratch, fast_net
from nardy_rl.network.features import INPUTS, STAGES
from nardy_rl.players.heuristic import heuristic_score
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import below
from nardy_rl.rules.kernel import Plays
from nardy_rl.rules.protocol import Standing
from nardy_rl.rules.variant import Variant
from nardy_rl.rules.words import unpack
from nardy_rl.search.bearoff_cache import endings, no_endings
from nardy_rl.search.lookahead import Room, choose_ahead
from nardy_rl.search.rater import Rater, rate_all

RANDOM, HEURISTIC, NETWORK = 0, 1, 2


class Weights(Protocol):
    """What a network bot is made of: a `ValueNet`, or the weights that a bundle holds."""

    def parameters_as_arrays(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Weights and biases of all layers, as `fast_net` takes them."""


class Bot(NamedTuple):
    """A player of one variant."""

    kind: int
    rater: Rater  # of a NETWORK; an empty stand-in for the others
    plies: int  # how far a NETWORK looks ahead, 0: not at all


def simple_bot(kind: int, variant: Variant) -> Bot:
    """A RANDOM or HEURISTIC bot."""
    weights = [np.zeros((1, INPUTS), np.float32), np.zeros((STAGES, variant.outputs, 1), np.float32)]
    biases = [np.zeros(layer.shape[:-1], np.float32) for layer in weights]
    net = fast_net(weights, biases, variant)
    return Bot(kind, Rater(net, no_endings(variant)), 0)


def network_bot(net: Weights, variant: Variant, plies: int = 0) -> Bot:
    """A bot that plays what `net` rates highest after looking `plies` rolls ahead."""
    fast = fast_net(*net.parameters_as_arrays(), variant)
    return Bot(NETWORK, Rater(fast, endings(variant)), plies)


def is_network(player: object) -> TypeGuard[Bot]:
    """Whether a player is a NETWORK bot, which has an opinion of positions."""
    return isinstance(player, Bot) and player.kind == NETWORK


@kernel
def choose(
    bot: Bot, board: NDArray[np.int8], standing: Standing, coming: Standing, plays: Plays, size: int, depth: int,
    left_over: int, rules: Rules, scratch: Scratch, room: Room, key: int, counter: int,
) -> int:  # fmt: skip
    """The index of the play that `bot` chooses; chance, where it needs any, is draw `counter` of stream `key`.

    board: int8[2, 26], row 0 the mover; plays, size, depth and left_over as `list_plays` gave them for `standing`,
    after which comes `coming`. A network leaves its ratings in `scratch`.
    """
    if bot.kind == NETWORK:
        best = rate_all(bot.rater, board, standing, coming, plays, size, depth, False, rules, scratch)
        if bot.plies == 0 or size == 1:
            return best
        return choose_ahead(bot.rater, board, standing, plays, size, depth, left_over, bot.plies, rules, scratch, room)
    if bot.kind == RANDOM:
        return below(key, counter, size)
    best = 0
    best_score = -np.inf
    for index in range(size):
        unpack(plays.low[index], plays.high[index], board, rules, scratch.board)
        score = heuristic_score(scratch.board, rules)
        if score > best_score:
            best_score = score
            best = index
    return best
