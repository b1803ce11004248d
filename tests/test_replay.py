"""Positions that are learnt several times."""

from collections import Counter

import numpy as np
import pytest
from rich.console import Console

from nardy_rl.rules.variant import variant
from nardy_rl.selfplay.batch import Batch
from nardy_rl.training.display import Display
from nardy_rl.training.learner import CompiledLearner
from nardy_rl.training.options import Network, Options, Phase, Schedule
from nardy_rl.training.replay import KEPT, Replay
from nardy_rl.training.trainer import Trainer


def numbered(batch, size):
    """A batch whose rows tell which batch they are from, and which row they were, in all three arrays."""
    positions = np.zeros((size, 2, 26), np.int8)
    positions[:, 0, 0], positions[:, 0, 1] = batch % 100, np.arange(size)
    pending = np.arange(size, dtype=np.int32) + 1000 * batch
    return Batch(positions, pending, pending[:, None].astype(np.float32), np.full((2, 5), batch))


def test_with_one_pass_a_batch_is_learnt_as_it_is():
    replay, batch = Replay(), numbered(1, 5)
    assert replay.mix(batch, 1, seed=3) is batch
    mixed = replay.mix(numbered(2, 5), 2, seed=3)
    assert set(mixed.positions[:, 0, 0]) == {2}


def test_rows_stay_together_and_come_at_most_once_a_mix():
    replay = Replay()
    for number in range(6):
        size = 10 + number
        mixed = replay.mix(numbered(number, size), 3, seed=-number)
        assert len(mixed.positions) == min(3 * size, sum(10 + earlier for earlier in range(number + 1)))
        told = mixed.positions[:, 0, 0].astype(int) * 1000 + mixed.positions[:, 0, 1]
        assert (mixed.pending == told).all()
        assert (mixed.targets[:, 0] == told).all()
        assert len(set(told)) == len(told)
        assert (mixed.games == number).all()
        dtypes = mixed.positions.dtype, mixed.pending.dtype, mixed.targets.dtype
        assert dtypes == (np.int8, np.int32, np.float32)


def test_the_last_batches_are_kept_and_no_others():
    replay = Replay()
    for number in range(KEPT + 3):
        mixed = replay.mix(numbered(number, 3), passes=KEPT, seed=number)
        kept = range(max(0, number + 1 - KEPT), number + 1)
        assert sorted(mixed.pending) == [1000 * batch + row for batch in kept for row in range(3)]


def test_each_position_is_learnt_so_many_times_on_average():
    replay, learnt, passes, size, batches = Replay(), Counter(), 5, 20, 4 * KEPT
    for number in range(batches):
        learnt.update(replay.mix(numbered(number, size), passes, seed=number).pending.tolist())
    whole_stay = [learnt[1000 * batch + row] for batch in range(KEPT, batches - KEPT) for row in range(size)]
    assert np.mean(whole_stay) == pytest.approx(passes, abs=0.3)
    assert min(whole_stay) < passes < max(whole_stay)


def test_a_seed_draws_the_same_rows_again_and_another_one_does_not():
    def drawn(seed):
        replay = Replay()
        for number in range(4):
            mixed = replay.mix(numbered(number, 50), 2, seed)
        return mixed.pending

    assert (drawn(-7) == drawn(-7)).all()
    assert (np.sort(drawn(-7)) != np.sort(drawn(8))).any()


def test_a_phase_learns_from_its_own_batches_alone(tmp_path, monkeypatch):
    learn, learnt = CompiledLearner.learn, []

    def watching(self, batch, learning_rate, seed):
        learnt.append((len(batch.positions), int(batch.games[:, 4].sum())))
        return learn(self, batch, learning_rate, seed)

    monkeypatch.setattr(CompiledLearner, "learn", watching)
    rates = {"trace": [0.0, 0.0], "learning_rate": [1e-3, 1e-3], "games": 24}
    phases = [Phase(passes=3, **rates), Phase(passes=2, **rates)]
    sizes = {"batch_games": 8, "evaluations": 1, "evaluation_games": 4, "gate_games": 4, "final_gate_games": 4}
    options = Options(network=Network(hidden=[8]), schedule=Schedule(phases=phases, **sizes), folder="x")
    Trainer(variant("long"), options, tmp_path, Display(Console(quiet=True))).run()
    sizes = [size for size, _ in learnt]
    new = [played for _, played in learnt]
    assert sizes[:3] == [new[0], min(3 * new[1], sum(new[:2])), min(3 * new[2], sum(new[:3]))]
    assert sizes[3:] == [new[3], min(2 * new[4], sum(new[3:5])), min(2 * new[5], sum(new[3:]))]


def test_no_passes_are_refused():
    with pytest.raises(ValueError, match="option passes of a phase must be at least 1; got 0"):
        Phase(trace=[0.7, 0.7], learning_rate=[1e-3, 1e-3], games=8, passes=0)
