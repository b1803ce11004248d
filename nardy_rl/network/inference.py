"""The compiled twin of `ValueNet`: rates all plays of a roll in one go, following the moves through its first layer.

The first layer of an afterstate is its parent's plus two table differences a move (four where a blot is hit). Plays
that the generator lists one after another share their first moves, so the accumulator is kept per depth and only what
differs from the play before is redone. What the sets of held points add, a row for each quarter, comes on top.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.network.features import (
    INPUTS,
    PENDING_INPUTS,
    PENDING_SCALE,
    STAGES,
    Sight,
    count_table,
    set_table,
    sight_of,
)
from nardy_rl.network.sigmoid import sigmoid
from nardy_rl.network.stages import enters, held_points, held_set, last_free, rear, stage, stage_of
from nardy_rl.network.vectors import LANES, add_rows, list_positive, padded, padded_layer
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.kernel import MAX_MOVES, MAX_PLAYS, Plays
from nardy_rl.rules.outcome import equity_weights, points_won
from nardy_rl.rules.variant import Variant
from nardy_rl.rules.words import count_at, hit_points, mirror, moved, pack, unpack


class FastNet(NamedTuple):
    """The weights of a `ValueNet`, laid out for the compiled kernels; all widths are padded (see `vectors`)."""

    table: NDArray[np.float32]  # [2, 26, 16, H]: what each count adds to the first layer
    steps: NDArray[np.float32]  # [2, 26, 16, H]: steps[c] = table[c + 1] - table[c]
    sets: NDArray[np.float32]  # [2, 4, 64, H]: what each set of held points adds
    bias: NDArray[np.float32]  # [H]
    pending: NDArray[np.float32]  # [7, H]: what each pending step of a value adds, and that they are of an own roll
    widths: NDArray[np.int64]  # widths of the layers after the inputs, outputs last
    dense: NDArray[np.float32]  # layers after the first, one after another, each for each stage: [in, out], bias [out]
    equity: NDArray[np.float32]  # [outputs + 1]: see `equity_weights`
    levels: NDArray[np.int64]  # [(outputs + 1) / 2]: points of each level
    sight: Sight


class Scratch(NamedTuple):
    """Room for one thread's ratings, made by `new_scratch`."""

    sums: NDArray[np.float32]  # [MAX_MOVES + 1, H]: first layer before its ReLU, after 0, 1, … moves, without his sets
    whole: NDArray[np.float32]  # [H]: the same with them
    low: NDArray[np.int64]  # [MAX_MOVES + 1]: the mover's words at each depth, as in `kernel.Plays`
    high: NDArray[np.int64]
    layers: NDArray[np.float32]  # [layers, widest layer], each before its ReLU
    indices: NDArray[np.int32]  # [widest layer + LANES]: the units of a layer that speak …
    values: NDArray[np.float32]  # … and what they say
    probabilities: NDArray[np.float32]  # [MAX_PLAYS, outputs]: for the player who acts next
    flat: NDArray[np.float32]  # the same memory in one row
    equities: NDArray[np.float32]  # [MAX_PLAYS]: for the mover
    board: NDArray[np.int8]  # [2, 26]


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
        table,
        steps,
        set_table(first),
        np.pad(biases[0], (0, width - len(biases[0]))),
        pending,
        np.array([padded(bias.shape[-1]) for bias in biases], np.int64),
        np.concatenate(dense),
        equity_weights(variant),
        np.array(variant.levels, np.int64),
        sight_of(variant),
    )


def new_scratch(net: FastNet) -> Scratch:
    """Fresh room for rating plays with `net`; each thread needs its own."""
    widest, outputs = int(net.widths.max()), len(net.equity) - 1
    flat = np.zeros(MAX_PLAYS * outputs, np.float32)
    return Scratch(
        np.zeros((MAX_MOVES + 1, len(net.bias)), np.float32),
        np.zeros(len(net.bias), np.float32),
        np.zeros(MAX_MOVES + 1, np.int64),
        np.zeros(MAX_MOVES + 1, np.int64),
        np.zeros((len(net.widths), widest), np.float32),
        np.zeros(widest + LANES, np.int32),
        np.zeros(widest + LANES, np.float32),
        flat.reshape(MAX_PLAYS, outputs),
        flat,
        np.zeros(MAX_PLAYS, np.float32),
        np.zeros((2, 26), np.int8),
    )


