"""Files of games as users get them: `evaluate.py … record=FILE` and `python -m nardy_rl.formats FILE`."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from played import played_games
from test_evaluate_cli import SCRIPT, refusal  # noqa: F401

from nardy_rl.formats.command import main
from nardy_rl.formats.files import reading, writing
from nardy_rl.formats.heading import Heading
from nardy_rl.rules.variant import variant

ROOT = Path(__file__).parents[1]
GULBAR, SHORT = variant("gulbar"), variant("short")


@pytest.fixture
def evaluate(tmp_path, monkeypatch, capsys):
    """A function that runs evaluate.py in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", [SCRIPT, *arguments])
        runpy.run_path(SCRIPT, run_name="__main__")
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(("name", "file"), [("mad_gulbar_b", "games.txt"), ("short", "games.mat")])
def test_a_match_is_written_down_and_is_the_match_that_was_played(evaluate, tmp_path, name, file):
    match = [f"variant={name}", "a=heuristic", "b=random", "games=20", "seed=3"]
    evaluate(*match, "out=alone.json")
    evaluate(*match, "out=kept.json", f"record={file}")
    alone, kept = (json.loads((tmp_path / f"{which}.json").read_text()) for which in ("alone", "kept"))
    assert {**alone, "games_per_second": 0} == {**kept, "games_per_second": 0}
    with reading(tmp_path / file) as (heading, read):
        games = list(read)
    assert (heading.variant, heading.names) == (variant(name), ("heuristic", "random"))
    assert [game.decisions[0].player for game in games] == [0, 1] * 10
    points = sum(game.points if game.winner == 0 else -game.points for game in games)
    assert points / 20 == pytest.approx(kept["points_per_game"])
    assert sum(game.rolls for game in games) / 20 == pytest.approx(kept["mean_turns"])
    for player, side in enumerate("ab"):
        kinds = [game.kind for game in games if game.winner == player]
        assert {kind: kinds.count(kind) for kind in kept[f"classes_{side}"]} == kept[f"classes_{side}"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["alone.json", "kept.json", file])


def test_a_match_that_ends_when_it_is_clear_is_written_down_as_far_as_it_went(evaluate, tmp_path):
    evaluate("variant=long", "a=heuristic", "b=random", "games=5000", "clear_of=0.5", "record=games.txt", "out=r.json")
    text = (tmp_path / "games.txt").read_text()
    assert text.count("\ngame ") == json.loads((tmp_path / "r.json").read_text())["games"] == 400
    assert text.splitlines()[-1].startswith("end: 400 games, A ")
    assert "note: seed 1; " in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["record=games.sgf"], "a file of games ends in .mat or .txt, not as games.sgf"),
        (["record=nowhere/games.txt"], "cannot write nowhere/games.txt: there is no folder nowhere"),
        (["record=games.txt", "out=games.txt"], "out and record name the same file, games.txt"),
        (
            ["record=games.mat", "variant=long"],
            ".mat is of short nardy by its preset rules only, not of long; any rules",
        ),
        (["record=games.mat", "variant.koks=2"], ".mat is of short nardy by its preset rules only, not of short; any"),
    ],
)
def test_games_that_cannot_be_written_are_refused_before_any_is_played(refusal, arguments, said):  # noqa: F811
    assert refusal("a=random", "b=random", *arguments).startswith(f"error: {said}")


def test_only_a_match_is_written_down(refusal):  # noqa: F811
    said = refusal("bots=[random,heuristic]", "record=games.txt")
    assert said == "error: option record does not go with bots=…"


def test_a_file_is_as_it_was_until_all_games_are_written(tmp_path):
    path = tmp_path / "games.txt"
    path.write_text("before")

    def write(stop):
        with writing(path, Heading(GULBAR, ("a", "b"))) as keep:
            for game in played_games(GULBAR, 2):
                keep([game])
            assert path.read_text() == "before"
            if stop:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(stop=True)
    assert path.read_text() == "before"
    write(stop=False)
    assert "end: 2 games" in path.read_text()
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def file(tmp_path):
    """Two games of short nardy."""
    path = tmp_path / "games.txt"
    with writing(path, Heading(SHORT, ("one", "other"), "a note")) as keep:
        keep(played_games(SHORT, 2))
    return path


def test_a_file_is_checked_and_told_of_in_a_few_lines(file, capsys):
    main([str(file)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 games of short: every play, every result is as its rules have it"
    assert lines[1].startswith("A, one: ")
    assert lines[2].startswith("B, other: ")
    assert lines[3].endswith("won by who began")
    assert lines[4:] == ["a note"]


def test_a_file_is_converted_and_back(file, capsys):
    there, back = file.with_name("there.MAT"), file.with_name("back.txt")
    main([str(file), str(there)])
    main([str(there), str(back)])
    assert f"written to {back}" in capsys.readouterr().out
    assert back.read_text() == file.read_text().replace("note: a note\n", "")
    main([str(file), str(file)])
    assert "note: a note" in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.txt"], "none.txt: No such file or directory"),
        (["games.sgf"], "a file of games ends in .mat or .txt, not as games.sgf"),
        (["broken.txt"], "broken.txt: line 30: the record breaks off in game 1"),
        (["noise.txt"], "noise.txt: this is no text in UTF-8"),
        (["noise.mat"], "noise.mat: this is no text in UTF-8"),
        (["long.txt", "out.mat"], ".mat is of short nardy by its preset rules only, not of long; any rules fit .txt"),
        (["broken.txt", "out.txt"], "broken.txt: line 30: "),
        (["long.txt", "nowhere/out.txt"], "nowhere/out.txt: No such file or directory"),
        ([], "the following arguments are required: file; usage: python -m nardy_rl.formats"),
        (["a.txt", "b.txt", "c.txt"], "unrecognized arguments: c.txt; usage: python -m nardy_rl.formats"),
    ],
)
def test_what_cannot_be_read_or_written_is_refused_in_one_line(file, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(file.parent)
    Path("broken.txt").write_text("\n".join(file.read_text().splitlines()[:30]))
    Path("noise.txt").write_bytes(bytes(range(256)))
    Path("noise.mat").write_bytes(bytes(range(256)))
    Path("long.txt").write_text(
        "nardy_rl record 1\nA: a\nB: b\nvariant: long\n\nend: 0 games, A 0 points, B 0 points\n"
    )
    before = sorted(Path().iterdir())
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {said}")
    assert printed.err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_the_command_is_there_as_it_is_typed(file):
    command = [sys.executable, "-m", "nardy_rl.formats", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("2 games of short: ")
