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
from nardy_rl.evaluation.kept import Columns, kept_game
from nardy_rl.evaluation.luck import game_luck
from nardy_rl.evaluation.outside import outside_pairs
from nardy_rl.evaluation.statistics import (
    KIND,
    PASSES,
    POINTS_A,
    TURNS,
    Games,
    MatchResult,
    match_result,
    new_games,
)
from nardy_rl.formats.files import Keep
from nardy_rl.formats.played import PlayedGame
from nardy_rl.players.bot import Bot, is_network
from nardy_rl.players.games import MAX_DECISIONS, Record, Table, new_record, new_table, play_game, start_board
from nardy_rl.players.registry import Player
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import stream
from nardy_rl.rules.outcome import result_class
from nardy_rl.rules.variant import Variant
from nardy_rl.search.lookahead import ROLLS, Room, new_room
from nardy_rl.search.rater import Rater

Progress = Callable[[int], None]
"""Is told now and then how many more games are finished."""

_Play: TypeAlias = Callable[[range], Games]
_CHUNKS_A_WORKER = 16  # small enough to level out the workers' loads and to show progress
# Pairs; the second where a player looks ahead or is asked from outside. What has begun is played to its end, also after
# Ctrl-C.
_LARGEST_CHUNK, _LARGEST_SLOW_CHUNK = 250, 8
_DECISIONS_A_PAIR = 1024  # room to record the games of a pair; longer ones get more


def play_match(
    variant: Variant,
    a: Player,
    b: Player,
    games: int,
    seed: int,
    workers: int | None = None,
    progress: Progress | None = None,
    judge: Rater | None = None,
    keep: Keep | None = None,
) -> MatchResult:
    """Play `games` games of A against B and say what came of it, for A.

    games: an even number from 4 (an error cannot be estimated from a single pair). seed: from 0 to 2^63 - 1. workers:
    threads where both players are compiled, else processes; None is one for each core; the result does not depend on
    it. judge: whose opinion of the dice tells luck from skill (see `luck`), for about 20 times the work of a bare
    network's decisions; None leaves that out. keep: is given the games move by move. Raises ValueError for arguments
    out of range, and for a variant of which a game does not end.
    """
    check_match(games, seed, workers)
    pairs = games // 2
    fast = all(isinstance(player, Bot) and player.plies == 0 for player in (a, b))
    largest = _LARGEST_CHUNK if fast else _LARGEST_SLOW_CHUNK
    size = max(1, min(largest, math.ceil(pairs / ((workers or cores()) * _CHUNKS_A_WORKER))))
    chunks = [range(first, min(first + size, pairs)) for first in range(0, pairs, size)]
    parts = []
    with playing(variant, a, b, judge, seed, chunks, workers, keep) as played:
        started = time.perf_counter()
        for part in played:
            parts.append(part)
            if progress:
                progress(2 * len(part.games))
        seconds = time.perf_counter() - started
    return match_result(variant, joined(parts), judge is not None, seconds, seed)


@contextmanager
def playing(
    variant: Variant, a: Player, b: Player, judge: Rater | None, seed: int, chunks: list[range], workers: int | None,
    keep: Keep | None,
) -> Iterator[Iterator[Games]]:  # fmt: skip
    """The games of these pairs, chunk by chunk in order, once all is compiled; arguments and errors as `play_match`.

    What is not yet begun when the context is left is dropped.
    """
    pool: Callable[[int], Executor]
    unrecorded: list[range] = []
    workers = min(workers or cores(), len(chunks))
    if isinstance(a, Bot) and isinstance(b, Bot):
        play, pool = partial(compiled_pairs, variant, a, b, judge, seed, keep is not None), ThreadPoolExecutor
        play(range(0))
    else:
        play, pool = partial(outside_pairs, variant, a, b, judge, seed, keep is not None), _processes
        unrecorded = [range(1)] * workers  # a pair for each process, which starts and compiles meanwhile
    with _spread(pool, workers) as spread:
        for _ in spread(play, unrecorded):
            pass
        yield (_handed_on(_whole(part, variant), keep) for part in spread(play, chunks))


def judge_of(a: Player, b: Player, luck: bool | None = None) -> Rater | None:
    """Who judges the luck of these two: the first network among them.

    luck: whether it is wanted; None: unless one is random or heuristic, where it takes more time than it saves.
    """
    if luck is None:
        luck = not any(isinstance(player, Bot) and not is_network(player) for player in (a, b))
    return next((player.rater for player in (a, b) if is_network(player)), None) if luck else None


