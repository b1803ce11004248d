"""The report card of a trained bot: what is measured is what the other commands measure, and the page says it."""

import json
import re
import runpy
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from nets import opinionated_net
from rich.console import Console

from nardy_rl.evaluation.bands import STATISTICS, bands_of
from nardy_rl.evaluation.match import play_match
from nardy_rl.evaluation.report import measure as measuring
from nardy_rl.evaluation.report.measure import planned_games, self_play_statistics, subject_of
from nardy_rl.network.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from nardy_rl.players.box import BEST, CONFIG, HISTORY, boxed
from nardy_rl.players.registry import load_player
from nardy_rl.rules.variant import VARIANTS, variant
from nardy_rl.training.display import Display
from nardy_rl.training.options import Network, Options, Phase, Schedule
from nardy_rl.training.sanity import game_statistics
from nardy_rl.training.trainer import LAST, Trainer

ROOT = Path(__file__).parents[1]
LONG, SHORT = variant("long"), variant("short")
GAMES = 20


def script(name, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(ROOT / name), *arguments])
    runpy.run_path(str(ROOT / name), run_name="__main__")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder of a run of a few games, whose last net is its best."""
    folder = tmp_path_factory.mktemp("report") / "run"
    phases = [Phase([0.7, 0.7], [1e-2, 1e-2], games=96)]
    small = {"batch_games": 4, "evaluations": 3, "evaluation_games": 4, "gate_games": 4, "final_gate_games": 4}
    options = Options(Network([6]), Schedule(phases, **small), 1, "cpu", str(folder))
    Trainer(LONG, options, folder, Display(Console(quiet=True))).run()
    shutil.copy(folder / HISTORY / "96.pt", folder / BEST)
    return folder


@pytest.fixture(scope="module")
def written(run, tmp_path_factory):
    """What the command wrote of it: the page and the sheet."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        script("evaluate.py", patch, f"report={run / BEST}", f"games={GAMES}", "out=sheet.json", "page=page.md")
    return folder


def test_the_page_has_what_was_measured(written, run):
    page, sheet = (written / "page.md").read_text(), json.loads((written / "sheet.json").read_text())
    assert (sheet["subject"]["games"], sheet["subject"]["hidden"]) == (96, [6])
    assert f"{sum(part.numel() for part in load_checkpoint(run / BEST).net.parameters()):,} weights" in page
    for bout in [*sheet["bouts"], *(earlier["bout"] for earlier in sheet["earlier"])]:
        result = bout["result"]
        points = result["adjusted_points_per_game"]
        if bout["b"] in ("random", "heuristic"):
            assert points is None
            points = result["points_per_game"]
        row = f"{points:+.4f}".replace("-", "−")
        assert re.search(rf"`{re.escape(bout['b'])}` \| {result['games']} \|.* {re.escape(row)} ± ", page)
    assert [bout["b"] for bout in sheet["bouts"]] == ["random", "heuristic", str(run / BEST)]
    assert [earlier["games"] for earlier in sheet["earlier"]] == [32, 64]
    assert all(0 < earlier["seconds"] < sheet["subject"]["seconds"] for earlier in sheet["earlier"])
    for opening in sheet["openings"]:
        first, second = opening["dice"]
        assert f"| {first}-{second} | {opening['play']} |" in page
    assert len(sheet["openings"]) == 21
    for name, (low, high) in bands_of(LONG).items():
        verdict = "inside" if low <= sheet["self_play"][name] <= high else "**outside**"
        assert f"{high:.1f}" in page if name == "turns" else f"{low:.1%} … {high:.1%} | {verdict} |" in page


def test_a_row_is_what_the_command_below_the_table_gives(written, run, monkeypatch, tmp_path):
    sheet = json.loads((written / "sheet.json").read_text())
    monkeypatch.chdir(tmp_path)
    for bout in (sheet["bouts"][1], sheet["earlier"][0]["bout"]):
        games = bout["result"]["games"]
        script(
            "evaluate.py", monkeypatch, "variant=long", f"a={bout['a']}", f"b={bout['b']}", f"games={games}",
            f"seed={sheet['seed']}", "out=match.json",
        )  # fmt: skip
        again = json.loads(Path("match.json").read_text())
        for name in ("points_per_game", "adjusted_points_per_game", "adjusted_standard_error", "win_rate"):
            assert again[name] == bout["result"][name]


def test_the_command_on_the_page_repeats_the_run(written, run, monkeypatch, tmp_path):
    command = re.search(r"^python train\.py (.*)$", (written / "page.md").read_text(), re.MULTILINE)[1]
    monkeypatch.chdir(tmp_path)
    words = [word.replace("'", "") for word in re.findall(r"(?:'[^']*'|\S)+", command)]
    script("train.py", monkeypatch, *words, "folder=again", "device=cpu")
    mine, again = load_checkpoint(run / LAST).net, load_checkpoint(Path("again") / LAST).net
    for one, other in zip(mine.parameters(), again.parameters(), strict=True):
        np.testing.assert_array_equal(one.detach(), other.detach())


def test_the_figures_are_pictures_that_the_page_shows(written):
    page = (written / "page.md").read_text()
    assert re.findall(r"\]\((.*?\.svg)\)", page) == ["page_curve.svg", "page_openings.svg"]
    for name in ("page_curve.svg", "page_openings.svg"):
        assert ElementTree.parse(written / name).getroot().tag.endswith("svg")
    assert len(list(written.iterdir())) == 4


def test_the_bar_comes_to_its_end(run, monkeypatch):
    played = []
    monkeypatch.setattr(measuring, "opening_book", lambda subject: [])
    subject = subject_of(str(run / BEST))
    measuring.measure(subject, GAMES, 1, None, played.append)
    assert sum(played) == planned_games(subject, GAMES)


