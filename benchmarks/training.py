"""Training throughput: whole runs from zero on all cores; self-play, learner, checkpoints and evaluation included."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Spread, spread
from nardy_rl.rules.variant import VARIANTS, variant
from nardy_rl.training.display import Display
from nardy_rl.training.options import Network, Options, Phase, Schedule
from nardy_rl.training.trainer import Trainer

_GAMES, _REPETITIONS, _WIDTH = 50_000, 3, 128
_TARGET = 2_500
_TD_GAMMON = 1_500_000  # games that TD-Gammon 2.1 was trained on (Tesauro 1995)


def training_table() -> Table:
    """Train nets for all variants in turn and tabulate games a second of wall-clock time."""
    title = f"Training from zero, {_GAMES:,} games, {_WIDTH} wide, {os.cpu_count()} cores: games a wall-clock second"
    table = Table(title=title, title_justify="left")
    for heading in ("variant", "games/s", "target", "1.5 M games take"):
        table.add_column(heading)
    paces: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for repetition in range(_REPETITIONS + 1):
        for name, found in paces.items():
            pace = _train(name, _GAMES if repetition else 512, seed=repetition)
            if repetition:
                found.append(pace)
    for name, found in paces.items():
        usual = spread(found)
        table.add_row(name, _text(usual), f"≥ {_TARGET:,}", f"{_TD_GAMMON / usual.median / 60:.1f} min")
    return table


def _train(name: str, games: int, seed: int) -> float:
    phase = Phase(games=games, trace=[0.9, 0.7], learning_rate=[3e-3, 1e-4])
    options = Options(network=Network([_WIDTH]), schedule=Schedule(phases=[phase], evaluations=1), seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        Trainer(variant(name), options, Path(folder), Display(Console(quiet=True))).run()
        return games / (time.perf_counter() - began)


def _text(pace: Spread) -> str:
    return f"{pace.median:,.0f} ({pace.low:,.0f} … {pace.high:,.0f})"