@inlined
def _first_layer(net: FastNet, board: NDArray[np.int8], actor: int, pending: int, sums: NDArray[np.float32]) -> None:
    """The first layer, before its ReLU, of a board whose row `actor` acts, with `pending` steps to play.

    What the sets of held points add is left out.
    """
    for unit in range(sums.size):
        sums[unit] = net.bias[unit]
    for side in range(2):
        for point in range(26):
            count = board[actor ^ side, point]
            if count:
                row = net.table[side, point, count]
                for unit in range(sums.size):
                    sums[unit] += row[unit]
    if pending:
        for value in range(PENDING_INPUTS):
            # Bit 0, an own roll, comes first in the code and last among the inputs.
            steps = (pending >> (4 * value)) & 15
            row = net.pending[(value + PENDING_INPUTS - 1) % PENDING_INPUTS]
            for unit in range(sums.size):
                sums[unit] += steps * row[unit]


@inlined
def _add_sets(
    net: FastNet, side: int, low: int, high: int, before: NDArray[np.float32], after: NDArray[np.float32]
) -> None:
    """after = before + what the held points of a side add: side 0 acts, (low, high) are its words."""
    held_low, held_high = held_points(low, high, net.sight)
    first = net.sets[side, 0, held_set(held_low, held_high, 0)]
    second = net.sets[side, 1, held_set(held_low, held_high, 1)]
    third = net.sets[side, 2, held_set(held_low, held_high, 2)]
    fourth = net.sets[side, 3, held_set(held_low, held_high, 3)]
    for unit in range(after.size):
        after[unit] = before[unit] + first[unit] + second[unit] + third[unit] + fourth[unit]


@inlined
def _upper_layers(
    net: FastNet, sums: NDArray[np.float32], stage: int, scratch: Scratch, logits: NDArray[np.float32]
) -> None:
    """From the first layer before its ReLU to the log-odds float32[outputs], by the weights of a stage."""
    before, width, layer_start = sums, sums.size, 0
    for layer in range(1, net.widths.size):
        following, after = net.widths[layer], scratch.layers[layer]
        size = (width + 1) * following
        start = layer_start + stage * size
        bias = net.dense[start + width * following : start + size]
        for unit in range(following):
            after[unit] = bias[unit]
        count = list_positive(before, width, scratch.indices, scratch.values)
        add_rows(net.dense, start, following, scratch.indices, scratch.values, count, after)
        layer_start += STAGES * size
        before, width = after, following
    for out in range(logits.size):
        logits[out] = before[out]


@kernel
def rate(
    net: FastNet, board: NDArray[np.int8], pending: int, scratch: Scratch, probabilities: NDArray[np.float32]
) -> float:
    """Rate one position for its row 0, who acts: fills `probabilities` float32[outputs], returns his equity.

    board: int8[2, 26]. pending: as `pending_steps` gives it, 0 if he is about to roll.
    """
    _first_layer(net, board, 0, pending, scratch.sums[0])
    _add_sets(net, 0, *pack(board), scratch.sums[0], scratch.whole)
    _add_sets(net, 1, *pack(board[1:]), scratch.whole, scratch.whole)
    _upper_layers(net, scratch.whole, stage(board, net.sight), scratch, probabilities)
    for out in range(probabilities.size):
        probabilities[out] = sigmoid(probabilities[out])
    return equity_of(net, probabilities)


@inlined
def equity_of(net: FastNet, probabilities: NDArray[np.float32]) -> float:
    """The equity in points of the player whose nested probabilities these are, float32[outputs]."""
    equity = net.equity[probabilities.size]
    for out in range(probabilities.size):
        equity += net.equity[out] * probabilities[out]
    return equity


@inlined
def lost_game(points: int, levels: NDArray[np.int64], probabilities: NDArray[np.float32]) -> None:
    """The outcome of a game lost by `points`, in the form of the network's outputs, for the loser."""
    for out in range(2 * levels.size - 1):
        probabilities[out] = 0.0
    for level in range(1, levels.size):
        if points >= levels[level]:
            probabilities[levels.size + level - 1] = 1.0


