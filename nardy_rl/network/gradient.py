"""The compiled way to learn on a CPU: loss, gradient and Adam for a `ValueNet`, with a sparse first layer.

Of the 718 inputs about 45 are not zero, and of the units behind a ReLU a third, so every layer's sums and gradients
touch a few rows only. All parameters lie in one float32 vector: for each layer, and in it for each stage, its weights
[in, out], a row of which is one piece of memory, and its biases. Widths are padded (see `vectors`); what belongs to no
unit is zero and stays so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.network.chances import fill_chances
from nardy_rl.network.features import (
    BAR_INPUT,
    BAR_SCALE,
    CHANCE_INPUT,
    CHANCES,
    INPUTS,
    OFF_INPUT,
    OFF_SCALE,
    PENDING_INPUTS,
    PENDING_SCALE,
    QUARTERS,
    REST_SCALE,
    SET_INPUT,
    SETS,
    SIDE_INPUTS,
    STAGES,
    UNITS,
    Sight,
)
from nardy_rl.network.lists import list_positive
from nardy_rl.network.masks import facing, held_set, side_of
from nardy_rl.network.sigmoid import sigmoid
from nardy_rl.network.stages import stage
from nardy_rl.network.vectors import add_rows, add_to_rows, dot_rows, lined_up
from nardy_rl.network.writer import LANES, UNROLL
from nardy_rl.rules.words import pack

_MAX_ACTIVE = INPUTS + PENDING_INPUTS
WARM_UP = 1000
"""So many steps of Adam, whose first steps know little of the slopes' size, are smaller than asked for."""

_BETA_MEAN, _BETA_SQUARE, _EPSILON = 0.9, 0.999, 1e-8  # Kingma & Ba 2015, and torch's defaults


class Workspace(NamedTuple):
    """Room to learn in: made by `new_workspace`. Row l of `indices` and `values` lists what goes into layer l."""

    gradient: NDArray[np.float32]  # [parameters]; all zero between two minibatches
    indices: NDArray[np.int32]  # [layers, widest + LANES]: the inputs or units that are not zero …
    values: NDArray[np.float32]  # [layers, widest + LANES]: … and what they are
    counts: NDArray[np.int64]  # [layers]
    sums: NDArray[np.float32]  # [layers, widest layer]: every layer before its ReLU, the last one's log-odds
    errors: NDArray[np.float32]  # [layers, widest layer]: derivative of the loss by each layer's sums
    products: NDArray[np.float32]  # [widest + LANES]
    chances: NDArray[np.float32]  # [2 CHANCES]


def new_workspace(widths: NDArray[np.int64], parameters: int) -> Workspace:
    """Fresh room for a network with layers of these padded widths, outputs last, and so many parameters."""
    layers, widest = len(widths), max(int(widths.max()), _MAX_ACTIVE)
    return Workspace(
        lined_up(np.zeros(parameters, np.float32)),
        np.zeros((layers, widest + LANES), np.int32),
        np.zeros((layers, widest + LANES), np.float32),
        np.zeros(layers, np.int64),
        lined_up(np.zeros((layers, int(widths.max())), np.float32)),
        lined_up(np.zeros((layers, int(widths.max())), np.float32)),
        np.zeros(widest + LANES, np.float32),
        np.zeros(2 * CHANCES, np.float32),
    )


@inlined
def _active_inputs(
    position: NDArray[np.int8], pending: int, sight: Sight, chances: NDArray[np.float32], active: NDArray[np.int32],
    value: NDArray[np.float32],
) -> int:  # fmt: skip
    """List the inputs of a position, int8[2, 26], that are not zero (see `features`), as `writer` has lists."""
    size = 0
    low, high = pack(position)
    other_low, other_high = pack(position[1:])
    first, second = side_of(low, high, sight), side_of(other_low, other_high, sight)
    fill_chances(first, facing(second, sight), 0, chances)
    fill_chances(second, facing(first, sight), 1, chances)
    for side in range(2):
        base = side * SIDE_INPUTS
        for point in range(1, 25):
            count = int(position[side, point])
            for unit in range(min(count, UNITS)):
                active[size] = base + UNITS * (point - 1) + unit
                value[size] = 1.0 if unit < 3 else (count - 3) * np.float32(REST_SCALE)
                size += 1
        if position[side, 25]:
            active[size] = base + BAR_INPUT
            value[size] = position[side, 25] * np.float32(BAR_SCALE)
            size += 1
        if position[side, 0]:
            active[size] = base + OFF_INPUT
            value[size] = position[side, 0] * np.float32(OFF_SCALE)
            size += 1
        for quarter in range(QUARTERS):
            held = held_set(second.held if side else first.held, quarter)
            if held:
                active[size] = base + SET_INPUT + (SETS - 1) * quarter + held - 1
                value[size] = 1.0
                size += 1
        for chance in range(CHANCES):
            if chances[side * CHANCES + chance]:
                active[size] = base + CHANCE_INPUT + chance
                value[size] = chances[side * CHANCES + chance]
                size += 1
    if pending:
        for die in range(1, 7):
            active[size] = INPUTS + die - 1
            value[size] = ((pending >> (4 * die)) & 15) * np.float32(PENDING_SCALE)
            size += 1
        active[size] = INPUTS + PENDING_INPUTS - 1
        value[size] = pending & 1
        size += 1
    while size % UNROLL:
        active[size] = 0
        value[size] = 0.0
        size += 1
    return size


