"""The layers behind the first one: what they make of it, and which plays are worth asking them about.

The second layer costs more than the first, which is followed from play to play. Plays of the same roll differ little,
so that from one of them on the equity of the others can be guessed: it is taken to be linear in the units of the first
layer, with the slope that it has at the one. Those that are guessed to be best are then rated in full.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined
from nardy_rl.network.fast_net import SHORTLIST, FastNet, Scratch
from nardy_rl.network.features import STAGES
from nardy_rl.network.lists import list_positive
from nardy_rl.network.sigmoid import sigmoid
from nardy_rl.network.vectors import add_rows
from nardy_rl.network.writer import UNROLL

# Of p (1 - p), the slope of an outcome's probability p by its log-odds. Where an outcome is certain after the first
# play but not after another, the slope of that certainty would hide it.
_LEAST_SLOPE = 0.005


@inlined
def upper_layers(
    net: FastNet, sums: NDArray[np.float32], stage: int, scratch: Scratch, logits: NDArray[np.float32]
) -> None:
    """From the first layer before its ReLU to the log-odds float32[outputs], by the weights of a stage."""
    before, width, layer_start = sums, sums.size, 0
    for layer in range(1, net.widths.size):
        following, after = net.widths[layer], scratch.layers[layer]
        size = (width + 1) * following
        start = layer_start + stage * size
        bias = net.dense[start + width * following : start + size]
        count = list_positive(before, width, scratch.indices, scratch.values)
        add_rows(net.dense, start, following, scratch.indices, scratch.values, count, bias, after)
        layer_start += STAGES * size
        before, width = after, following
    for out in range(logits.size):
        logits[out] = before[out]


@inlined
def fill_slope(net: FastNet, stage: int, logits: NDArray[np.float32], scratch: Scratch) -> None:
    """Fill `scratch.slope`: the derivative of the equity by what the first layer's units say.

    logits: float32[outputs], as `upper_layers` has just given them; it is about the position that they are of, and the
    equity is that of the player who acts.
    """
    indices, values, count = scratch.indices, scratch.values, logits.size
    for out in range(count):
        probability = sigmoid(logits[out])
        certainty = max(probability * (np.float32(1.0) - probability), np.float32(_LEAST_SLOPE))
        indices[out], values[out] = out, certainty * net.equity[out]
    end = net.turned.size
    for layer in range(net.widths.size - 1, 0, -1):
        width, after = net.widths[layer - 1], scratch.slope if layer == 1 else scratch.passed
        while count % UNROLL:
            indices[count], values[count] = 0, np.float32(0.0)
            count += 1
        for unit in range(width):
            after[unit] = 0.0
        size = net.widths[layer] * width
        end -= STAGES * size
        add_rows(net.turned, end + stage * size, width, indices, values, count, after, after)
        if layer > 1:
            count = 0
            for unit in range(width):
                if scratch.layers[layer - 1, unit] > 0:
                    indices[count], values[count] = unit, after[unit]
                    count += 1


@inlined
def shortlist(index: int, sums: NDArray[np.float32], sign: np.float32, kept: int, scratch: Scratch) -> int:
    """Put a play on the list of the SHORTLIST that are guessed to be best, if it is one of them; its new length.

    sums: its first layer before the ReLU. sign: -1 if the slope is that of the other player's equity.
    """
    guess = np.float32(0.0)
    for unit in range(sums.size):
        guess += max(sums[unit], np.float32(0.0)) * scratch.slope[unit]
    guess *= sign
    place = kept
    if kept == SHORTLIST:
        place = 0
        for other in range(1, kept):
            if scratch.guesses[other] < scratch.guesses[place]:
                place = other
        if guess <= scratch.guesses[place]:
            return kept
    scratch.guesses[place], scratch.listed[place] = guess, index
    first = scratch.likely[place]
    for unit in range(sums.size):
        first[unit] = sums[unit]
    return min(kept + 1, SHORTLIST)