def test_self_play_is_told_as_the_bands_are():
    bot = load_player("heuristic", SHORT)
    result = play_match(SHORT, bot, bot, 200, seed=3)
    told = self_play_statistics(SHORT, result)
    assert set(bands_of(SHORT)) <= set(told)
    assert told["starter_wins"] == result.first_mover_win_rate
    won = {name: result.classes_a[name] + result.classes_b[name] for name in result.classes_a}
    assert told["mars"] == won["gammon"] / 200 > 0
    assert told["koks"] == won["backgammon"] / 200 > 0


def test_training_and_reports_speak_of_the_statistics_that_have_bands_and_words():
    games = np.ones((4, 5), np.int64)
    bot = load_player("random", SHORT)
    told = self_play_statistics(SHORT, play_match(SHORT, bot, bot, 4, seed=1))
    assert set(told) == set(game_statistics(SHORT, games)) == set(STATISTICS)
    assert {band for name in VARIANTS for band in bands_of(variant(name))} <= set(STATISTICS)
    assert bands_of(variant("short", koks=2)) == {}  # other rules, other statistics


def test_an_opening_is_compared_with_gnubg(tmp_path, monkeypatch):
    """A net with random weights does not always open as gnubg does, and loses where it does not."""
    pytest.importorskip("gnubg_nn")
    path = tmp_path / "net.pt"
    save_checkpoint(path, Checkpoint(SHORT, opinionated_net(SHORT, [6])))
    monkeypatch.setattr(measuring, "first_rolls", lambda rules: [(3, 1), (6, 1), (4, 2)])
    monkeypatch.setattr(measuring, "_ENGINE_PLIES", 0)
    openings = measuring.opening_book(subject_of(str(path)))
    assert [opening.engine for opening in openings] == ["8/5 6/5", "13/7 8/7", "8/4 6/4"]
    assert all((opening.lost > 0) == (opening.play != opening.engine) for opening in openings)
    assert max(opening.lost for opening in openings) > 0.05
    assert all(opening.behind > 0 for opening in openings)


def test_a_report_is_about_a_checkpoint_and_its_own_rules(run, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    bots = ", ".join(boxed())
    for arguments, said in [
        (["report=random"], f"a report is about a checkpoint or a bot in the box ({bots}), not random"),
        (["report=short@1"], f"a report is about a checkpoint or a bot in the box ({bots}), not short@1"),
        ([f"report={run / BEST}", "variant=gulbar"], "was trained for variant long, not gulbar"),
        (["report=short", "page=nowhere/page.md"], "cannot write nowhere/page.md: there is no folder nowhere"),
        (["report=short", "bot=short"], "option bot does not go with report=…"),
    ]:
        with pytest.raises(SystemExit) as caught:
            script("evaluate.py", monkeypatch, *arguments)
        assert caught.value.code == 2
        assert said in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SystemExit):
        script("evaluate.py", monkeypatch, "report=short")
    assert capsys.readouterr().err == "error: a report is drawn with matplotlib: pip install matplotlib\n"
    assert list(tmp_path.iterdir()) == []


# The box


def test_a_run_goes_into_the_box(run, monkeypatch, tmp_path):
    pytest.importorskip("onnxruntime")
    box = tmp_path / "box"
    script("checkpoints/fill.py", monkeypatch, str(run), "--box", str(box))
    folder = box / "long"
    assert sorted(path.name for path in folder.iterdir()) == [BEST, "bundle", CONFIG, HISTORY]
    assert json.loads((box / "bundles.json").read_text()) == {"bundles": ["long/bundle"]}
    assert str(run) not in (folder / CONFIG).read_text()
    subject = subject_of(str(folder / BEST))
    assert list(subject.earlier) == [32, 64]
    for kept in (BEST, f"{HISTORY}/32.pt", f"{HISTORY}/64.pt"):
        small, whole = load_checkpoint(folder / kept), load_checkpoint(run / kept)
        assert (folder / kept).stat().st_size < 0.7 * (run / kept).stat().st_size
        assert (small.games, small.seconds) == (whole.games, whole.seconds)
        for one, other in zip(small.net.parameters(), whole.net.parameters(), strict=True):
            np.testing.assert_allclose(one.detach(), other.detach(), atol=2e-3)
    bundle = load_player(str(folder / "bundle"), LONG)
    np.testing.assert_array_equal(bundle.rater.net.bias, load_player(str(folder / BEST), LONG).rater.net.bias)


def test_a_run_that_lacks_something_leaves_the_box_as_it_is(run, monkeypatch, capsys, tmp_path):
    def refusal(folder):
        with pytest.raises(SystemExit) as caught:
            script("checkpoints/fill.py", monkeypatch, str(folder), "--box", str(box))
        assert caught.value.code == 2
        line = capsys.readouterr().err
        assert line.startswith("error: ")
        assert line.count("\n") == 1
        return line

    box, half = tmp_path / "box", tmp_path / "half"
    (box / "long").mkdir(parents=True)
    (box / "long" / BEST).write_bytes(b"the bot of before")
    half.mkdir()
    shutil.copy(run / BEST, half / BEST)
    assert CONFIG in refusal(half)
    (half / CONFIG).write_text("seed: [1\nvariant: 2")
    refusal(half)
    assert "cannot read the checkpoint nowhere" in refusal("nowhere")
    assert (box / "long" / BEST).read_bytes() == b"the bot of before"
    shutil.copy(run / BEST, box / "long" / BEST)
    assert "is the bot in the box itself, not a run" in refusal(box / "long")
    assert sorted(path.name for path in box.rglob("*")) == [BEST, "long"]