@inlined
def _forward(
    parameters: NDArray[np.float32], widths: NDArray[np.int64], inputs: int, stage: int, work: Workspace
) -> None:
    """Every layer's sums; layer 0's list is made, and those of the others are made here."""
    width, layer_start = inputs, 0
    for layer in range(widths.size):
        following, sums = widths[layer], work.sums[layer]
        size = (width + 1) * following
        start = layer_start + (stage * size if layer else 0)
        if layer:
            before = work.sums[layer - 1]
            work.counts[layer] = list_positive(before, width, work.indices[layer], work.values[layer])
        bias = parameters[start + width * following : start + size]
        add_rows(parameters, start, following, work.indices[layer], work.values[layer], work.counts[layer], bias, sums)
        layer_start += STAGES * size if layer else size
        width = following


@inlined
def _backward(
    parameters: NDArray[np.float32], widths: NDArray[np.int64], inputs: int, stage: int, work: Workspace
) -> None:
    """Add to the gradient what follows from the last layer's errors."""
    layer_end = parameters.size
    for layer in range(widths.size - 1, -1, -1):
        width, following = inputs if layer == 0 else widths[layer - 1], widths[layer]
        size = (width + 1) * following
        layer_start = layer_end - (STAGES * size if layer else size)
        start = layer_start + (stage * size if layer else 0)
        errors, indices, count = work.errors[layer], work.indices[layer], work.counts[layer]
        add_to_rows(work.gradient, start, following, indices, work.values[layer], count, errors)
        bias = work.gradient[start + width * following : start + size]
        for unit in range(following):
            bias[unit] += errors[unit]
        if layer:
            passed = work.errors[layer - 1]
            dot_rows(parameters, start, following, indices, count, errors, work.products)
            for unit in range(width):
                passed[unit] = 0.0
            for place in range(count):
                if work.values[layer, place] > 0:
                    passed[indices[place]] = work.products[place]
        layer_end = layer_start


@inlined
def _add_gradient(
    parameters: NDArray[np.float32], widths: NDArray[np.int64], all_inputs: int, position: NDArray[np.int8],
    pending: int, target: NDArray[np.float32], scale: float, sight: Sight, work: Workspace,
) -> float:  # fmt: skip
    """Add `scale` times the gradient of one position's summed cross-entropy; returns that sum, in nats."""
    work.counts[0] = _active_inputs(position, pending, sight, work.chances, work.indices[0], work.values[0])
    reached = stage(position, sight)
    _forward(parameters, widths, all_inputs, reached, work)
    last, loss = widths.size - 1, 0.0
    for out in range(target.size):
        log_odds = work.sums[last, out]
        probability = sigmoid(log_odds)
        likelier = max(probability, np.float32(1.0) - probability)
        loss += max(log_odds, np.float32(0.0)) - log_odds * target[out] - np.log(likelier)
        work.errors[last, out] = (probability - target[out]) * np.float32(scale)
    _backward(parameters, widths, all_inputs, reached, work)
    return loss


@kernel
def add_gradients(
    parameters: NDArray[np.float32], widths: NDArray[np.int64], all_inputs: int, positions: NDArray[np.int8],
    pending: NDArray[np.int32], targets: NDArray[np.float32], sight: Sight, rows: NDArray[np.int64], scale: float,
    work: Workspace,
) -> float:  # fmt: skip
    """Add to `work.gradient` that of the cross-entropy of some rows of a batch, times `scale`; returns its sum in nats.

    widths: of the layers, padded. all_inputs: how many the network has. positions: int8[N, 2, 26], row 0 acts; pending:
    int32[N], what he has to play (`pending_steps`). targets: float32[N, outputs]. sight: how the network sees
    positions. rows: int64[≤ N].
    """
    loss = 0.0
    for row in rows:
        loss += _add_gradient(
            parameters, widths, all_inputs, positions[row], pending[row], targets[row], scale, sight, work
        )
    return loss


@kernel
def adam(
    parameters: NDArray[np.float32], gradient: NDArray[np.float32], other: NDArray[np.float32],
    mean: NDArray[np.float32], square: NDArray[np.float32], step: int, learning_rate: float,
) -> None:  # fmt: skip
    """One step of Adam (Kingma & Ba 2015) by the sum of two gradients, which become zero; the rest changes in place.

    All arrays are float32[parameters]. step: from 1; during the first WARM_UP steps the rate grows to its full size.
    """
    rate = np.float32(learning_rate * min(1.0, step / WARM_UP) / (1 - _BETA_MEAN**step))
    spread = np.float32(1 / np.sqrt(1 - _BETA_SQUARE**step))
    keep_mean, keep_square = np.float32(_BETA_MEAN), np.float32(_BETA_SQUARE)
    one, zero = np.float32(1.0), np.float32(0.0)
    for index in range(parameters.size):
        slope = gradient[index] + other[index]
        mean[index] = keep_mean * mean[index] + (one - keep_mean) * slope
        square[index] = keep_square * square[index] + (one - keep_square) * slope * slope
        parameters[index] -= rate * mean[index] / (np.sqrt(square[index]) * spread + np.float32(_EPSILON))
        gradient[index] = zero
        other[index] = zero
