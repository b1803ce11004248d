"""The two learners: one sum, in compiled code and in torch."""

import copy
import dataclasses
import math

import numpy as np
import pytest
import torch
from nets import opinionated_net
from torch.nn.functional import binary_cross_entropy_with_logits

from nardy_rl.network.value_net import new_net
from nardy_rl.players.bot import RANDOM, simple_bot
from nardy_rl.rules.variant import Variant, variant
from nardy_rl.selfplay.batch import Batch, SelfPlay
from nardy_rl.training.learner import CompiledLearner, DivergedError, TorchLearner, choose_device, new_learner

pytestmark = pytest.mark.usefixtures("one_torch_thread")

RATE = 3e-3
SHAPES = [[16], [32, 8, 4]]


@pytest.fixture(scope="module", params=["short", "long"])
def batch(request) -> Batch:
    """Random games with the targets of an undecided network: soft ones, and hard ones at the games' ends."""
    rules = variant(request.param)
    games = SelfPlay(rules, seed=5, workers=1).play(simple_bot(RANDOM, rules), 0, 4, 1.0)
    return dataclasses.replace(games, targets=games.targets * np.float32(0.8) + np.float32(0.1))


def first_rows(batch: Batch, number: int) -> Batch:
    return Batch(batch.positions[:number], batch.pending[:number], batch.targets[:number], batch.games)


def rules_of(batch: Batch) -> Variant:
    return {rules.outputs: rules for rules in (variant("short"), variant("long"))}[batch.targets.shape[1]]


def net_for(batch: Batch, hidden):
    return opinionated_net(rules_of(batch), hidden, seed=2)


def pair_of_learners(batch: Batch, hidden, minibatch=64):
    net = net_for(batch, hidden)
    return CompiledLearner(net, minibatch), TorchLearner(copy.deepcopy(net), "cpu", minibatch)


def assert_same_weights(one, other, atol):
    for name, tensor in one.net.state_dict().items():
        np.testing.assert_allclose(tensor, other.net.state_dict()[name], atol=atol, rtol=0, err_msg=name)


def assert_same_state(one, other, atol):
    assert one["step"] == other["step"]
    for part in ("mean", "square"):
        assert len(one[part]) == len(other[part])
        for mine, theirs in zip(one[part], other[part], strict=True):
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, atol=atol, rtol=0)


@pytest.mark.parametrize("hidden", SHAPES)
def test_the_compiled_gradient_is_that_of_torch(batch, hidden):
    net = net_for(batch, hidden)
    positions, targets = batch.positions[:50], batch.targets[:50]
    loss = binary_cross_entropy_with_logits(net.logits(torch.from_numpy(positions)), torch.from_numpy(targets))
    loss.backward()
    # From rest, Adam's mean is a tenth of the gradient after one step.
    learner = CompiledLearner(net, minibatch=50)
    assert learner.learn(first_rows(batch, 50), RATE, seed=1) == pytest.approx(loss.item(), abs=1e-5)
    state = learner.state()
    for parameter, mean, square in zip(net.parameters(), state["mean"], state["square"], strict=True):
        assert parameter.grad is not None
        np.testing.assert_allclose(mean * 10, parameter.grad, atol=1e-6, rtol=1e-4)
        np.testing.assert_allclose(square * 1000, parameter.grad**2, atol=1e-7, rtol=1e-3)


@pytest.mark.parametrize("hidden", SHAPES)
@pytest.mark.parametrize("minibatch", [1, 5, 64, 10_000])
def test_both_learners_make_the_same_net_of_a_batch(batch, hidden, minibatch):
    compiled, by_torch = pair_of_learners(batch, hidden, minibatch)
    part = first_rows(batch, 150)
    for seed in range(2):
        losses = [learner.learn(part, RATE, seed) for learner in (compiled, by_torch)]
        assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    # Adam divides by the root of a mean square: where a gradient is near zero, rounding may cost a share of a step.
    assert_same_weights(compiled, by_torch, atol=0.02 * RATE)
    assert_same_state(compiled.state(), by_torch.state(), atol=1e-5)


def test_the_order_of_learning_depends_on_the_seed_alone(batch):
    (first, _), (again, _), (other, _) = (pair_of_learners(batch, [8]) for _ in range(3))
    for learner, seed in ((first, 1), (again, 1), (other, 2)):
        learner.learn(batch, RATE, seed)
    assert_same_weights(first, again, atol=0)
    with pytest.raises(AssertionError):
        assert_same_weights(first, other, atol=0)


