"""Decisions that a judge has looked at: what is in the box, how players fare on them, how sets are made and refused."""

import json
import sys

import numpy as np
import pytest
from nets import pip_bot, pip_net
from test_evaluation import make_bot

from benchmarks.decisions import drawn_rolls, judged, rollout_judge
from benchmarks.decisions import main as make_decisions
from nardy_rl.evaluation.quality import (
    FORMAT,
    KIND,
    Decision,
    Decisions,
    decisions_path,
    load_decisions,
    measure_quality,
)
from nardy_rl.evaluation.tables import quality_table
from nardy_rl.network.checkpoint import Checkpoint, save_checkpoint
from nardy_rl.players.registry import load_player
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import variant

SHORT, MAD = variant("short"), variant("mad_gulbar_a")


@pytest.fixture(scope="module")
def boxed():
    return load_decisions(decisions_path("short"), SHORT)


class Careful:
    """Plays what the judge likes best."""

    def __init__(self, decisions):
        self.best = {(d.position, *sorted(d.dice)): int(d.losses.argmin()) for d in decisions.decisions}

    def choose(self, board, plays, size, dice):
        return self.best[Position(board), *sorted(dice)]


def test_the_set_in_the_box_is_made_of_different_decisions_with_a_choice(boxed):
    rolls = {(decision.position, decision.dice) for decision in boxed.decisions}
    assert len(boxed.decisions) == len(rolls) == 1000
    assert boxed.judge.startswith("gnubg-nn")
    assert all(len(decision.losses) >= 2 and decision.losses.min() == 0 for decision in boxed.decisions)
    assert decisions_path("short").stat().st_size < 1_000_000


def test_the_judges_own_play_loses_nothing_and_chance_much(boxed):
    careful, random, pips = (
        measure_quality(SHORT, player, boxed) for player in (Careful(boxed), make_bot("random", SHORT), pip_bot(SHORT))
    )
    assert (careful.points_lost, careful.hard_points_lost, careful.best_rate, careful.rough_rate) == (0, 0, 1, 0)
    assert random.points_lost > 0.2
    assert 0.02 < pips.points_lost < random.points_lost
    assert careful.decisions == 1000
    assert 200 < careful.hard_decisions < 900
    assert pips.hard_points_lost > 0
    assert quality_table(pips, "pips", "short").row_count == 6
    assert json.loads(json.dumps(pips.to_dict()))["judge"] == boxed.judge


def test_gnubg_at_two_plies_agrees_with_itself(boxed):
    pytest.importorskip("gnubg_nn")
    few = Decisions(boxed.judge, boxed.decisions[:40])
    two, none = (measure_quality(SHORT, load_player(f"gnubg:{plies}", SHORT), few) for plies in (2, 0))
    assert two.points_lost < 0.001
    assert two.points_lost <= none.points_lost


def test_what_is_hard_is_neither_obvious_nor_all_the_same():
    def is_hard(*losses):
        position = Position.start(SHORT)
        return Decision(position, (3, 1), None, np.array(losses), np.zeros(len(losses), np.bool_)).is_hard

    assert is_hard(0, 0.05, 0.3)
    assert is_hard(0.1, 0)
    assert not is_hard(0, 0.15, 0.3)
    assert not is_hard(0, 0.01, 0.015)


@pytest.mark.parametrize("rules", [SHORT, MAD], ids=lambda rules: rules.name)
def test_a_set_can_be_made_with_rollouts_as_the_judge(rules, tmp_path):
    bot = pip_bot(rules)
    judge = rollout_judge(rules, "some/where/net.pt", bot, 4, 1)
    assert judge.name == "rollouts of net.pt, 4 trials"
    rolls = drawn_rolls(rules, bot, make_bot("heuristic", rules), 1)
    sheets = (judged(rules, bot, judge, drawn) for drawn in rolls)
    made = [next(sheet for sheet in sheets if sheet) for _ in range(5)]
    path = tmp_path / "made.jsonl"
    head = {"kind": KIND, "format": FORMAT, "judge": judge.name, "variant": rules.to_dict()}
    path.write_text("\n".join(json.dumps(line) for line in [head, *made]))
    decisions = load_decisions(decisions_path(str(path)), rules)
    assert len(decisions.decisions) == 5
    for decision, sheet in zip(decisions.decisions, made, strict=True):
        assert sorted(decision.losses) == sorted([*sheet["loss"].values(), *sheet["rough"].values()])
        assert decision.rough.sum() == len(sheet["rough"])
        assert len(decision.losses) == len(legal_plays(rules, decision.position, decision.dice, decision.first_turn))
    rolls = drawn_rolls(rules, bot, make_bot("heuristic", rules), 1)
    sheets = (judged(rules, bot, judge, drawn) for drawn in rolls)
    again = [next(sheet for sheet in sheets if sheet) for _ in range(5)]
    assert again == made


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--bot", "random"], "--bot must be a trained bot: a checkpoint, a bundle, or one in the box"),
        (
            ["--bot", "net.pt", "--judge", "heuristic"],
            "--judge must be gnubg or a trained bot: a checkpoint, a bundle, or one in the box",
        ),
    ],
)
def test_who_rates_nothing_can_make_no_set(arguments, said, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    save_checkpoint(tmp_path / "net.pt", Checkpoint(SHORT, pip_net(SHORT)))
    monkeypatch.setattr(sys, "argv", ["decisions", *arguments, "--opponent", "random", "--out", "set.jsonl"])
    with pytest.raises(SystemExit) as caught:
        make_decisions()
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"error: {said}\n"


HEAD = {"kind": KIND, "format": FORMAT, "judge": "somebody", "variant": SHORT.to_dict()}
LINE = {"position": "X=6:1; O=6:2", "dice": "21", "loss": {"6/4 4/3": 0}, "rough": {}}


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([{"kind": "else"}], "line 1: these are no decisions of nardy_rl"),
        ([{**HEAD, "format": 9}], "line 1: decisions of format 9; this version reads format 1"),
        ([{**HEAD, "variant": MAD.to_dict()}], "line 1: decisions of variant mad_gulbar_a, not of short"),
        ([HEAD, {**LINE, "dice": "27"}], "line 2: dice are two whole numbers from 1 to 6"),
        ([HEAD, {**LINE, "position": "X=6:1"}], "line 2: cannot read 'X=6:1'"),
        ([HEAD, {"dice": "21"}], "line 2: lacks 'position'"),
        ([HEAD, {**LINE, "loss": {"6/1": 0}}], "line 2: '6/1' is no legal play of 21"),
        ([HEAD, {**LINE, "loss": {}}], "line 2: nothing is said about"),
        ([HEAD], "holds 0 decisions"),
    ],
)
def test_a_file_that_is_no_set_is_refused_by_its_line(lines, said, tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    with pytest.raises(ValueError, match=said):
        load_decisions(path, SHORT)


def test_an_unknown_set_is_named_with_the_known_ones():
    with pytest.raises(ValueError, match="there are no decisions 'chess'; known are short, and files"):
        decisions_path("chess")
