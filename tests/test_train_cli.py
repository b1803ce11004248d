"""`python train.py …` as it is typed: what it refuses, in one line, before any game is played."""

import errno
import os
import runpy
import signal
import sys
from pathlib import Path

import pytest

from nardy_rl.network.checkpoint import Checkpoint, save_checkpoint
from nardy_rl.network.value_net import new_net
from nardy_rl.players.box import BEST
from nardy_rl.rules.variant import variant
from nardy_rl.training.trainer import LAST

SCRIPT = str(Path(__file__).parents[1] / "train.py")
TINY = [
    "variant=short",
    "network.hidden=[2]",
    "schedule.phases=[{games: 4, trace: [1, 1], learning_rate: [1e-3, 1e-3]}]",
    "schedule.batch_games=2",
    "schedule.evaluations=1",
    "schedule.evaluation_games=4",
    "schedule.gate_games=4",
    "device=cpu",
    "folder=run",
]


@pytest.fixture
def train(monkeypatch, capsys, tmp_path):
    """A function that runs the script in this process and gives its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", [SCRIPT, *arguments])
        code = 0
        try:
            runpy.run_path(SCRIPT, run_name="__main__")
        except SystemExit as end:
            code = end.code
        return code, *capsys.readouterr()

    yield run
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def refusal(train):
    """A function that runs the script on arguments it has to refuse, and gives its one line."""

    def run(*arguments):
        code, _, err = train(*arguments)
        assert code == 2, err
        assert err.startswith("error: ")
        assert err.count("\n") == 1, err
        return err.removeprefix("error: ").rstrip("\n")

    return run


@pytest.fixture
def run_folder(train, tmp_path):
    """The folder of a finished tiny run."""
    code, _, err = train(*TINY)
    assert (code, err) == (0, "")
    return tmp_path / "run"


@pytest.mark.parametrize("prefix", ["", "+", "++"])
@pytest.mark.parametrize(
    ("option", "known"),
    [
        ("gamess", "device, folder, network, resume, schedule, seed, start, variant"),
        (
            "schedule.batch_gamess",
            "schedule.batch_games, schedule.evaluation_games, schedule.evaluations, schedule.final_gate_games, "
            "schedule.gate_games, schedule.minibatch, schedule.phases; did you mean schedule.batch_games?",
        ),
        ("network.hiden", "network.hidden; did you mean network.hidden?"),
    ],
)
def test_a_misspelt_option_is_named_however_it_is_prefixed(refusal, tmp_path, prefix, option, known):
    assert refusal(f"{prefix}{option}=5") == f"unknown option {option}; known are {known}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("prefix", ["", "+", "++"])
def test_a_misspelt_rule_is_named_however_it_is_prefixed(refusal, tmp_path, prefix):
    line = refusal(f"{prefix}variant.hed=2")
    assert line.startswith("unknown option variant.hed; known are ")
    assert line.endswith("; did you mean variant.head?")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("schedule=quik", "unknown schedule 'quik'; known are overnight, quick, smoke, standard; did you mean quick?"),
        ("network=smal", "unknown network 'smal'; known are large, medium, small; did you mean small?"),
        (
            "variant=shrt",
            "unknown variant 'shrt'; known are gulbar, long, mad_gulbar_a, mad_gulbar_b, short (and six_one",
        ),
        ("variant=none.yaml", "cannot read the rule sheet none.yaml: "),
        ("variant.head=50", "variant: option head (rule 3.3) must be a whole number from 0 to 4; got 50"),
        ("device=gpu", "option device must be auto, cpu or cuda; got 'gpu'"),
        ("schedule.batch_games=-1", "option schedule.batch_games must be at least 1; got -1"),
        ("schedule.batch_games=many", "option schedule.batch_games must be a whole number; got 'many'"),
        ("schedule.minibatch=0", "option schedule.minibatch must be at least 1; got 0"),
        ("schedule.evaluations=0", "option schedule.evaluations must be at least 1; got 0"),
        ("schedule.evaluation_games=7", "option schedule.evaluation_games must be an even number from 4; got 7"),
        ("schedule.gate_games=0", "option schedule.gate_games must be an even number from 4; got 0"),
        ("network.hidden=[]", "option network.hidden must list layer widths from 1 to 8192; got []"),
        ("network.hidden=[8,0]", "option network.hidden must list layer widths from 1 to 8192; got [8, 0]"),
        ("network.hidden=[wide]", "option network.hidden[0] must be a whole number; got 'wide'"),
        ("network.hidden=8", "option network.hidden must be a list, as in network.hidden=[…]"),
        ("seed=-1", "option seed must be from 0 to 2147483647; got -1"),
        ("seed=2147483648", "option seed must be from 0 to 2147483647; got 2147483648"),
        ("seed=lucky", "option seed must be a whole number; got 'lucky'"),
        ("schedule.phases=[]", "option schedule.phases must list at least one phase"),
        ("--seed=5", "options are written without dashes: seed=5"),
        ("long", "cannot read 'long': write key=value"),
    ],
)
def test_bad_input_gets_one_line_that_says_what_is_wrong(refusal, tmp_path, argument, said):
    assert refusal(argument).startswith(said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        ("trace: [1, 1], learning_rate: [1e-3, 1e-3]", "a phase needs either games or minutes above 0; got games=None"),
        (
            "games: 5, minutes: 1, trace: [1, 1], learning_rate: [1e-3, 1e-3]",
            "a phase needs either games or minutes above 0; got games=5 minutes=1.0",
        ),
        ("games: -5, trace: [1, 1], learning_rate: [1e-3, 1e-3]", "a phase needs either games or minutes above 0"),
        ("minutes: inf, trace: [1, 1], learning_rate: [1, 1]", "a phase needs either games or minutes above 0"),
        ("games: 5, trace: [1, 2], learning_rate: [1e-3, 1e-3]", "option trace of a phase is two numbers from 0 to 1"),
        ("games: 5, trace: [1], learning_rate: [1e-3, 1e-3]", "option trace of a phase is two numbers from 0 to 1"),
        ("games: 5, trace: [1, 1], learning_rate: [-1, 0]", "option learning_rate of a phase is two numbers from 0 to"),
        ("games: 5, trace: [1, 1]", "option schedule.phases[0].learning_rate has no default"),
        ("games: 5, trce: [1, 1], learning_rate: [1, 1]", "unknown option "),
    ],
)
def test_a_phase_that_makes_no_sense_is_refused(refusal, tmp_path, phase, said):
    assert refusal(f"schedule.phases=[{{{phase}}}]").startswith(said)
    assert list(tmp_path.iterdir()) == []


# Resuming


def test_a_folder_without_a_run_cannot_be_resumed(refusal, tmp_path):
    assert refusal("resume=nowhere") == "cannot read the checkpoint nowhere/last.pt: No such file or directory"
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_checkpoint_cannot_be_resumed(refusal, run_folder):
    last = run_folder / LAST
    last.write_bytes(last.read_bytes()[:-1000])
    assert refusal("resume=run") == "cannot read the checkpoint run/last.pt: it is truncated or no checkpoint"


def test_a_bot_without_the_state_of_its_run_cannot_be_resumed(refusal, run_folder):
    (run_folder / BEST).replace(run_folder / LAST)
    assert refusal("resume=run") == "run/last.pt is a bot without the state of its run: it cannot be resumed"


def test_the_checkpoint_itself_is_no_folder_to_resume(refusal, run_folder):
    assert refusal("resume=run/last.pt") == "cannot read the checkpoint run/last.pt/last.pt: Not a directory"


@pytest.mark.parametrize("elsewhere", [[], ["device=cpu"]])
def test_a_finished_run_that_is_resumed_says_what_came_of_it(train, run_folder, elsewhere):
    code, out, err = train("resume=run", *elsewhere)
    assert (code, err) == (0, "")
    assert "best net: run/best.pt, after 4 of 4 games" in out.replace("\n", " ")


# Beginning with a net


def test_a_run_begins_with_a_net_of_its_rules_and_no_larger_shape(refusal, run_folder):
    said = refusal(*TINY[1:], "folder=other", "start=run/best.pt", "variant=long")
    assert said == "run/best.pt was trained for variant short, not long"
    said = refusal(*TINY, "folder=other", "start=run/best.pt", "network.hidden=[1]")
    assert said == "a network of hidden layers [2] cannot grow to [1]: no layer may get narrower"
    assert refusal(*TINY, "folder=other", "start=no.pt").startswith("cannot read the checkpoint no.pt: No such file")
    assert not (run_folder.parent / "other").exists()


# Folders


def test_a_folder_with_a_bot_is_not_overwritten(refusal, run_folder):
    (run_folder / LAST).unlink()
    best = (run_folder / BEST).read_bytes()
    said = refusal(*TINY, "folder=run")
    assert said == f"run holds a bot already; begin with its net by start={Path('run', BEST)}"
    assert (run_folder / BEST).read_bytes() == best


def test_a_folder_that_holds_a_run_is_not_written_over(refusal, run_folder):
    before = (run_folder / LAST).read_bytes()
    assert refusal(*TINY) == "run holds a run already; go on with it by resume=run"
    assert (run_folder / LAST).read_bytes() == before


def test_a_folder_that_cannot_be_made_is_named(refusal, tmp_path):
    (tmp_path / "file").write_text("no folder")
    assert refusal(*TINY, "folder=file/run") == "file/run: Not a directory"
    assert refusal(*TINY, "folder=file") == "file: File exists"
    # Permission bits do not stop root, this does.
    if Path("/proc").is_dir():
        assert refusal(*TINY, "folder=/proc/run").startswith("/proc/run: ")


@pytest.mark.parametrize(("saves", "file"), [(0, "config.yaml"), (1, "last.pt"), (4, "best.pt")])
def test_a_full_disk_is_named_with_the_file_that_did_not_fit(train, tmp_path, monkeypatch, saves, file):
    """At the first write, at the first checkpoint, and in mid-run."""
    written, sync = [], os.fsync

    def full(descriptor):
        written.append(descriptor)
        if len(written) > saves:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = train(*TINY)
    assert (code, err) == (2, f"error: run/{file}: No space left on device\n")
    assert not list((tmp_path / "run").glob(".*"))
    if saves == 4:
        monkeypatch.undo()
        monkeypatch.chdir(tmp_path)
        assert train("resume=run")[0] == 0


def test_the_rules_of_a_run_are_those_that_were_asked_for(train, tmp_path):
    (tmp_path / "rules.yaml").write_text("base: short\nname: two moves\ndoubles_moves: 2\n")
    code, out, err = train(*TINY[1:], "variant=rules.yaml", "variant.koks=4")
    assert (code, err) == (0, "")
    assert out.startswith("two moves in run")
    config = (tmp_path / "run" / "config.yaml").read_text()
    assert "doubles_moves: 2\n" in config
    assert "koks: 4\n" in config


def test_a_checkpoint_of_strange_content_is_refused(refusal, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / LAST).write_text("not a checkpoint")
    assert refusal("resume=run") == "cannot read the checkpoint run/last.pt: it is truncated or no checkpoint"
    rules = variant("long")
    save_checkpoint(tmp_path / "run" / LAST, Checkpoint(rules, new_net([2], rules, 1)))
    assert refusal(*TINY) == "run holds a run already; go on with it by resume=run"
