"""How many afterstates a decision has in play, beside the proved bound: `python -m benchmarks.branching`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from nardy_rl.compiled import kernel
from nardy_rl.players.bot import HEURISTIC, RANDOM, Bot, choose, simple_bot
from nardy_rl.players.games import MAX_DECISIONS, new_table, offer, start_board
from nardy_rl.players.games import Table as Seats
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import stream
from nardy_rl.rules.kernel import MAX_PLAYS
from nardy_rl.rules.protocol import after_play, begin
from nardy_rl.rules.variant import VARIANTS, variant
from nardy_rl.rules.words import copy_board
from nardy_rl.search.lookahead import play_on

_GAMES = {"random": (RANDOM, 100_000), "heuristic": (HEURISTIC, 20_000)}
_SEED = 1


def main() -> None:
    """Play games of every variant between random bots and between heuristic ones, and print the table."""
    table = Table(title=f"Afterstates of a decision, at most {MAX_PLAYS:,}", title_justify="left")
    for heading in ("variant", "both play", "games", "decisions", "mean", "largest"):
        table.add_column(heading)
    for name in VARIANTS:
        for player, (kind, games) in _GAMES.items():
            rules, bot = variant(name), simple_bot(kind, variant(name))
            decisions, total, largest = _count(bot, start_board(rules), rules.rules, games, new_table(bot, bot))
            mean = f"{total / decisions:.1f}"
            table.add_row(name, player, f"{games:,}", f"{decisions:,}", mean, f"{largest:,}")
    Console().print(table)


@kernel
def _count(bot: Bot, start: NDArray[np.int8], rules: Rules, games: int, seats: Seats) -> tuple[int, int, int]:
    """Play so many games from `start`, int8[2, 26]: (decisions, afterstates of all, the most of one)."""
    board, plays = seats.board, seats.plays
    decisions, total, largest = 0, 0, 0
    for game in range(games):
        key = stream(_SEED, game)
        copy_board(start, board)
        standing = begin(0)
        for decision in range(MAX_DECISIONS):
            standing, size, depth, left_over = offer(standing, board, key, rules, plays)
            decisions, total, largest = decisions + 1, total + size, max(largest, size)
            coming = after_play(standing, depth, left_over, 0, rules)
            chosen = choose(
                bot, board, standing, coming, plays, size, depth, left_over, rules, seats.scratch_a, seats.room_a, key,
                decision,
            )  # fmt: skip
            if plays.low[chosen] & 15 == rules.checkers:
                break
            standing = play_on(standing, board, plays, chosen, depth, left_over, rules, seats.after)
    return decisions, total, largest


if __name__ == "__main__":
    main()
