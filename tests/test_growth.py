"""Networks that grow while they learn: the function stays, the learner begins again, a run goes on."""

import dataclasses

import pytest
import torch
from nets import opinionated_net
from rich.console import Console

from nardy_rl.network.checkpoint import load_checkpoint
from nardy_rl.network.value_net import grown
from nardy_rl.players.box import BEST
from nardy_rl.rules.variant import variant
from nardy_rl.training.display import Display
from nardy_rl.training.options import Network, Options, Phase, Schedule
from nardy_rl.training.trainer import LAST, Trainer


@pytest.mark.parametrize("hidden", [[20, 7], [32, 7], [20, 9], [33, 16, 16], [20, 7, 7, 8]])
@pytest.mark.parametrize("name", ["short", "gulbar"])
def test_a_grown_network_rates_every_position_as_before(hidden, name):
    net = opinionated_net(variant(name), [20, 7])
    larger = grown(net, hidden, seed=3)
    positions = torch.randint(0, 6, (200, 2, 26), dtype=torch.int8, generator=torch.Generator().manual_seed(1))
    pending = torch.tensor([0, 0x301]).repeat(100) * net.variant.has_pending
    assert larger.hidden == tuple(hidden)
    torch.testing.assert_close(larger(positions, pending), net(positions, pending), atol=1e-5, rtol=0)


def test_new_units_are_no_copies_of_each_other():
    larger = grown(opinionated_net(variant("short"), [4]), [8], seed=3)
    rows = larger.layers[0].weight[4:]
    assert torch.linalg.matrix_rank(rows) == 4


@pytest.mark.parametrize("hidden", [[], [19, 7], [20, 6], [20], [20, 7, 6]])
def test_a_network_does_not_shrink(hidden):
    with pytest.raises(ValueError, match=r"hidden layers \[20, 7\] cannot grow to \[.*\]: no layer may get narrower"):
        grown(opinionated_net(variant("short"), [20, 7]), hidden, seed=3)


def test_a_schedule_that_would_shrink_the_network_is_refused():
    phases = [Phase(games=64, trace=[0.7, 0.7], learning_rate=[1e-3, 1e-3], hidden=[8])]
    with pytest.raises(ValueError, match="cannot grow"):
        Options(network=Network(hidden=[16]), schedule=Schedule(phases=phases), folder="x")


def test_a_run_grows_its_network_and_goes_on_exactly_after_a_stop(tmp_path):
    rates = {"trace": [0.7, 0.7], "learning_rate": [1e-3, 1e-3]}
    phases = [Phase(games=64, **rates), Phase(games=64, hidden=[24, 24], all_rolls=True, **rates)]
    sizes = {"batch_games": 32, "evaluations": 1, "evaluation_games": 4, "gate_games": 4, "final_gate_games": 4}
    options = Options(network=Network(hidden=[16]), schedule=Schedule(phases=phases, **sizes), folder="x")
    display = Display(Console(quiet=True))

    whole = Trainer(variant("short"), options, tmp_path / "whole", display)
    assert whole.run()
    stopped = Trainer(variant("short"), dataclasses.replace(options), tmp_path / "stopped", display)
    while not stopped.run(stop_after_one_step()):
        stopped = Trainer.resume(tmp_path / "stopped", display)

    for name in (LAST, BEST):
        one, other = (load_checkpoint(tmp_path / folder / name).net for folder in ("whole", "stopped"))
        for weights, others in zip(one.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(weights, others, atol=0, rtol=0)
    assert load_checkpoint(tmp_path / "whole" / LAST).net.hidden == (24, 24)


def stop_after_one_step():
    answers = iter([False])
    return lambda: next(answers, True)
