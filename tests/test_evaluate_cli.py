"""`python evaluate.py …` as it is typed: what it prints, writes and refuses."""

import dataclasses
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from nardy_rl.evaluation.command import Options
from nardy_rl.rules.variant import VARIANTS, load_variant, variant

ROOT = Path(__file__).parents[1]
SCRIPT = str(ROOT / "evaluate.py")


@pytest.fixture
def refusal(monkeypatch, capsys, tmp_path):
    """A function that runs the script in this process on arguments it has to refuse, and gives its one line."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", [SCRIPT, *arguments])
        with pytest.raises(SystemExit) as caught:
            runpy.run_path(SCRIPT, run_name="__main__")
        assert caught.value.code == 2
        said = capsys.readouterr()
        lines = said.err.splitlines()
        assert said.out == ""
        assert len(lines) == 1, said.err
        assert lines[0].startswith("error: ")
        assert list(tmp_path.iterdir()) == []
        return lines[0]

    return run


def test_a_match_is_printed_and_written_and_leaves_nothing_else(tmp_path):
    (tmp_path / "rules.yaml").write_text("base: long\nname: two heads\nhead: 2\n")
    command = [sys.executable, SCRIPT, "variant=rules.yaml", "variant.koks=3", "a=heuristic", "b=random", "games=20"]
    done = subprocess.run([*command, "out=result.json"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "points per game for A" in done.stdout
    sheet = json.loads((tmp_path / "result.json").read_text())
    assert (sheet["games"], sheet["seed"], sheet["a"], sheet["b"]) == (20, 1, "heuristic", "random")
    assert (sheet["variant"]["name"], sheet["variant"]["head"], sheet["variant"]["koks"]) == ("two heads", 2, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["result.json", "rules.yaml"]


def test_a_refusal_is_one_line_on_stderr_and_exit_code_2(tmp_path):
    command = [sys.executable, SCRIPT, "a=random", "b=hueristic"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: unknown bot 'hueristic'; known are random, heuristic")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("prefix", ["", "+", "++", "~"])
def test_a_misspelt_option_is_named_with_the_one_that_was_meant(refusal, prefix):
    line = refusal("a=random", "b=random", f"{prefix}gamess=5" if prefix != "~" else "~gamess")
    known = ", ".join(sorted([*(option.name for option in dataclasses.fields(Options)), "variant"]))
    assert line == f"error: unknown option gamess; known are {known}; did you mean games?"


@pytest.mark.parametrize("prefix", ["", "++"])
def test_a_misspelt_rule_is_named_with_the_one_that_was_meant(refusal, prefix):
    line = refusal("a=random", "b=random", f"{prefix}variant.hed=2")
    assert line.startswith("error: unknown option variant.hed; ")
    assert line.endswith("; did you mean variant.head?")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["games=-5"], "games must be an even number from 4, each pair played from both seats; got -5"),
        (["games=7"], "games must be an even number from 4 (6 or 8), each pair played from both seats; got 7"),
        (["luck=maybe"], "option luck must be true or false; got 'maybe'"),
        (["games=many"], "option games must be a whole number; got 'many'"),
        (["workers=0"], "workers must be a whole number from 1, or null for one for each core; got 0"),
        (["variant=shrt"], "unknown variant 'shrt'; known are gulbar, long, mad_gulbar_a, mad_gulbar_b, "),
        (["variant=six_one"], "variant six_one is named in a source, but its rules are unpublished"),
        (["variant=none.yaml"], "cannot read the rule sheet none.yaml: "),
        (["variant.head=50"], "variant: option head (rule 3.3) must be a whole number from 0 to 4; got 50"),
        (["out=nowhere/result.json"], "cannot write nowhere/result.json: there is no folder nowhere"),
        (["out=."], "cannot write .: it is a folder, a file's name is needed"),
        (["--games=6"], "options are written without dashes: games=6"),
        (["short"], "cannot read 'short': write key=value"),
        (["a=net (1).pt"], "cannot read 'a=net (1).pt': put the value in quotes"),
        (["variant=long", "a=pubeval"], "gnubg and pubeval "),
    ],
)
def test_bad_input_gets_one_line_that_says_what_is_wrong(refusal, arguments, said):
    assert refusal("a=random", "b=random", *arguments).startswith(f"error: {said}")


def test_both_bots_have_to_be_named(refusal):
    assert refusal("a=random") == "error: option b has no default: write b=…"


def test_the_rule_sheets_of_the_config_are_the_presets():
    sheets = sorted((ROOT / "configs" / "variant").glob("*.yaml"))
    assert tuple(sheet.stem for sheet in sheets) == VARIANTS
    assert all(load_variant(sheet) == variant(sheet.stem) for sheet in sheets)
