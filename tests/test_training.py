"""The training loop: a run learns, can be stopped, killed and resumed, and keeps its best net apart."""

import dataclasses
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from nardy_rl.network.checkpoint import load_checkpoint, save_checkpoint
from nardy_rl.players.bot import network_bot
from nardy_rl.players.box import BEST, CONFIG, HISTORY
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import variant
from nardy_rl.selfplay.batch import POINTS, STARTER_WON, SelfPlay
from nardy_rl.training import trainer as trainer_module
from nardy_rl.training.display import Display
from nardy_rl.training.evaluations import evaluate
from nardy_rl.training.learner import CompiledLearner, DivergedError
from nardy_rl.training.log import RunLog
from nardy_rl.training.options import Network, Options, Phase, Schedule
from nardy_rl.training.trainer import LAST, Trainer

ROOT = Path(__file__).parents[1]
SHORT, LONG = variant("short"), variant("long")
STRETCH = trainer_module._STRETCH
BATCH = 3
CLOCKS = "seconds", "phase_seconds", "best_seconds"


def options(phases, hidden=(6,), seed=1, **schedule) -> Options:
    small = {"batch_games": BATCH, "minibatch": 64, "evaluations": 2, "evaluation_games": 4}
    small |= {"gate_games": 4, "final_gate_games": 4}
    return Options(Network(list(hidden)), Schedule(phases, **(small | schedule)), seed, "cpu", "unused")


def phases_of_five_stretches():
    """Three stretches and two, one of each cut short; λ and learning rate move."""
    games = STRETCH * BATCH
    return [
        Phase([0.9, 0.6], [5e-3, 1e-3], games=3 * games - 10),
        Phase([0.0, 0.0], [1e-3, 1e-4], games=2 * games - 1),
    ]


def quiet() -> Display:
    return Display(Console(quiet=True))


def stopping_after(checks):
    """A `stop` that says so when it is asked for the `checks`-th time, which happens before each stretch."""
    asked = iter(range(checks))
    return lambda: next(asked, None) is None


def assert_same_run(one: Path, other: Path):
    """That the two folders hold the same run, but for the clock."""
    mine, theirs = load_checkpoint(one / LAST), load_checkpoint(other / LAST)
    places = [checkpoint.run["place"] | dict.fromkeys(CLOCKS) for checkpoint in (mine, theirs)]
    assert places[0] == places[1]
    assert mine.games == theirs.games == places[0]["games"]
    assert mine.run["options"] == theirs.run["options"]
    assert_same_net(mine.net, theirs.net)
    adam = mine.run["adam"], theirs.run["adam"]
    assert adam[0]["step"] == adam[1]["step"] > 0
    for part in ("mean", "square"):
        assert all(torch.equal(*pair) for pair in zip(adam[0][part], adam[1][part], strict=True))


def assert_same_net(one, other):
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name


def curves(folder: Path, tmp_path: Path) -> EventAccumulator:
    """The run as TensorBoard shows it: its event files, read in the order in which they were begun."""
    files = sorted(folder.glob("events.*"), key=lambda path: (int(path.name.split(".")[3]), int(path.suffix[1:])))
    copies = tmp_path / "events"
    shutil.rmtree(copies, ignore_errors=True)
    copies.mkdir()
    for number, file in enumerate(files):
        # Runs in one process begin their files in the same second, and torch numbers them without leading zeros.
        shutil.copy(file, copies / f"events.out.tfevents.{number:010}")
    return EventAccumulator(str(copies), size_guidance={"scalars": 0}).Reload()


