"""The compiled way to learn on a CPU: loss, gradient and Adam for a `ValueNet`, with a sparse first layer.

Of the 196 inputs about 30 are not zero, so the first layer's sums and gradients touch 30 rows instead of 196. All
parameters lie in one float32 vector: the first layer's weights [inputs, H] (an input's row is one piece of memory), its
biases, then for each further layer weights [out, in] and biases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.network.features import (
    BAR_SCALE,
    INPUTS,
    OFF_SCALE,
    PENDING_INPUTS,
    PENDING_SCALE,
    REST_SCALE,
    SIDE_INPUTS,
    UNITS,
)
from nardy_rl.network.inference import sigmoid

_MAX_ACTIVE = INPUTS + PENDING_INPUTS
_BETA_MEAN, _BETA_SQUARE, _EPSILON = 0.9, 0.999, 1e-8  # Kingma & Ba 2015, and torch's defaults


class Workspace(NamedTuple):
    """Room to learn in: made by `new_workspace`."""

    gradient: NDArray[np.float32]  # [parameters]; all zero between two minibatches
    active: NDArray[np.int64]  # [_MAX_ACTIVE]: inputs that are not zero
    value: NDArray[np.float32]  # [_MAX_ACTIVE]: what they are
    layers: NDArray[np.float32]  # [layers, widest]: every layer's output, the last one's log-odds
    errors: NDArray[np.float32]  # [layers, widest]: derivative of the loss by each layer's sums


def new_workspace(widths: NDArray[np.int64], parameters: int) -> Workspace:
    """Fresh room for a network with layers of these widths, outputs last, and so many parameters."""
    shape = (len(widths), int(widths.max()))
    return Workspace(
        np.zeros(parameters, np.float32),
        np.zeros(_MAX_ACTIVE, np.int64),
        np.zeros(_MAX_ACTIVE, np.float32),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
    )


@inlined
def _active_inputs(
    position: NDArray[np.int8], pending: int, active: NDArray[np.int64], value: NDArray[np.float32]
) -> int:
    """List the inputs of a position, int8[2, 26], that are not zero (see `features`); returns how many there are."""
    size = 0
    for side in range(2):
        base = side * SIDE_INPUTS
        for point in range(1, 25):
            count = int(position[side, point])
            for unit in range(min(count, UNITS)):
                active[size] = base + UNITS * (point - 1) + unit
                value[size] = 1.0 if unit < 3 else (count - 3) * np.float32(REST_SCALE)
                size += 1
        if position[side, 25]:
            active[size] = base + SIDE_INPUTS - 2
            value[size] = position[side, 25] * np.float32(BAR_SCALE)
            size += 1
        if position[side, 0]:
            active[size] = base + SIDE_INPUTS - 1
            value[size] = position[side, 0] * np.float32(OFF_SCALE)
            size += 1
    if pending:
        for die in range(1, 7):
            active[size] = INPUTS + die - 1
            value[size] = ((pending >> (4 * die)) & 15) * np.float32(PENDING_SCALE)
            size += 1
        active[size] = INPUTS + PENDING_INPUTS - 1
        value[size] = pending & 1
        size += 1
    return size


@inlined
def _forward(
    parameters: NDArray[np.float32], widths: NDArray[np.int64], all_inputs: int, size: int, work: Workspace
) -> None:
    width = widths[0]
    sums = work.layers[0]
    bias = parameters[all_inputs * width : (all_inputs + 1) * width]
    for unit in range(width):
        sums[unit] = bias[unit]
    for index in range(size):
        row = parameters[work.active[index] * width : (work.active[index] + 1) * width]
        value = work.value[index]
        for unit in range(width):
            sums[unit] += value * row[unit]
    start = (all_inputs + 1) * width
    for layer in range(1, widths.size):
        inputs, outputs, following = work.layers[layer - 1], work.layers[layer], widths[layer]
        for unit in range(width):
            inputs[unit] = max(inputs[unit], np.float32(0.0))
        for out in range(following):
            row = parameters[start + out * width : start + (out + 1) * width]
            total = np.float32(0.0)
            for unit in range(width):
                total += inputs[unit] * row[unit]
            outputs[out] = total + parameters[start + following * width + out]
        start += following * (width + 1)
        width = following


@inlined
def _backward(
    parameters: NDArray[np.float32], widths: NDArray[np.int64], all_inputs: int, size: int, work: Workspace
) -> None:
    end = parameters.size
    for layer in range(widths.size - 1, 0, -1):
        width, following = widths[layer - 1], widths[layer]
        start = end - following * (width + 1)
        inputs, errors, passed = work.layers[layer - 1], work.errors[layer], work.errors[layer - 1]
        for unit in range(width):
            passed[unit] = 0.0
        for out in range(following):
            error = errors[out]
            row = parameters[start + out * width : start + (out + 1) * width]
            gradient = work.gradient[start + out * width : start + (out + 1) * width]
            for unit in range(width):
                gradient[unit] += error * inputs[unit]
                passed[unit] += error * row[unit]
            work.gradient[start + following * width + out] += error
        for unit in range(width):
            passed[unit] = passed[unit] if inputs[unit] > 0 else np.float32(0.0)
        end = start
    width, errors = widths[0], work.errors[0]
    for index in range(size):
        gradient = work.gradient[work.active[index] * width : (work.active[index] + 1) * width]
        value = work.value[index]
        for unit in range(width):
            gradient[unit] += value * errors[unit]
    bias = work.gradient[all_inputs * width : (all_inputs + 1) * width]
    for unit in range(width):
        bias[unit] += errors[unit]


@inlined
def _add_gradient(
    parameters: NDArray[np.float32], widths: NDArray[np.int64], all_inputs: int, position: NDArray[np.int8],
    pending: int, target: NDArray[np.float32], scale: float, work: Workspace,
) -> float:  # fmt: skip
    """Add `scale` times the gradient of one position's summed cross-entropy; returns that sum, in nats."""
    size = _active_inputs(position, pending, work.active, work.value)
    _forward(parameters, widths, all_inputs, size, work)
    last, loss = widths.size - 1, 0.0
    for out in range(widths[last]):
        log_odds = work.layers[last, out]
        probability = sigmoid(log_odds)
        likelier = max(probability, np.float32(1.0) - probability)
        loss += max(log_odds, np.float32(0.0)) - log_odds * target[out] - np.log(likelier)
        work.errors[last, out] = (probability - target[out]) * np.float32(scale)
    _backward(parameters, widths, all_inputs, size, work)
    return loss


