"""Let two bots play a match with duplicated dice: python evaluate.py variant=short a=BOT b=BOT games=10000 seed=1."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from omegaconf import MISSING
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nardy_rl import cli
from nardy_rl.evaluation.match import check_match, play_match
from nardy_rl.evaluation.report import check_writable, match_table, result_sheet, write_json
from nardy_rl.players.bot import is_network
from nardy_rl.players.registry import load_player
from nardy_rl.rules.variant import Variant


@dataclass
class Options:
    """The options of `configs/evaluate.yaml`, where they are explained."""

    a: str = MISSING
    b: str = MISSING
    games: int = 10_000
    luck: bool = True
    seed: int = 1
    workers: int | None = None
    out: str | None = None

    def __post_init__(self) -> None:
        check_match(self.games, self.seed, self.workers)
        if self.out is not None:
            check_writable(Path(self.out))


def evaluate(variant: Variant, options: Options) -> None:
    """Play the match, print its table, and write it to `out` if asked."""
    a, b = (load_player(name, variant) for name in (options.a, options.b))
    judge = next((player.rater for player in (a, b) if options.luck and is_network(player)), None)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("games", total=options.games)
        result = play_match(
            variant, a, b, options.games, options.seed, options.workers, lambda games: bar.advance(task, games), judge
        )
    Console().print(match_table(result, variant, options.a, options.b))
    if options.out is not None:
        write_json(Path(options.out), result_sheet(result, variant, options.a, options.b))


if __name__ == "__main__":
    cli.run(__file__, "evaluate", Options, evaluate)
