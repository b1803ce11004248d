"""How large a bundle is, and how quickly each reader loads and plays it: `python -m benchmarks.readers FOLDER …`."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from nardy_rl.bundle import read_bundle
from nardy_rl.players.bot import network_bot
from nardy_rl.selfplay.batch import DECISIONS, SelfPlay

_CLIENTS = Path(__file__).parents[1] / "clients"
_SECONDS = 10.0  # of play for each reader
_GAMES = 256  # at a time


class Pace(NamedTuple):
    """What a reader does with a bundle, rules and network together, in games against itself."""

    load: float  # seconds until it could play
    decisions: float  # a second


def main(folders: list[str]) -> None:
    """Time every reader on every bundle, and print the table."""
    table = Table(title=f"Readers of bundles, one thread, {_SECONDS:g} s each", title_justify="left")
    for heading in ("bundle", "bytes", "reader", "load", "decisions/s"):
        table.add_column(heading)
    readers: dict[str, Callable[[Path], Pace]] = {"nardy_rl, compiled": _compiled, "clients/python": _python}
    if shutil.which("node") and (_CLIENTS / "js" / "node_modules").is_dir():
        readers["clients/js in Node"] = _node
    for folder in map(Path, folders):
        size = sum(file.stat().st_size for file in folder.iterdir())
        for name, reader in readers.items():
            pace = reader(folder)
            table.add_row(folder.name, f"{size:,}", name, f"{pace.load:.2f} s", f"{pace.decisions:,.0f}")
    Console().print(table)


def _compiled(folder: Path) -> Pace:
    began = time.perf_counter()
    bundle = read_bundle(folder)
    bot = network_bot(bundle, bundle.variant)
    load = time.perf_counter() - began
    games = SelfPlay(bundle.variant, seed=1, workers=1)
    games.play(bot, 0, _GAMES, 1.0)  # warms up
    played = decisions = 0
    began = time.perf_counter()
    while time.perf_counter() - began < _SECONDS:
        played += _GAMES
        decisions += int(games.play(bot, played, _GAMES, 1.0).games[:, DECISIONS].sum())
    return Pace(load, decisions / (time.perf_counter() - began))


def _python(folder: Path) -> Pace:
    client, rng = _client(), random.Random(1)
    began = time.perf_counter()
    bot = client.Bot(folder)
    load = time.perf_counter() - began
    decisions = 0
    began = time.perf_counter()
    while time.perf_counter() - began < _SECONDS:
        game = client.Game(bot.rules, starter=0)
        while game.winner is None:
            if not game.turn.now:
                game.roll((rng.randint(1, 6), rng.randint(1, 6)))
            game.play(bot.choose_in(game))
            decisions += 1
    return Pace(load, decisions / (time.perf_counter() - began))


def _client() -> ModuleType:
    spec = importlib.util.spec_from_file_location("nardy_client", _CLIENTS / "python" / "nardy_client.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["nardy_client"] = module
    spec.loader.exec_module(module)
    return module


def _node(folder: Path) -> Pace:
    command = ["node", "test/speed.mjs", str(folder.resolve()), str(_SECONDS)]
    told = subprocess.run(command, cwd=_CLIENTS / "js", check=True, capture_output=True, text=True).stdout
    found = json.loads(told)
    return Pace(found["load"], found["decisions"] / found["seconds"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: python -m benchmarks.readers FOLDER … (bundles of python -m nardy_rl.export)")
    main(sys.argv[1:])
