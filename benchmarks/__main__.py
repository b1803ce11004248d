"""Print the tables: `python -m benchmarks`.

The first is of one thread, in units per CPU second, since other work may share the cores; the second of whole training
runs on all cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Rates, Spread, Work, interleaved, ratio, spread
from benchmarks.peers import GNUBG, OPENSPIEL, gnubg_afterstates, gnubg_decisions, installed, openspiel_games
from benchmarks.training import training_table
from benchmarks.works import WIDTH, afterstates, decisions, random_games
from nardy_rl.rules.variant import VARIANTS

_REPETITIONS = 7


@dataclass(frozen=True)
class Row:
    """One line of the table: a work, and what it is held against (another work of ours, or a peer's)."""

    name: str
    ours: Callable[[int], Callable[[], int]]
    against: str
    theirs: Callable[[int], Callable[[], int]]
    target: float | None = None


ROWS = (
    Row("random games, short", partial(random_games, "short"), OPENSPIEL, openspiel_games, 4.0),
    Row("legal afterstates, short", partial(afterstates, "short"), GNUBG, gnubg_afterstates, 1.3),
    *(
        Row(
            f"{plies}-ply decisions, short, {'the bot in the box' if boxed else f'{WIDTH} wide'}",
            partial(decisions, "short", plies, boxed=boxed),
            GNUBG,
            partial(gnubg_decisions, plies),
            None if boxed else target,
        )
        for boxed in (False, True)
        for plies, target in enumerate((8.0, 10.0, 10.0))
    ),
    Row("random games, long", partial(random_games, "long"), "short", partial(random_games, "short"), 1.0),
    Row("legal afterstates, long", partial(afterstates, "long"), "short", partial(afterstates, "short")),
    Row(f"0-ply decisions, long, {WIDTH} wide", partial(decisions, "long", 0), "short", partial(decisions, "short", 0)),
    *(
        Row(f"random games, {name}", partial(random_games, name), "long", partial(random_games, "long"))
        for name in VARIANTS
        if name not in ("long", "short")
    ),
)


def main() -> None:
    """Time all rows in turn, then training, and print the tables."""
    before = os.getloadavg()[0]
    rows = [row for row in ROWS if row.against in VARIANTS or installed(row.against)]
    works = {f"{row.name} {side}": work for row in rows for side, work in (("ours", row.ours), ("theirs", row.theirs))}
    rates = interleaved([Work(name, work) for name, work in works.items()], _REPETITIONS)
    table = Table(title="Units per CPU second, one thread: median (least … greatest)", title_justify="left")
    for heading in ("work", "nardy_rl", "held against", "its rate", "ratio", "ratio by wall clock", "target"):
        table.add_column(heading)
    for row in ROWS:
        if row in rows:
            table.add_row(*_cells(row, rates[f"{row.name} ours"], rates[f"{row.name} theirs"]))
        else:
            table.add_row(row.name, "", f"{row.against} is not installed", "", "", "", _target_text(row))
    console = Console()
    console.print(table)
    loads = f"load average {before:.1f} before, {os.getloadavg()[0]:.1f} after, on {os.cpu_count()} cores"
    console.print(f"{_REPETITIONS} repetitions, all works in turn, after one to warm up; {loads}\n")
    console.print(training_table())


def _cells(row: Row, ours: Rates, theirs: Rates) -> list[str]:
    return [
        row.name,
        _rate_text(spread(ours.cpu)),
        row.against,
        _rate_text(spread(theirs.cpu)),
        _ratio_text(ratio(ours.cpu, theirs.cpu)),
        _ratio_text(ratio(ours.wall, theirs.wall)),
        _target_text(row),
    ]


def _target_text(row: Row) -> str:
    return "" if row.target is None else f"≥ {row.target:g}"


def _rate_text(rates: Spread) -> str:
    return f"{rates.median:,.0f} ({rates.low:,.0f} … {rates.high:,.0f})"


def _ratio_text(ratios: Spread) -> str:
    return f"{ratios.median:.2f} ({ratios.low:.2f} … {ratios.high:.2f})"


if __name__ == "__main__":
    main()
