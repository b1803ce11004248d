"""The compiled twin of `ValueNet`: rates all plays of a roll in one go, following the moves through its first layer.

The first layer of an afterstate is its parent's plus two table differences a move (four where a blot is hit). Plays
that the generator lists one after another share their first moves, so the accumulator is kept per depth and only what
differs from the play before is redone. What the sets of held points add, a row for each quarter, and what the next roll
can do come on top.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel, lowest_bit
from nardy_rl.network.chances import fill_chances
from nardy_rl.network.fast_net import FastNet, Scratch
from nardy_rl.network.features import PENDING_INPUTS, STAGES
from nardy_rl.network.sigmoid import sigmoid
from nardy_rl.network.stages import enters, held_points, held_set, last_free, rear, stage, stage_of
from nardy_rl.network.vectors import add_rows, list_positive
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.kernel import Plays
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.words import count_at, hit_points, mirror, moved, pack, unpack


@inlined
def _first_layer(net: FastNet, board: NDArray[np.int8], actor: int, pending: int, sums: NDArray[np.float32]) -> None:
    """The first layer, before its ReLU, of a board whose row `actor` acts, with `pending` steps to play.

    What the sets of held points and the next roll add is left out.
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
    held_low, held_high = held_points(low, high, net.sight.least)
    first = net.sets[side, 0, held_set(held_low, held_high, 0)]
    second = net.sets[side, 1, held_set(held_low, held_high, 1)]
    third = net.sets[side, 2, held_set(held_low, held_high, 2)]
    fourth = net.sets[side, 3, held_set(held_low, held_high, 3)]
    for unit in range(after.size):
        after[unit] = before[unit] + first[unit] + second[unit] + third[unit] + fourth[unit]


@inlined
def _add_chances(net: FastNet, low: int, high: int, other_low: int, other_high: int, scratch: Scratch) -> None:
    """Add to the first layer what the next roll can do; (low, high) are the words of the side that acts."""
    chances = scratch.chances
    fill_chances(low, high, other_low, other_high, net.sight, chances)
    count = list_positive(chances, chances.size, scratch.indices, scratch.values)
    add_rows(net.chances, 0, scratch.whole.size, scratch.indices, scratch.values, count, scratch.whole)


@inlined
def _after_hits(low: int, high: int, hits: int, contrary: int) -> tuple[int, int]:
    """A side's words after its blots on these points, in the hitter's numbering, went to the bar."""
    while hits:
        point = lowest_bit(hits)
        hits &= hits - 1
        low, high = moved(low, high, mirror(point, contrary), 25)
    return low, high


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
    low, high = pack(board)
    other_low, other_high = pack(board[1:])
    _add_sets(net, 0, low, high, scratch.sums[0], scratch.whole)
    _add_sets(net, 1, other_low, other_high, scratch.whole, scratch.whole)
    _add_chances(net, low, high, other_low, other_high, scratch)
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
    other_low, other_high = pack(board[1:])
    # No play changes what the other holds.
    _add_sets(net, 1 - mover, other_low, other_high, scratch.sums[0], scratch.sums[0])
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
        hits = hit_points(high)
        other_rear = 25 if hits else other
        reached = stage_of(low, high, last_free(other_rear, net.sight), enters(other_rear), mover == 0)
        _add_sets(net, mover, low, high, scratch.sums[depth], scratch.whole)
        met_low, met_high = _after_hits(other_low, other_high, hits, rules.contrary)
        if goes_on:
            _add_chances(net, low, high, met_low, met_high, scratch)
        else:
            _add_chances(net, met_low, met_high, low, high, scratch)
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
