"""Bots that play inside the compiled loop: random, heuristic, or a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.network.features import INPUTS
from nardy_rl.network.inference import FastNet, Scratch, fast_net, rate_plays
from nardy_rl.players.heuristic import heuristic_score
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import below
from nardy_rl.rules.kernel import Plays
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.variant import Variant
from nardy_rl.rules.words import unpack

if TYPE_CHECKING:  # bots play without torch
    from nardy_rl.network.value_net import ValueNet

RANDOM, HEURISTIC, NETWORK = 0, 1, 2


class Bot(NamedTuple):
    """A player of one variant. `net` rates the plays of a NETWORK and is an empty stand-in for the others."""

    kind: int
    net: FastNet


def simple_bot(kind: int, variant: Variant) -> Bot:
    """A RANDOM or HEURISTIC bot."""
    weights = [np.zeros((1, INPUTS), np.float32), np.zeros((variant.outputs, 1), np.float32)]
    biases = [np.zeros(len(layer), np.float32) for layer in weights]
    net = fast_net(weights, biases, equity_weights(variant), variant.levels)
    return Bot(kind, net)


@kernel
def choose(
    bot: Bot, board: NDArray[np.int8], plays: Plays, size: int, depth: int, goes_on: bool, pending: int, rules: Rules,
    scratch: Scratch, key: int, counter: int,
) -> int:  # fmt: skip
    """The index of the play that `bot` chooses; chance, where it needs any, is draw `counter` of stream `key`.

    board: int8[2, 26], row 0 the mover; plays, size and depth as `list_plays` gave them; goes_on and pending as
    `rate_plays` takes them. A network leaves its ratings in `scratch`.
    """
    if bot.kind == NETWORK:
        return rate_plays(bot.net, board, plays, size, depth, goes_on, pending, rules, scratch)
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


def network_bot(net: ValueNet, variant: Variant) -> Bot:
    """A bot that plays what `net` rates highest."""
    weights, biases = net.parameters_as_arrays()
    return Bot(NETWORK, fast_net(weights, biases, equity_weights(variant), variant.levels))
