"""The JavaScript client: its rules against the Python core, its bots, and its page in a browser.

The tests themselves are JavaScript, in `clients/js/test`, run by Node's own test runner. What is missing here, Node,
its packages (`npm install` in `clients/js`) or a Chromium, is named as the reason for which a part is skipped.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from pathlib import Path

import client_js_dumps as dumps
import pytest
from bundles import write_bundle

from nardy_rl.rules.dice import stream
from nardy_rl.rules.game import Game
from nardy_rl.rules.notation import position_text
from nardy_rl.rules.variant import VARIANTS, variant

CLIENT = Path(__file__).parents[1] / "clients" / "js"
OLDEST_NODE = 20
FULL = 1000  # positions from which on each option has to tell its values apart


def node_version() -> int:
    node = shutil.which("node")
    if node is None:
        return 0
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"v(\d+)", told)
    return int(found[1]) if found else 0


def chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


def installed(package: str) -> bool:
    return (CLIENT / "node_modules" / package).is_dir()


pytestmark = pytest.mark.skipif(node_version() < OLDEST_NODE, reason=f"Node {OLDEST_NODE} or newer is not installed")


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    """A folder with a bundle of every variant, as the exporter writes them."""
    folder = tmp_path_factory.mktemp("exported")
    for name in VARIANTS:
        bundle = write_bundle(tmp_path_factory.mktemp(name), variant(name))
        shutil.move(bundle, folder / name)
    return folder


def run_node(test: str, **environment: str) -> str:
    """What Node's test runner says of a file of tests, all of which must pass."""
    done = subprocess.run(
        ["node", "--test", f"test/{test}.test.mjs"],
        cwd=CLIENT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_in_javascript_are_those_of_the_core(tmp_path, positions, sample_turns):
    """Plays, what is told, what follows and who wins, decision by decision, under every value of every option."""
    with (tmp_path / "variants.jsonl").open("w") as file:
        file.writelines(
            dumps.line(game) for name in VARIANTS for game in dumps.whole_games(variant(name), 1, positions)
        )
    with (tmp_path / "options.jsonl").open("w") as file:
        for what, rules, rivals in dumps.option_sheets():
            rivals = rivals if positions >= FULL else []
            games = dumps.odd_games(rules, rivals, random.Random(what), max(positions // 10, 1), sample_turns)
            file.writelines(dumps.line({"sheet": what, **game}) for game in games)
    with (tmp_path / "random.jsonl").open("w") as file:
        file.writelines(dumps.line(random_game(name)) for name in VARIANTS)
    told = run_node("rules", NARDY_DUMPS=str(tmp_path))
    assert "# skipped 0" in told, told


def random_game(name: str) -> dict:
    key = int(stream(3, len(name)))
    game = Game.begin(variant(name), key)
    while not game.finished:
        game.play(game.random_index())
    end = [game.seat, game.points, game.counter, position_text(game.position)]
    return {"variant": game.variant.to_dict(), "begin": str(key), "end": end}


@pytest.mark.skipif(
    not (installed("onnxruntime-node") or installed("onnxruntime-web")),
    reason="no onnxruntime: npm install in clients/js",
)
def test_bundles_are_played_and_damaged_ones_refused(exported):
    told = run_node("bot", NARDY_BUNDLES=str(exported))
    assert "# skipped 0" in told, told


@pytest.mark.skipif(not installed("onnxruntime-web"), reason="no onnxruntime-web: npm install in clients/js")
@pytest.mark.skipif(not installed("playwright-core"), reason="no playwright-core: npm install in clients/js")
@pytest.mark.skipif(chromium() is None, reason="no Chromium is installed (or named by CHROMIUM)")
def test_the_page_is_played_in_a_browser(exported):
    told = run_node("page", CHROMIUM=chromium() or "", NARDY_BUNDLES=str(exported))
    assert "# skipped 0" in told, told


def test_files_of_the_client_are_short_and_the_page_asks_no_other_server():
    files = [path for path in CLIENT.rglob("*") if "node_modules" not in path.parts and path.is_file()]
    for path in files:
        if path.suffix in {".mjs", ".css", ".html"}:
            text = path.read_text(encoding="utf-8")
            assert text.count("\n") <= 300, path
            assert not re.search(r"""(?:src|href|url|import|fetch)[ =("']+(?:https?:)?//""", text), path