@kernel
def change_sides(probabilities: NDArray[np.float32], levels: int, changed: NDArray[np.float32]) -> None:
    """Nested probabilities as the other player sees them: his wins are my losses. `changed` must be another array."""
    changed[0] = np.float32(1.0) - probabilities[0]
    for level in range(1, levels):
        changed[level] = probabilities[levels + level - 1]
        changed[levels + level - 1] = probabilities[level]


@inlined
def _follow(
    net: FastNet, board: NDArray[np.int8], moves: int, depth: int, mover: int, contrary: int, scratch: Scratch
) -> None:
    """From `depth` moves of a play to one more. The mover is side `mover` in the eyes of the player who acts next."""
    low, high = scratch.low[depth], scratch.high[depth]
    move = (moves >> (16 * depth)) & 0xFFFF
    source, target = move & 31, (move >> 5) & 31
    before, after = scratch.sums[depth], scratch.sums[depth + 1]
    leave = net.steps[mover, source, count_at(low, high, source) - 1]
    low, high = moved(low, high, source, target)
    enter = net.steps[mover, target, count_at(low, high, target) - 1]
    for unit in range(after.size):
        after[unit] = before[unit] - leave[unit] + enter[unit]
    if move >> 10:
        on_bar = np.int64(board[1, 25])
        for earlier in range(depth):
            on_bar += (moves >> (16 * earlier + 10)) & 1
        blot = net.steps[1 - mover, mirror(target, contrary), 0]
        bar = net.steps[1 - mover, 25, on_bar]
        for unit in range(after.size):
            after[unit] += bar[unit] - blot[unit]
    scratch.low[depth + 1], scratch.high[depth + 1] = low, high


@kernel
def rate_plays(
    net: FastNet, board: NDArray[np.int8], plays: Plays, size: int, depth: int, goes_on: bool, pending: int,
    rules: Rules, scratch: Scratch,
) -> int:  # fmt: skip
    """Rate all plays of a segment and return the index of the best, the first among equals.

    board: int8[2, 26], row 0 the mover; plays, size and depth as `list_plays` gave them. goes_on: after any of them the
    mover acts again, else the other player does; pending: what he has then to play. Fills `scratch.equities` (the
    mover's) and `scratch.probabilities` (those of the player who acts next; of a won game the loser's, exactly).
    """
    outputs = net.equity.size - 1
    mover = 0 if goes_on else 1
    sign = np.float32(1.0 if goes_on else -1.0)
    _first_layer(net, board, mover, pending, scratch.sums[0])
    _add_sets(
        net, 1 - mover, *pack(board[1:]), scratch.sums[0], scratch.sums[0]
    )  # no play changes what the other holds
    other = rear(board[1])
    scratch.low[0], scratch.high[0] = pack(board)
    kept = 0  # how many moves of the last play the accumulators still hold
    last_moves = 0
    for index in range(size):
        moves = plays.moves[index]
        shared = 0
        while shared < kept and ((moves ^ last_moves) >> (16 * shared)) & 0xFFFF == 0:
            shared += 1
        for played in range(shared, depth):
            _follow(net, board, moves, played, mover, rules.contrary, scratch)
        kept = depth
        last_moves = moves
        low, high = plays.low[index], plays.high[index]
        other_rear = 25 if hit_points(high) else other
        reached = stage_of(low, high, last_free(other_rear, net.sight), enters(other_rear), mover == 0)
        _add_sets(net, mover, low, high, scratch.sums[depth], scratch.whole)
        _upper_layers(net, scratch.whole, reached, scratch, scratch.probabilities[index])
    for index in range(size * outputs):
        scratch.flat[index] = sigmoid(scratch.flat[index])
    best = 0
    for index in range(size):
        if plays.low[index] & 15 == rules.checkers:
            unpack(plays.low[index], plays.high[index], board, rules, scratch.board)
            points = points_won(scratch.board[1], rules)
            lost_game(points, net.levels, scratch.probabilities[index])
            equity = np.float32(points)
        else:
            equity = equity_of(net, scratch.probabilities[index]) * sign
        scratch.equities[index] = equity
        if equity > scratch.equities[best]:
            best = index
    return best