def steps(accumulator: EventAccumulator, tag: str) -> list[int]:
    return [event.step for event in accumulator.Scalars(tag)]


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory) -> Path:
    """The folder of a small run that nothing interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    assert Trainer(LONG, options(phases_of_five_stretches()), folder, quiet()).run()
    return folder


# Resuming


@pytest.mark.parametrize("stretches", [1, 2, 3, 4])
def test_a_run_that_was_stopped_and_resumed_equals_one_that_was_not(whole_run, tmp_path, stretches):
    folder = tmp_path / "run"
    assert not Trainer(LONG, options(phases_of_five_stretches()), folder, quiet()).run(stopping_after(stretches))
    stopped = load_checkpoint(folder / LAST)
    assert 0 < stopped.games < load_checkpoint(whole_run / LAST).games
    assert Trainer.resume(folder, quiet()).run()
    assert_same_run(folder, whole_run)


def test_a_run_may_be_stopped_before_every_stretch(whole_run, tmp_path):
    folder = tmp_path / "run"
    assert not Trainer(LONG, options(phases_of_five_stretches()), folder, quiet()).run(lambda: True)
    finished, resumed = False, 0
    while not finished:
        finished = Trainer.resume(folder, quiet()).run(stopping_after(1))
        resumed += 1
    assert resumed > 5  # stretches, evaluations, and the change of phase
    assert_same_run(folder, whole_run)


def test_a_run_killed_between_two_saves_goes_on_from_the_last_one(whole_run, tmp_path):
    """What was played after the save is played again, and is the same."""
    folder = tmp_path / "run"
    Trainer(LONG, options(phases_of_five_stretches()), folder, quiet()).run(stopping_after(1))
    kept = (folder / LAST).read_bytes()
    Trainer.resume(folder, quiet()).run(stopping_after(2))
    assert (folder / LAST).read_bytes() != kept
    (folder / LAST).write_bytes(kept)
    assert Trainer.resume(folder, quiet()).run()
    assert_same_run(folder, whole_run)
    losses = steps(curves(folder, tmp_path), "train/loss")
    assert losses == sorted(set(losses)) == steps(curves(whole_run, tmp_path), "train/loss")


def test_a_finished_run_that_is_resumed_stays_as_it_is(whole_run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(whole_run, folder)
    assert Trainer.resume(folder, quiet()).run()
    assert_same_run(folder, whole_run)


def test_another_seed_gives_another_run(whole_run, tmp_path):
    Trainer(LONG, options(phases_of_five_stretches(), seed=2), tmp_path / "run", quiet()).run()
    with pytest.raises(AssertionError):
        assert_same_run(tmp_path / "run", whole_run)


def test_a_schedule_is_followed_phase_by_phase(whole_run, tmp_path):
    accumulator = curves(whole_run, tmp_path)
    games = STRETCH * BATCH
    ends = [games, 2 * games, 3 * games - 10, 4 * games - 10, 5 * games - 11]
    assert steps(accumulator, "train/loss") == steps(accumulator, "speed/games_per_second") == ends
    traces = [event.value for event in accumulator.Scalars("train/trace")]
    rates = [event.value for event in accumulator.Scalars("train/learning_rate")]
    assert traces[:3] == sorted(traces[:3], reverse=True)
    assert 0.6 < traces[2] < 0.65
    assert traces[3:] == [0, 0]
    assert rates[2] > 1e-3 > rates[3] > rates[4] > 1e-4
    place = load_checkpoint(whole_run / LAST).run["place"]
    assert (place["games"], place["phase"], place["phase_games"]) == (ends[-1], 2, 0)


def test_the_x_axis_goes_on_where_a_run_was_stopped(whole_run, tmp_path):
    folder = tmp_path / "run"
    Trainer(LONG, options(phases_of_five_stretches()), folder, quiet()).run(stopping_after(2))
    stopped = load_checkpoint(folder / LAST).games
    before = curves(folder, tmp_path)
    assert max(steps(before, "train/loss")) == stopped
    Trainer.resume(folder, quiet()).run()
    together, reference = curves(folder, tmp_path), curves(whole_run, tmp_path)
    assert together.Tags()["scalars"] == reference.Tags()["scalars"]
    for tag in reference.Tags()["scalars"]:
        assert steps(together, tag) == steps(reference, tag), tag
        if not tag.startswith("speed/"):
            assert [e.value for e in together.Scalars(tag)] == [e.value for e in reference.Scalars(tag)], tag


def test_a_run_that_is_killed_after_a_save_has_its_curves_up_to_there(tmp_path, monkeypatch):
    """Evaluations write the curves out, but may be far apart."""
    monkeypatch.setattr(RunLog, "close", lambda self: None)
    trainer = Trainer(LONG, options(phases_of_five_stretches(), evaluations=1), tmp_path / "run", quiet())
    trainer.run(stopping_after(2))
    assert steps(curves(tmp_path / "run", tmp_path), "train/loss") == [STRETCH * BATCH, 2 * STRETCH * BATCH]


def test_every_family_of_curves_is_there(whole_run, tmp_path):
    accumulator = curves(whole_run, tmp_path)
    tags = set(accumulator.Tags()["scalars"])
    assert {"train/loss", "train/learning_rate", "train/trace", "speed/games_per_second"} <= tags
    assert {"selfplay/starter_wins", "selfplay/mars", "selfplay/turns", "selfplay/turns_low"} <= tags
    assert {"eval/win_rate_random", "eval/points_heuristic", "eval/points_best"} <= tags
    assert "openings/board" in accumulator.Tags()["images"]
    # The first net has no better one to face.
    assert len(steps(accumulator, "eval/points_best")) == len(steps(accumulator, "eval/points_random")) - 1


# Files of a run


def test_the_files_of_a_run_load_by_torchs_defaults_and_play(whole_run):
    for name in (LAST, BEST):
        content = torch.load(whole_run / name)
        assert content["games"] == load_checkpoint(whole_run / name, LONG).games > 0
    assert {path.name for path in whole_run.iterdir() if "tfevents" not in path.name} == {LAST, BEST, CONFIG, HISTORY}
    assert load_checkpoint(whole_run / BEST).run == {}


def test_a_new_run_can_be_resumed_before_its_first_batch(tmp_path):
    Trainer(SHORT, options([Phase([0.5, 0.5], [1e-3, 1e-3], games=6)]), tmp_path / "run", quiet())
    trainer = Trainer.resume(tmp_path / "run", quiet())
    assert trainer.variant == SHORT
    assert trainer.run()
    assert trainer.place.games == 6


def test_a_folder_keeps_the_run_that_it_has(whole_run):
    before = (whole_run / LAST).read_bytes()
    with pytest.raises(ValueError, match=r"holds a run already; go on with it by resume="):
        Trainer(LONG, options(phases_of_five_stretches()), whole_run, quiet())
    assert (whole_run / LAST).read_bytes() == before


def test_a_bot_alone_cannot_be_resumed(whole_run, tmp_path):
    shutil.copy(whole_run / BEST, tmp_path / LAST)
    with pytest.raises(ValueError, match="is a bot without the state of its run: it cannot be resumed"):
        Trainer.resume(tmp_path, quiet())


def test_the_best_net_stays_when_a_later_one_is_no_better(tmp_path, monkeypatch):
    verdicts = iter([False, True, False])  # the first net has none to be compared with

    def judged(*arguments, seed):
        result = evaluate(*arguments, seed)
        better = dataclasses.replace(result.random, points_per_game=1.0, standard_error=0.01)
        worse = dataclasses.replace(better, points_per_game=-1.0)
        return dataclasses.replace(result, best=(better if next(verdicts) else worse) if result.best else None)

    monkeypatch.setattr(trainer_module, "evaluate", judged)
    schedule = options([Phase([0.7, 0.7], [5e-3, 5e-3], games=4 * STRETCH * BATCH)], evaluations=4)
    trainer = Trainer(SHORT, schedule, tmp_path, quiet())
    kept, finished = {}, False
    while not finished:
        finished = trainer.run(stopping_after(1))
        if (tmp_path / BEST).exists():
            kept[trainer.place.games] = trainer.place.best_games, load_checkpoint(tmp_path / BEST).games
        trainer = Trainer.resume(tmp_path, quiet())
    games = STRETCH * BATCH
    assert [(at // games, best // games) for at, (best, _) in kept.items()] == [(1, 1), (2, 1), (3, 3), (4, 3)]
    assert all(best == saved for best, saved in kept.values())


def test_a_resumed_run_makes_the_file_of_its_best_net_anew(whole_run, tmp_path):
    """It may be gone, or from after the checkpoint: a run can be killed between the two."""
    shutil.copy(whole_run / LAST, tmp_path / LAST)
    Trainer.resume(tmp_path, quiet())
    before, after = (load_checkpoint(folder / BEST) for folder in (whole_run, tmp_path))
    assert after.games == before.games
    for name, weights in before.net.state_dict().items():
        assert torch.equal(after.net.state_dict()[name], weights)


# Where a run begins, and what it leaves behind


def test_a_run_may_begin_with_the_net_of_another(whole_run, tmp_path):
    """Also in a larger shape. It rates as before, counts on from there, and has its beginning to beat."""
    start = load_checkpoint(whole_run / BEST)
    for hidden in ([8], [12, 12]):
        chosen = options([Phase([0.5, 0.5], [1e-3, 1e-3], games=6)], hidden)
        chosen.start = str(whole_run / BEST)
        trainer = Trainer(LONG, chosen, tmp_path / str(len(hidden)), quiet())
        positions, pending = torch.randint(0, 3, (50, 2, 26), dtype=torch.int8), torch.zeros(50, dtype=torch.int32)
        for name in (LAST, BEST):
            first = load_checkpoint(tmp_path / str(len(hidden)) / name)
            assert (first.games, first.seconds) == (start.games, start.seconds)
            assert first.net.hidden == tuple(hidden)
            torch.testing.assert_close(first.net(positions, pending), start.net(positions, pending))
        trainer.run()
        last = load_checkpoint(tmp_path / str(len(hidden)) / LAST)
        assert last.games == start.games + 6
        assert last.run["place"]["phase"] == 1
        best = load_checkpoint(tmp_path / str(len(hidden)) / BEST)
        assert best.games in (start.games, last.games)  # the gate decides


def test_a_run_keeps_the_net_of_every_evaluation(whole_run, tmp_path):
    files = {int(file.stem): file for file in (whole_run / HISTORY).iterdir()}
    assert sorted(files) == steps(curves(whole_run, tmp_path), "eval/win_rate_random")
    nets = {games: load_checkpoint(file, LONG) for games, file in files.items()}
    assert all(checkpoint.games == games for games, checkpoint in nets.items())
    last, best = load_checkpoint(whole_run / LAST), load_checkpoint(whole_run / BEST)
    assert_same_net(nets[max(nets)].net, last.net)
    assert_same_net(nets[best.games].net, best.net)
    assert nets[best.games].seconds == best.seconds <= last.seconds == last.run["place"]["seconds"]
    assert sorted(nets) == sorted(nets, key=lambda games: nets[games].seconds)


def test_weights_that_diverge_end_the_run_and_keep_the_last_good_checkpoint(tmp_path, monkeypatch):
    learn, calls = CompiledLearner.learn, []

    def diverging(self, batch, learning_rate, seed):
        calls.append(learning_rate)
        if len(calls) == STRETCH + 3:
            self._parameters[:] = np.nan
        return learn(self, batch, learning_rate, seed)

    monkeypatch.setattr(CompiledLearner, "learn", diverging)
    schedule = options([Phase([0.7, 0.7], [1e-3, 1e-3], games=3 * STRETCH * BATCH)], evaluations=3)
    with pytest.raises(
        DivergedError, match=r"the loss became nan .*; .* is from before; a lower learning rate may help"
    ):
        Trainer(SHORT, schedule, tmp_path, quiet()).run()
    checkpoint = load_checkpoint(tmp_path / LAST, SHORT)
    assert checkpoint.games == STRETCH * BATCH
    assert all(torch.isfinite(parameter).all() for parameter in checkpoint.net.parameters())
    monkeypatch.undo()
    assert Trainer.resume(tmp_path, quiet()).run()


def test_a_phase_in_minutes_ends(tmp_path):
    trainer = Trainer(SHORT, options([Phase([0.7, 0.7], [1e-3, 1e-3], minutes=0.001)]), tmp_path, quiet())
    assert trainer.run()
    assert trainer.place.games > 0
    assert trainer.place.games % BATCH == 0


# Learning


def test_a_few_seconds_of_training_make_a_long_bot_that_beats_chance(tmp_path):
    """Which a mistake of sign or of perspective would not survive; nor would the value of the start and its mean."""
    phases = [Phase([0.9, 0.7], [5e-3, 1e-3], games=6000)]
    schedule = options(phases, hidden=[32], batch_games=32, minibatch=256, evaluations=1, evaluation_games=1000)
    trainer = Trainer(LONG, schedule, tmp_path, quiet())
    assert trainer.run()
    assert trainer.final().random.win_rate >= 0.9
    net = load_checkpoint(tmp_path / LAST, LONG).net
    batch = SelfPlay(LONG, seed=77).play(network_bot(net, LONG), 0, 200, 1.0)
    with torch.no_grad():
        start = net(torch.from_numpy(Position.start(LONG).board()[None]))[0]
        predicted = net(torch.from_numpy(batch.positions)).numpy()
    assert 0.35 < start[0] < 0.7
    # With λ = 1 the targets are the outcomes, or what they are expected to be where the bear-off tables know.
    np.testing.assert_allclose(predicted.mean(axis=0), batch.targets.mean(axis=0), atol=0.07)
    won = batch.targets[:, 0] > 0.5
    assert predicted[won, 0].mean() > 0.6 > 0.4 > predicted[~won, 0].mean()
    assert 0.4 < batch.games[:, STARTER_WON].mean() < 0.7
    assert set(np.unique(batch.games[:, POINTS])) <= {1, 2}


# The script


SMOKE = ["schedule=smoke", "network.hidden=[4]", "schedule.batch_games=8", "schedule.minibatch=64", "device=cpu"]
ENDLESS = "schedule.phases=[{games: 1000000, trace: [0.5, 0.5], learning_rate: [1e-3, 1e-3]}]"


@pytest.fixture
def begin():
    """A function that begins the script; what still runs when the test ends is killed."""
    processes = []

    def run(folder: Path, *arguments: str) -> subprocess.Popen:
        command = [sys.executable, str(ROOT / "train.py"), *arguments]
        # A narrow console would break the lines that are looked for.
        environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "400"}
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        processes.append(process)
        return process

    yield run
    for process in processes:
        process.kill()
        process.wait()


def wait_for(path: Path, games: int, process: subprocess.Popen) -> None:
    """Wait until the checkpoint at `path` is of more than `games` games."""
    for _ in range(1200):
        assert process.poll() is None, process.communicate()
        # Written in one piece, a checkpoint is readable whenever it is there.
        if path.exists() and load_checkpoint(path).games > games:
            return
        time.sleep(0.05)
    process.kill()
    raise AssertionError(f"no progress: {process.communicate()}")


def test_a_run_is_killed_resumed_stopped_and_resumed_again(tmp_path, begin):
    run, last = tmp_path / "run", tmp_path / "run" / LAST
    # Every save is an evaluation's here; saves by the clock are too far apart for a test.
    killed = begin(tmp_path, "folder=run", *SMOKE, ENDLESS, "schedule.evaluations=10000", "schedule.evaluation_games=4")
    wait_for(last, 0, killed)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    killed.communicate()
    for draft in run.glob(".*.draft"):
        draft.unlink()  # the kill may have come in the middle of a save
    games = load_checkpoint(last, LONG).games
    assert games > 0

    resumed = begin(tmp_path, "resume=run")
    wait_for(last, games, resumed)
    resumed.send_signal(signal.SIGTERM)
    out, err = resumed.communicate(timeout=300)
    assert resumed.returncode == 128 + signal.SIGTERM, err
    assert err == "stopped and saved; go on with: python train.py resume=run\n"
    assert "new best" in out or "random" in out
    checkpoint = load_checkpoint(last)
    assert checkpoint.games > games

    # What is left of the schedule is cut off, so that the run comes to its end.
    checkpoint.run["options"]["schedule"]["phases"][0]["games"] = checkpoint.games + 8
    save_checkpoint(last, checkpoint)
    finished = begin(tmp_path, "resume=run")
    out, err = finished.communicate(timeout=300)
    assert (finished.returncode, err) == (0, "")
    assert "best net: run/best.pt, after " in out
    assert f" of {checkpoint.games + 8:,} games\nit wins against random " in out
    assert load_checkpoint(last).games == checkpoint.games + 8
    assert {path.name for path in run.iterdir() if "tfevents" not in path.name} == {LAST, BEST, CONFIG, HISTORY}
    losses = steps(curves(run, tmp_path), "train/loss")
    assert losses == sorted(set(losses))
    assert losses[-1] == checkpoint.games + 8
    assert max(np.diff(losses)) == STRETCH * 8, "the curve has a gap"