@inlined
def _adam(
    parameters: NDArray[np.float32], gradient: NDArray[np.float32], mean: NDArray[np.float32],
    square: NDArray[np.float32], step: int, learning_rate: float,
) -> None:  # fmt: skip
    """One step of Adam in place; `step` counts from 1. Sets the gradient to zero."""
    rate = np.float32(learning_rate / (1 - _BETA_MEAN**step))
    spread = np.float32(1 / np.sqrt(1 - _BETA_SQUARE**step))
    keep_mean, keep_square = np.float32(_BETA_MEAN), np.float32(_BETA_SQUARE)
    one, zero = np.float32(1.0), np.float32(0.0)
    for index in range(parameters.size):
        slope = gradient[index]
        mean[index] = keep_mean * mean[index] + (one - keep_mean) * slope
        square[index] = keep_square * square[index] + (one - keep_square) * slope * slope
        parameters[index] -= rate * mean[index] / (np.sqrt(square[index]) * spread + np.float32(_EPSILON))
        gradient[index] = zero


@kernel
def descend(
    parameters: NDArray[np.float32], widths: NDArray[np.int64], all_inputs: int, mean: NDArray[np.float32],
    square: NDArray[np.float32], step: int, positions: NDArray[np.int8], pending: NDArray[np.int32],
    targets: NDArray[np.float32],
    order: NDArray[np.int64], minibatch: int, learning_rate: float, work: Workspace,
) -> float:  # fmt: skip
    """Go once through a batch, one step of Adam for each minibatch; returns the summed cross-entropy in nats.

    parameters, mean, square: float32[parameters], changed in place, as is `work`. step: Adam's steps so far.
    all_inputs: how many the network has. positions: int8[N, 2, 26], row 0 acts; pending: int32[N], what he has to play
    (`pending_steps`). targets: float32[N, outputs]. order: int64[N], the rows in learning order.
    """
    loss = 0.0
    for start in range(0, order.size, minibatch):
        end = min(start + minibatch, order.size)
        scale = 1 / ((end - start) * targets.shape[1])
        for index in range(start, end):
            row = order[index]
            loss += _add_gradient(
                parameters, widths, all_inputs, positions[row], pending[row], targets[row], scale, work
            )
        step += 1
        _adam(parameters, work.gradient, mean, square, step, learning_rate)
    return loss
