"""The weights of a `ValueNet` as the compiled kernels take them, and the room that rating takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.network.features import (
    CHANCES,
    INPUTS,
    PENDING_INPUTS,
    PENDING_SCALE,
    QUARTERS,
    Sight,
    count_table,
    extra_rows,
    sight_of,
)
from nardy_rl.network.vectors import lined_up, padded, padded_layer, turned_layer
from nardy_rl.network.writer import LANES
from nardy_rl.rules.kernel import MAX_MOVES, MAX_PLAYS
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.variant import Variant

SHORTLIST = 8
"""How many plays are rated in full where only the best one is wanted (see `inference.rate_plays`)."""


class FastNet(NamedTuple):
    """The weights of a `ValueNet`, laid out for the compiled kernels; all widths are padded (see `vectors`)."""

    table: NDArray[np.float32]  # [2, 26, 16, H]: what each count adds to the first layer
    steps: NDArray[np.float32]  # [2, 26, 16, H]: steps[c] = table[c + 1] - table[c]
    extra: NDArray[np.float32]  # [(2 CHANCES + 8 SETS) H]: see `extra_rows`
    bias: NDArray[np.float32]  # [H]
    pending: NDArray[np.float32]  # [7, H]: what each pending step of a value adds, and that they are of an own roll
    widths: NDArray[np.int64]  # widths of the layers after the inputs, outputs last
    dense: NDArray[np.float32]  # layers after the first, one after another, each for each stage: [in, out], bias [out]
    turned: NDArray[np.float32]  # the weights of `dense` once more, without biases and the other way round: [out, in]
    equity: NDArray[np.float32]  # [outputs + 1]: see `equity_weights`
    levels: NDArray[np.int64]  # [(outputs + 1) / 2]: points of each level
    sight: Sight


class Scratch(NamedTuple):
    """Room for one thread's ratings, made by `new_scratch`."""

    sums: NDArray[np.float32]  # [MAX_MOVES + 1, H]: first layer before its ReLU after 0, 1, … moves, but for …
    whole: NDArray[np.float32]  # [H]: … the mover's sets and how the chances have changed, which are in this one
    low: NDArray[np.int64]  # [MAX_MOVES + 1]: the mover's words at each depth, as in `kernel.Plays` …
    high: NDArray[np.int64]
    there: NDArray[np.int64]  # … and masks, as in `masks.Side`
    held: NDArray[np.int64]
    layers: NDArray[np.float32]  # [layers, widest layer], each before its ReLU; the first is in `whole`
    indices: NDArray[np.int32]  # [≥ widest layer + LANES]: the units of a layer that speak …
    values: NDArray[np.float32]  # … and what they say
    slope: NDArray[np.float32]  # [H]: of the equity by the first layer behind its ReLU …
    passed: NDArray[np.float32]  # [widest layer]: … and by a later one, on the way there
    likely: NDArray[np.float32]  # [SHORTLIST, H]: the first layers, before the ReLU, of the likeliest plays, …
    listed: NDArray[np.int64]  # [SHORTLIST]: … which these are …
    guesses: NDArray[np.float32]  # [SHORTLIST]: … and their equities but for a constant
    probabilities: NDArray[np.float32]  # [MAX_PLAYS, outputs]: for the player who acts next
    flat: NDArray[np.float32]  # the same memory in one row
    equities: NDArray[np.float32]  # [MAX_PLAYS]: for the mover
    swapped: NDArray[np.float32]  # [outputs]: probabilities from the other side
    board: NDArray[np.int8]  # [2, 26]
    chances: NDArray[np.float32]  # [≥ 2 CHANCES]: after a play
    chances_before: NDArray[np.float32]


def fast_net(weights: list[NDArray[np.float32]], biases: list[NDArray[np.float32]], variant: Variant) -> FastNet:
    """The twin of a network given by its layers' weights and biases.

    Those of the first layer are float32[out, inputs] and float32[out], the others' float32[stages, out, in] and
    float32[stages, out].
    """
    width = padded(len(biases[0]))
    first = np.zeros((width, weights[0].shape[1]), np.float32)
    first[: len(biases[0])] = weights[0]
    table = count_table(first)
    pending = np.zeros((PENDING_INPUTS, width), np.float32)
    pending[: first.shape[1] - INPUTS] = first[:, INPUTS:].T
    pending[:-1] *= PENDING_SCALE
    steps = np.zeros_like(table)
    steps[:, :, :-1] = np.diff(table, axis=2)
    dense = [padded_layer(*layer) for layer in zip(weights[1:], biases[1:], strict=True)]
    return FastNet(
        lined_up(table),
        lined_up(steps),
        lined_up(extra_rows(first)),
        lined_up(np.pad(biases[0], (0, width - len(biases[0])))),
        lined_up(pending),
        np.array([padded(bias.shape[-1]) for bias in biases], np.int64),
        lined_up(np.concatenate(dense)),
        lined_up(np.concatenate([turned_layer(layer) for layer in weights[1:]])),
        equity_weights(variant),
        np.array(variant.levels, np.int64),
        sight_of(variant),
    )


def new_scratch(net: FastNet) -> Scratch:
    """Fresh room for rating plays with `net`; each thread needs its own."""
    widest, outputs = int(net.widths.max()), len(net.equity) - 1
    flat = np.zeros(MAX_PLAYS * outputs, np.float32)
    chances, listed = padded(2 * CHANCES), max(widest, 2 * QUARTERS + padded(2 * CHANCES)) + LANES
    return Scratch(
        lined_up(np.zeros((MAX_MOVES + 1, len(net.bias)), np.float32)),
        lined_up(np.zeros(len(net.bias), np.float32)),
        np.zeros(MAX_MOVES + 1, np.int64),
        np.zeros(MAX_MOVES + 1, np.int64),
        np.zeros(MAX_MOVES + 1, np.int64),
        np.zeros(MAX_MOVES + 1, np.int64),
        lined_up(np.zeros((len(net.widths), widest), np.float32)),
        np.zeros(listed, np.int32),
        np.zeros(listed, np.float32),
        lined_up(np.zeros(len(net.bias), np.float32)),
        lined_up(np.zeros(widest, np.float32)),
        lined_up(np.zeros((SHORTLIST, len(net.bias)), np.float32)),
        np.zeros(SHORTLIST, np.int64),
        np.zeros(SHORTLIST, np.float32),
        flat.reshape(MAX_PLAYS, outputs),
        flat,
        np.zeros(MAX_PLAYS, np.float32),
        np.zeros(outputs, np.float32),
        np.zeros((2, 26), np.int8),
        lined_up(np.zeros(chances, np.float32)),
        lined_up(np.zeros(chances, np.float32)),
    )
