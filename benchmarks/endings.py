"""Self-play of the bots in the box with bear-off tables and without: `python -m benchmarks.endings`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Work, interleaved, ratio, spread
from nardy_rl.players.bot import Bot, is_network
from nardy_rl.players.box import boxed
from nardy_rl.players.registry import load_player
from nardy_rl.rules.variant import variant
from nardy_rl.search.bearoff_cache import no_endings, obstacle
from nardy_rl.selfplay.batch import SelfPlay

_GAMES, _REPETITIONS, _TRACE = 256, 7, 0.7


def main() -> None:
    """Time self-play of every bot in the box whose variant has tables, and print the table."""
    table = Table(title="Games of self-play per CPU second, one thread: median", title_justify="left")
    for heading in ("bot", "with tables", "without", "ratio (least … greatest)"):
        table.add_column(heading)
    for name in boxed():
        rules = variant(name)
        bot = load_player(name, rules)
        if obstacle(rules) or not is_network(bot):
            continue
        bare = bot._replace(rater=bot.rater._replace(endings=no_endings(rules)))
        works = [Work("with", partial(_games, name, bot)), Work("without", partial(_games, name, bare))]
        rates = interleaved(works, _REPETITIONS)
        ratios = ratio(rates["with"].cpu, rates["without"].cpu)
        medians = (f"{spread(rates[which].cpu).median:,.0f}" for which in ("with", "without"))
        table.add_row(name, *medians, f"{ratios.median:.2f} ({ratios.low:.2f} … {ratios.high:.2f})")
    Console().print(table)


def _games(name: str, bot: Bot, repetition: int) -> Callable[[], int]:
    """A batch of games of a bot against itself: games."""
    selfplay = SelfPlay(variant(name), seed=repetition, workers=1)
    return lambda: len(selfplay.play(bot, 0, _GAMES, _TRACE).games)


if __name__ == "__main__":
    main()
