"""What `python evaluate.py …` can be asked for besides a match, as it is typed."""

import json
import runpy
import sys

import pytest
from nets import pip_net
from test_evaluate_cli import SCRIPT, refusal  # noqa: F401

from nardy_rl.network.checkpoint import Checkpoint, save_checkpoint
from nardy_rl.rules.variant import variant

SHORT = variant("short")
START = "X=24:2,13:5,8:3,6:5; O=24:2,13:5,8:3,6:5"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bots")
    save_checkpoint(path / "pips.pt", Checkpoint(SHORT, pip_net(SHORT)))
    return path


@pytest.fixture
def ask(folder, monkeypatch, capsys):
    """A function that runs the script in this process: what it prints, and what it writes."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", [SCRIPT, *arguments, "out=result.json"])
        runpy.run_path(SCRIPT, run_name="__main__")
        return capsys.readouterr().out, json.loads((folder / "result.json").read_text())

    return run


def test_the_plays_of_a_roll_are_ranked(ask):
    printed, sheet = ask(f"position={START}", "dice=31", "bot=pips.pt", "rollout=36", "half_turns=2")
    assert "24/23 13/10" in printed
    assert "rollout, 36" in printed
    assert len(sheet["plays"]) == 16
    assert sheet["plays"][0]["behind"] == 0
    assert sheet["position"] == START
    assert sheet["dice"] == [3, 1]


def test_a_position_before_the_roll_is_rated_by_its_gnu_id_too(ask):
    printed, sheet = ask("position=4HPwATDgc/ABMA", "bot=pips.pt@1")
    assert "about to roll" in printed
    assert sheet["position"] == START
    assert [play["judged_by"] for play in sheet["plays"]] == ["1 ply"]


def test_an_xgid_brings_its_dice_along_unless_others_are_asked_for(ask):
    xgid = "position=XGID=-b----E-C---eE---c-e----B-:0:0:-1:31:0:0:0:0:10"
    printed, sheet = ask(xgid, "bot=pips.pt")
    assert (sheet["position"], sheet["dice"]) == (START, [3, 1])
    assert "24/23 13/10" in printed
    assert ask(xgid, "bot=pips.pt", "dice=64")[1]["dice"] == [6, 4]


def test_a_match_ends_when_it_is_clear(ask):
    printed, sheet = ask("variant=long", "a=heuristic", "b=random", "games=5000", "clear_of=0.5")
    assert "A is above 0.5 points per game" in printed
    assert (sheet["verdict"], sheet["games"]) == ("above", 400)


def test_luck_is_judged_where_that_pays_or_is_asked_for(ask):
    simple, twins = ("a=heuristic", "b=pips.pt", "games=4"), ("a=pips.pt", "b=pips.pt", "games=4")
    for options, judged in [
        (simple, False), ((*simple, "luck=true"), True), ((*simple, "clear_of=0"), False),
        (twins, True), ((*twins, "luck=false"), False),
    ]:  # fmt: skip
        assert (ask(*options)[1]["adjusted_points_per_game"] is not None) == judged, options


def test_everybody_plays_everybody(ask):
    printed, sheet = ask("bots=[random,heuristic,pips.pt]", "games=40", "luck=false")
    assert "Elo" in printed
    assert len(sheet["matches"]) == 3


def test_decisions_have_a_quality(ask):
    printed, sheet = ask("quality=short", "bot=pips.pt")
    assert "points lost a decision" in printed
    assert sheet["points_lost"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "option a has no default: write a=…"),
        (["bots=[random]"], "a round robin needs two bots or more, as in bots=[random,heuristic]; got 1"),
        (["bots=[random,random]"], "bots names random twice"),
        (["bots=random"], "option bots must be a list, as in bots=[…]"),
        (["bots=[random,heuristic]", "a=random"], "option a does not go with bots=…"),
        (["bots=[random,x]"], "unknown bot 'x'"),
        (["a=random", "b=random", "clear_of=soon"], "option clear_of must be a number; got 'soon'"),
        (["a=random", "b=random", "rollout=36"], "option rollout does not go with a=…"),
        ([f"position={START}"], "option bot has no default: write bot=…"),
        ([f"position={START}", "bot=random"], "only a checkpoint, a bundle or a bot in the box rates positions, not "),
        ([f"position={START}", "bot=none.pt"], "cannot read the checkpoint none.pt: "),
        ([f"position={START}", "bot=pips.pt", "dice=37"], "dice are two numbers from 1 to 6, as in dice=31; got '37'"),
        ([f"position={START}", "bot=pips.pt", "first_turn=third"], "first_turn must be starter, second or null"),
        ([f"position={START}", "bot=pips.pt", "rollout=1"], "a rollout needs a whole number of trials from 2; got 1"),
        ([f"position={START}", "bot=pips.pt", "half_turns=5"], "half_turns is of a rollout: write rollout=…, too"),
        ([f"position={START}", "bot=pips.pt", "clear_of=0"], "option clear_of does not go with position=…"),
        (["quality=short"], "option bot has no default: write bot=…"),
        (["quality=short", "bot=random", "variant=long"], "line 1: decisions of variant short, not of long"),
        (["quality=chess", "bot=random"], "there are no decisions 'chess'; known are short, "),
        (["quality=none.jsonl", "bot=random"], "there are no decisions 'none.jsonl'; known are short, "),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(refusal, arguments, said):  # noqa: F811
    assert said in refusal(*arguments)


@pytest.mark.parametrize(
    ("position", "said"),
    [
        ("X=24:2", "cannot read 'X=24:2'; a position reads like X=24:15; O=24:14,13:1"),
        ("X=6:2,1:16; O=24:2", "places 18 checkers instead of 15"),
        ("X=6:2; O=19:2", "both sides stand on own point 6"),
        ("X=6:2; O=", "the game is finished"),
        ("4HPwATDgc/ABM!", "cannot read '4HPwATDgc/ABM!'"),
        ("4HPwATDgc/ABMB", "is no GNU position ID: stray bits"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0", "an XGID has 10 fields with colons between"),
    ],
)
def test_what_is_no_position_is_refused_in_one_line(refusal, folder, position, said):  # noqa: F811
    assert said in refusal(f"position={position}", f"bot={folder / 'pips.pt'}")
