"""Matches with duplicated dice: each pair of games has one stream of dice and is played from both seats.

Everything that chance decides in pair p follows from (seed, p), so a match comes out the same however it is spread over
threads or processes, and a player against itself scores exactly 0.
"""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import cores, kernel
from nardy_rl.evaluation.outside import outside_pairs
from nardy_rl.evaluation.statistics import COLUMNS, KIND, PASSES, POINTS_A, TURNS, MatchResult, match_result
from nardy_rl.players.bot import Bot
from nardy_rl.players.games import MAX_DECISIONS, Record, Table, new_record, new_table, play_game, start_board
from nardy_rl.players.registry import Player
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import stream
from nardy_rl.rules.outcome import result_class
from nardy_rl.rules.variant import Variant

Progress = Callable[[int], None]
"""Is told now and then how many more games are finished."""

_Games: TypeAlias = NDArray[np.int32]
_Play: TypeAlias = Callable[[range], _Games]
_CHUNKS_A_WORKER = 16  # small enough to level out the workers' loads and to show progress
_LARGEST_CHUNK = 250


def play_match(
    variant: Variant,
    a: Player,
    b: Player,
    games: int,
    seed: int,
    workers: int | None = None,
    progress: Progress | None = None,
) -> MatchResult:
    """Play `games` games of A against B and say what came of it, for A.

    games: an even number from 4 (an error cannot be estimated from a single pair). seed: from 0 to 2^63 - 1. workers:
    threads where both players are compiled, else processes; None is one for each core; the result does not depend on
    it. Raises ValueError for arguments out of range, and for a variant of which a game does not end.
    """
    check_match(games, seed, workers)
    pairs = games // 2
    workers = workers or cores()
    size = max(1, min(_LARGEST_CHUNK, math.ceil(pairs / (workers * _CHUNKS_A_WORKER))))
    chunks = [range(first, min(first + size, pairs)) for first in range(0, pairs, size)]
    pool: Callable[[int], Executor]
    if isinstance(a, Bot) and isinstance(b, Bot):
        play, pool = partial(compiled_pairs, variant, a, b, seed), ThreadPoolExecutor
    else:
        play, pool = partial(outside_pairs, variant, a, b, seed), _processes
    play(range(0))  # compiles, before the clock starts
    started = time.perf_counter()
    played = []
    with _spread(pool, min(workers, len(chunks))) as spread:
        for chunk in spread(play, chunks):
            if (chunk[:, :, TURNS] < 0).any():
                raise ValueError(
                    f"a game of variant {variant.name} passed {MAX_DECISIONS} decisions: its rules may never end"
                )
            played.append(chunk)
            if progress:
                progress(2 * len(chunk))
    return match_result(variant, np.concatenate(played), time.perf_counter() - started, seed)


def check_match(games: int, seed: int, workers: int | None) -> None:
    """Raise ValueError unless a match can be played with these arguments of `play_match`."""
    if games < 4 or games % 2:
        fitting = f" ({games - 1} or {games + 1})" if games > 4 else ""
        raise ValueError(f"games must be an even number from 4{fitting}, each pair played from both seats; got {games}")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed must be a whole number from 0 to 2^63 - 1; got {seed}")
    if workers is not None and workers < 1:
        raise ValueError(f"workers must be a whole number from 1, or null for one for each core; got {workers}")


def _processes(workers: int) -> ProcessPoolExecutor:
    # Threads may be running here, which a forked process would not survive.
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


@contextmanager
def _spread(
    pool: Callable[[int], Executor], workers: int
) -> Iterator[Callable[[_Play, list[range]], Iterator[_Games]]]:
    """A `map` over a pool that gives results in order; on an error what is not yet begun is dropped."""
    if workers == 1:
        yield map
        return
    executor = pool(workers)
    try:
        yield executor.map
    finally:
        executor.shutdown(cancel_futures=True)


def compiled_pairs(variant: Variant, a: Bot, b: Bot, seed: int, pairs: range) -> NDArray[np.int32]:
    """Play the pairs of these numbers between compiled bots, without the GIL: int32[pairs, 2, COLUMNS]."""
    games = np.empty((len(pairs), 2, COLUMNS), np.int32)
    start, record = start_board(variant), new_record(0, variant.outputs)
    _play_pairs(a, b, start, variant.rules, seed, pairs.start, new_table(a, b), new_table(b, a), record, games)
    return games


@kernel
def _play_pairs(
    a: Bot, b: Bot, start: NDArray[np.int8], rules: Rules, seed: int, first_pair: int, table: Table, swapped: Table,
    record: Record, games: NDArray[np.int32],
) -> None:  # fmt: skip
    """Fill `games` int32[pairs, 2, COLUMNS]: A begins the first game of each pair, B the second."""
    for pair in range(len(games)):
        dice_key = stream(seed, first_pair + pair)
        choice_key = stream(dice_key, 0)
        for second in range(2):
            if second:
                result = play_game(b, a, start, rules, dice_key, choice_key, swapped, record, 0)
                loser = swapped.after[1]
            else:
                result = play_game(a, b, start, rules, dice_key, choice_key, table, record, 0)
                loser = table.after[1]
            row = games[pair, second]
            row[POINTS_A] = result.points if result.starter_won == (second == 0) else -result.points
            row[KIND] = result_class(loser, rules)
            row[TURNS] = result.turns
            row[PASSES] = result.passes