def joined(parts: list[Games]) -> Games:
    """The games of all parts, but not move by move: those are handed on as they come."""
    return Games(np.concatenate([part.games for part in parts]), np.concatenate([part.luck for part in parts]), [])


def _whole(part: Games, variant: Variant) -> Games:
    if (part.games[:, :, TURNS] < 0).any():
        raise ValueError(f"a game of variant {variant.name} passed {MAX_DECISIONS} decisions: its rules may never end")
    return part


def _handed_on(part: Games, keep: Keep | None) -> Games:
    if keep:
        keep(part.played)
    return part._replace(played=[])


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
def _spread(pool: Callable[[int], Executor], workers: int) -> Iterator[Callable[[_Play, list[range]], Iterator[Games]]]:
    """A `map` over a pool that gives results in order; on an error what is not yet begun is dropped."""
    if workers == 1:
        yield map
        return
    executor = pool(workers)
    try:
        yield executor.map
    finally:
        executor.shutdown(cancel_futures=True)


def compiled_pairs(variant: Variant, a: Bot, b: Bot, judge: Rater | None, seed: int, kept: bool, pairs: range) -> Games:
    """Play the pairs of these numbers between compiled bots, without the GIL; kept: also move by move."""
    games, luck, played = new_games(len(pairs))
    start, tables = start_board(variant), (new_table(a, b), new_table(b, a))
    referee = judge or a.rater
    room, equities = new_room(referee.net), np.zeros(ROLLS, np.float32)
    record = new_record(_DECISIONS_A_PAIR if judge or kept else 0, variant.outputs, kept)
    ends = np.zeros(2, np.int64)
    done = -1
    while done < len(pairs):  # once at least, which compiles
        done = max(done, 0)
        last = done + 1 if kept else len(pairs)  # the record holds one pair at a time
        fitted = _play_pairs(
            a, b, referee, judge is not None, start, variant.rules, seed, pairs.start + done, *tables, record, ends,
            room, equities, games[done:last], luck[done:last],
        )  # fmt: skip
        if kept and fitted:
            played += _kept_pair(variant, record, ends, games[done])
        done += fitted
        if done < last:
            record = new_record(2 * len(record.seats), variant.outputs, kept)
    return Games(games, luck, played)


def _kept_pair(variant: Variant, record: Record, ends: NDArray[np.int64], rows: NDArray[np.int32]) -> list[PlayedGame]:
    """The two games that stand in `record`."""
    middle, end = ends.tolist()
    return [
        kept_game(
            variant, Columns(record.pending[part], record.seats[part], record.dice[part], record.moves[part]), second,
            rows[second],
        )
        for second, part in enumerate((slice(middle), slice(middle, end)))
    ]  # fmt: skip


@kernel
def _play_pairs(
    a: Bot, b: Bot, judge: Rater, judged: bool, start: NDArray[np.int8], rules: Rules, seed: int, first_pair: int,
    table: Table, swapped: Table, record: Record, ends: NDArray[np.int64], room: Room, equities: NDArray[np.float32],
    games: NDArray[np.int32], luck: NDArray[np.float64],
) -> int:  # fmt: skip
    """Fill `games` and `luck` (see `statistics.Games`): A begins the first game of each pair, B the second.

    ends: int64[2], where in `record` the two games of the last pair end, if it has room for any. Returns how many pairs
    were played before one did not fit there.
    """
    for pair in range(len(games)):
        dice_key = stream(seed, first_pair + pair)
        choice_key = stream(dice_key, 0)
        begin = 0
        for second in range(2):
            if second:
                result = play_game(
                    b, a, start, rules, dice_key, choice_key, MAX_DECISIONS, True, swapped, record, begin
                )
                loser = swapped.after[1]
            else:
                result = play_game(a, b, start, rules, dice_key, choice_key, MAX_DECISIONS, True, table, record, begin)
                loser = table.after[1]
            if result.decisions == 0:
                return pair
            row = games[pair, second]
            row[POINTS_A] = result.points if result.starter_won == (second == 0) else -result.points
            row[KIND] = result_class(loser, rules)
            row[TURNS] = result.turns
            row[PASSES] = result.passes
            if len(record.seats):
                end = begin + result.decisions
                if judged:
                    of_starter = game_luck(
                        judge, record.positions[begin:end], record.pending[begin:end], record.seats[begin:end],
                        dice_key, rules, room, equities,
                    )  # fmt: skip
                    luck[pair, second] = -of_starter if second else of_starter
                ends[second] = end
                begin = end
    return len(games)
