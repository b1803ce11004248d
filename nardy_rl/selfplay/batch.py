"""A batch of self-play games on all cores, with its learning targets and its statistics."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import cores, kernel
from nardy_rl.players.bot import Bot
from nardy_rl.players.games import Record, Table, new_record, new_table, play_game, start_board
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import stream
from nardy_rl.rules.variant import Variant
from nardy_rl.selfplay.targets import Game, Returns, lambda_returns, new_returns

_CHUNK = 32  # games a thread takes at a time: small enough to share out evenly, large enough to be one call
_DECISIONS_A_GAME = 128  # room asked for at first; a chunk that needs more gets it
_LONGEST = 2000  # decisions; a trained network's games have less than a tenth of that
_UNFINISHED = 0.5
_FEW = 8  # of so few unfinished games nothing follows
_TO_END = 8
"""One game in so many is played to its end, that the network learns the bear-off too; the others stop where the tables
know how they end."""

STARTER_WON, POINTS, TURNS, PASSES, DECISIONS = range(5)


@dataclass(frozen=True)
class Batch:
    """Positions of whole games in the order of the games, with their targets, and how each game ended."""

    positions: NDArray[np.int8]  # [N, 2, 26]: before a roll or segment, row 0 the player who acts
    pending: NDArray[np.int32]  # [N]: what he has to play, as `pending_steps` gives it
    targets: NDArray[np.float32]  # [N, outputs]: nested probabilities for him
    games: NDArray[np.int64]  # [games, 5]: STARTER_WON, POINTS, TURNS, PASSES, DECISIONS


@kernel
def _play_chunk(
    bot: Bot, start: NDArray[np.int8], rules: Rules, seed: int, first: int, trace: float, all_rolls: bool,
    table: Table, record: Record, returns: Returns, games: NDArray[np.int64],
) -> int:  # fmt: skip
    """Play games `first`, `first` + 1, … into `record`, one for each row of `games`.

    Returns how many there was room for.
    """
    written = 0
    for game in range(games.shape[0]):
        key = stream(seed, first + game)
        to_end = (first + game) % _TO_END == 0
        result = play_game(bot, bot, start, rules, key, key, _LONGEST, to_end, table, record, written)
        if result.decisions == 0:
            return game
        end = written + result.decisions
        games[game, STARTER_WON] = result.starter_won
        games[game, POINTS] = result.points
        games[game, TURNS] = result.turns if result.points else result.decisions
        games[game, PASSES] = result.passes
        games[game, DECISIONS] = result.decisions
        if result.points == 0:  # broken off: what the network makes of the last position has to do
            record.exact[end - 1] = True
        played = Game(
            record.positions[written:end], record.pending[written:end], record.seats[written:end],
            record.values[written:end], record.exact[written:end],
        )  # fmt: skip
        lambda_returns(played, result.points, trace, all_rolls, bot.rater, rules, returns, table.room_a)
        written = end
    return games.shape[0]


class SelfPlay:
    """Plays batches of games of one variant on `workers` threads (default: all cores).

    Game number g of a seed is the same game whatever the number of threads and however games are batched.
    """

    def __init__(self, variant: Variant, seed: int, workers: int | None = None) -> None:
        self._variant = variant
        self._seed = seed
        self._pool = ThreadPoolExecutor(workers or cores())

    def play(self, bot: Bot, first: int, number: int, trace: float, all_rolls: bool = False) -> Batch:
        """Games `first` … `first + number - 1` of `bot` against itself, with λ = `trace` returns as targets.

        all_rolls: see `lambda_returns`.

        A game that an untrained network does not bring to an end is broken off, with 0 points. Raises ValueError if
        most games are.
        """
        starts = range(first, first + number, _CHUNK)
        chunks = self._pool.map(
            lambda start: self._chunk(bot, start, min(_CHUNK, first + number - start), trace, all_rolls), starts
        )
        parts = [part for chunk in chunks for part in chunk]
        batch = Batch(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        if (batch.games[:, POINTS] == 0).sum() > max(_UNFINISHED * number, _FEW):
            raise ValueError(
                f"games of variant {self._variant.name} did not end within {_LONGEST} decisions: "
                "its rules let both sides be stuck, or the network has lost its way and a lower learning rate may help"
            )
        return batch

    def _chunk(
        self, bot: Bot, first: int, number: int, trace: float, all_rolls: bool
    ) -> list[tuple[NDArray[np.int8], NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]]:
        variant = self._variant
        table, start = new_table(bot, bot), start_board(variant)
        returns = new_returns(variant.outputs)
        room = number * _DECISIONS_A_GAME
        parts = []
        while number:
            record, games = new_record(room, variant.outputs), np.empty((number, 5), np.int64)
            played = _play_chunk(
                bot, start, variant.rules, self._seed, first, trace, all_rolls, table, record, returns, games
            )
            rows = int(games[:played, DECISIONS].sum())
            parts.append((record.positions[:rows], record.pending[:rows], record.values[:rows], games[:played]))
            first, number, room = first + played, number - played, room * 2
        return parts