def test_the_last_minibatch_may_be_a_smaller_one(batch):
    """The mean loss of a minibatch counts, so that its size does not change the length of a step."""
    compiled, by_torch = pair_of_learners(batch, [8], minibatch=40)
    part = first_rows(batch, 41)
    for learner in (compiled, by_torch):
        learner.learn(part, RATE, seed=3)
    assert compiled.state()["step"] == by_torch.state()["step"] == 2
    assert_same_weights(compiled, by_torch, atol=0.02 * RATE)


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("end", [0, 1])
def test_adams_memory_moves_between_the_learners(batch, start, end):
    first = pair_of_learners(batch, [8, 4])[start]
    first.learn(batch, RATE, seed=1)
    second = (CompiledLearner(copy.deepcopy(first.net), 64), TorchLearner(copy.deepcopy(first.net), "cpu", 64))[end]
    second.load_state(first.state())
    assert_same_state(second.state(), first.state(), atol=0)
    for learner in (first, second):
        learner.learn(batch, RATE, seed=2)
    exact = start == end
    assert_same_weights(first, second, atol=0 if exact else 0.02 * RATE)
    assert_same_state(first.state(), second.state(), atol=0 if exact else 1e-5)


@pytest.mark.parametrize("kind", [0, 1])
def test_a_state_is_a_copy_in_plain_types(batch, kind):
    learner = pair_of_learners(batch, [8])[kind]
    fresh = learner.state()
    assert fresh["step"] == 0
    assert all(not tensor.any() for part in ("mean", "square") for tensor in fresh[part])
    learner.learn(batch, RATE, seed=1)
    kept = learner.state()
    before = [tensor.clone() for tensor in kept["mean"]]
    learner.learn(batch, RATE, seed=2)
    assert all(torch.equal(mine, copy) for mine, copy in zip(kept["mean"], before, strict=True))
    assert type(kept["step"]) is int
    assert [tensor.shape for tensor in kept["mean"]] == [parameter.shape for parameter in learner.net.parameters()]
    learner.load_state(fresh)
    assert_same_state(learner.state(), fresh, atol=0)


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_reported(batch, kind, value):
    net = net_for(batch, [8])
    with torch.no_grad():
        net.layers[0].bias[3] = value
    learner = (CompiledLearner(net, 64), TorchLearner(net, "cpu", 64))[kind]
    with pytest.raises(DivergedError, match=r"the loss became (nan|inf) \(learning rate 0\.003\)"):
        learner.learn(batch, RATE, seed=1)


def test_weights_that_the_last_step_makes_no_numbers_are_reported_although_the_loss_before_it_was_one(batch):
    learner = CompiledLearner(net_for(batch, [8]), 64)
    with pytest.raises(DivergedError, match=r"the loss became nan \(learning rate inf\)"):
        learner.learn(first_rows(batch, 64), math.inf, seed=1)


@pytest.mark.parametrize("kind", [0, 1])
def test_learning_a_batch_again_and_again_brings_its_loss_down_to_that_of_the_targets(batch, kind):
    learner = pair_of_learners(batch, [32], minibatch=32)[kind]
    part = first_rows(batch, 100)
    target = np.clip(part.targets.astype(float), 1e-9, 1 - 1e-9)
    entropy = float(-(target * np.log(target) + (1 - target) * np.log(1 - target)).mean())
    losses = [learner.learn(part, 1e-2, seed) for seed in range(200)]  # in 800 steps, most of them small ones
    assert losses[0] > entropy + 0.05
    assert losses[-1] == pytest.approx(entropy, abs=0.02)
    assert losses[-1] > entropy - 1e-5


def test_a_learner_trains_the_net_that_it_was_given(batch):
    for kind in range(2):
        learner = pair_of_learners(batch, [8])[kind]
        net, before = learner.net, copy.deepcopy(learner.net)
        learner.learn(batch, RATE, seed=1)
        assert learner.net is net
        assert not torch.equal(net.layers[0].weight, before.layers[0].weight)


def test_a_pass_leaves_no_gradient_behind(batch):
    """What a minibatch adds up must be gone before the next one."""
    learner = CompiledLearner(net_for(batch, [8]), minibatch=32)
    learner.learn(first_rows(batch, 70), RATE, seed=1)
    assert not any(work.gradient.any() for work in learner._works)
    assert all(mean.any() for mean in learner.state()["mean"][:2])


def test_a_device_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device=cuda: torch sees no CUDA device here; use device=cpu"):
        choose_device("cuda")
    assert choose_device("auto") == "cpu"
    assert isinstance(new_learner(new_net([4], variant("long"), seed=1), "cpu", 64), CompiledLearner)
