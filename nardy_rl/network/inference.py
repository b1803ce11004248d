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
from nardy_rl.network.fast_net import SHORTLIST, FastNet, Scratch
from nardy_rl.network.features import CHANCES, PENDING_INPUTS, QUARTERS, SETS
from nardy_rl.network.lists import list_changes, list_positive
from nardy_rl.network.masks import BAR, Facing, Side, facing, held_set, side_of, with_move
from nardy_rl.network.sigmoid import sigmoid
from nardy_rl.network.stages import enters, last_free, rear, stage, stage_of
from nardy_rl.network.upper import fill_slope, shortlist, upper_layers
from nardy_rl.network.vectors import add_rows
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
def _list_sets(side: int, held: int, count: int, scratch: Scratch) -> int:
    """Add the sets of points that a side holds to a list of `count` extra rows; its new length. Side 0 acts."""
    for quarter in range(QUARTERS):
        row = 2 * CHANCES + (side * QUARTERS + quarter) * SETS + held_set(held, quarter)
        scratch.indices[count + quarter] = row
        scratch.values[count + quarter] = 1.0
    return count + QUARTERS


@inlined
def _add_listed(
    net: FastNet, count: int, scratch: Scratch, before: NDArray[np.float32], after: NDArray[np.float32]
) -> None:
    """after = before + the extra rows listed."""
    add_rows(net.extra, 0, after.size, scratch.indices, scratch.values, count, before, after)


@inlined
def _after_hits(other: Side, hits: int, contrary: int) -> Side:
    """A side whose blots on these points, in the hitter's numbering, went to the bar."""
    there, bar = other.there, other.bar
    while hits:
        point = lowest_bit(hits)
        hits &= hits - 1
        there = (there & ~(1 << mirror(point, contrary))) | BAR
        bar += 1
    return Side(there, other.held, bar)


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
    side, other = side_of(low, high, net.sight), side_of(other_low, other_high, net.sight)
    fill_chances(side, facing(other, net.sight), 0, scratch.chances)
    fill_chances(other, facing(side, net.sight), 1, scratch.chances)
    count = list_positive(scratch.chances, scratch.chances.size, scratch.indices, scratch.values)
    count = _list_sets(1, other.held, _list_sets(0, side.held, count, scratch), scratch)
    _add_listed(net, count, scratch, scratch.sums[0], scratch.whole)
    upper_layers(net, scratch.whole, stage(board, net.sight), scratch, probabilities)
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
    left = count_at(low, high, source) - 1
    leave = net.steps[mover, source, left]
    low, high = moved(low, high, source, target)
    came = count_at(low, high, target)
    enter = net.steps[mover, target, came - 1]
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
    there, held = with_move(scratch.there[depth], scratch.held[depth], source, target, left, came, net.sight)
    scratch.low[depth + 1], scratch.high[depth + 1] = low, high
    scratch.there[depth + 1], scratch.held[depth + 1] = there, held


@kernel
def rate_plays(
    net: FastNet, board: NDArray[np.int8], plays: Plays, size: int, depth: int, goes_on: bool, pending: int,
    only_best: bool, rules: Rules, scratch: Scratch,
) -> int:  # fmt: skip
    """Rate all plays of a segment and return the index of the best, the first among equals.

    board: int8[2, 26], row 0 the mover; plays, size and depth as `list_plays` gave them. goes_on: after any of them the
    mover acts again, else the other player does; pending: what he has then to play. Fills `scratch.equities` (the
    mover's) and `scratch.probabilities` (those of the player who acts next; of a won game the loser's, exactly).

    only_best: the others do not matter. Of more than twice SHORTLIST plays a network with several hidden layers then
    rates the first, those in another stage of the game, and the SHORTLIST that are likeliest to be the best (see
    `upper`); of all others the equity is -inf.
    """
    outputs = net.equity.size - 1
    mover = 0 if goes_on else 1
    sign = np.float32(1.0 if goes_on else -1.0)
    _first_layer(net, board, mover, pending, scratch.sums[0])
    scratch.low[0], scratch.high[0] = pack(board)
    other_low, other_high = pack(board[1:])
    mine, other = side_of(scratch.low[0], scratch.high[0], net.sight), side_of(other_low, other_high, net.sight)
    scratch.there[0], scratch.held[0] = mine.there, mine.held
    # No play changes what the other holds, and half of the chances stay as they are.
    ahead = facing(other, net.sight)
    fill_chances(mine, ahead, mover, scratch.chances_before)
    fill_chances(other, facing(mine, net.sight), 1 - mover, scratch.chances_before)
    count = list_positive(scratch.chances_before, scratch.chances_before.size, scratch.indices, scratch.values)
    _add_listed(net, _list_sets(1 - mover, other.held, count, scratch), scratch, scratch.sums[0], scratch.sums[0])
    other_rear = rear(board[1])
    choosy = only_best and net.widths.size > 2 and size > 2 * SHORTLIST
    listed, stage_listed = 0, -1  # how many plays are on the shortlist, and the stage that they are of
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
        behind = 25 if hits else other_rear
        reached = stage_of(low, high, last_free(behind, net.sight), enters(behind), mover == 0)
        mine = Side(scratch.there[depth], scratch.held[depth], (high >> 36) & 15)
        fill_chances(mine, Facing(ahead.reachable, ahead.blots & ~hits), mover, scratch.chances)
        met = _after_hits(other, hits, rules.contrary)
        fill_chances(met, facing(mine, net.sight), 1 - mover, scratch.chances)
        count = _list_sets(mover, mine.held, 0, scratch)
        count = list_changes(
            scratch.chances, scratch.chances_before, count, scratch.chances.size, scratch.indices, scratch.values
        )
        _add_listed(net, count, scratch, scratch.sums[depth], scratch.whole)
        if reached == stage_listed:
            scratch.equities[index] = -np.inf
            listed = shortlist(index, scratch.whole, sign, listed, scratch)
            continue
        scratch.equities[index] = 0.0
        upper_layers(net, scratch.whole, reached, scratch, scratch.probabilities[index])
        if choosy and index == 0:
            fill_slope(net, reached, scratch.probabilities[0], scratch)
            stage_listed = reached
    for place in range(listed):
        index = scratch.listed[place]
        scratch.equities[index] = 0.0
        upper_layers(net, scratch.likely[place], stage_listed, scratch, scratch.probabilities[index])
    for index in range(size * outputs):
        scratch.flat[index] = sigmoid(scratch.flat[index])
    best = 0
    for index in range(size):
        if plays.low[index] & 15 == rules.checkers:
            unpack(plays.low[index], plays.high[index], board, rules, scratch.board)
            points = points_won(scratch.board[1], rules)
            lost_game(points, net.levels, scratch.probabilities[index])
            equity = np.float32(points)
        elif scratch.equities[index] < 0:  # not rated
            continue
        else:
            equity = equity_of(net, scratch.probabilities[index]) * sign
        scratch.equities[index] = equity
        if equity > scratch.equities[best]:
            best = index
    return best
