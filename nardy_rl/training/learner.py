"""From games to better weights: Adam on the cross-entropy between network and targets.

Two learners do the same sum. On a CPU it is compiled, with a sparse first layer: several times faster than torch's
dense one, and without torch's thread pool, whose barriers stall when another program wants a core. On a GPU it is
torch.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits

from nardy_rl.network.gradient import adam, add_gradient, add_up, new_workspace
from nardy_rl.network.value_net import ValueNet
from nardy_rl.selfplay.batch import Batch

_SHARD = 256  # positions whose gradients one thread sums; fixed, so that the result does not depend on the threads


class DivergedError(RuntimeError):
    """The loss is no longer a number."""


class Learner(Protocol):
    """Trains `net` in place."""

    net: ValueNet

    def learn(self, batch: Batch, learning_rate: float, seed: int) -> float:
        """Go once through the batch in an order that `seed` determines; returns the mean loss in nats an output.

        Raises DivergedError if the loss is not finite; the weights are then worthless.
        """

    def state(self) -> dict[str, Any]:
        """Adam's memory in plain types: `step`, and `mean` and `square`, a tensor for each parameter of the net."""

    def load_state(self, state: dict[str, Any]) -> None:
        """Take over what `state` returned, of either learner."""


def new_learner(net: ValueNet, device: str, minibatch: int) -> Learner:
    """The learner for `device`: auto, cpu or cuda. Raises ValueError if cuda is asked for and absent."""
    has_cuda = torch.cuda.is_available()
    if device == "cuda" and not has_cuda:
        raise ValueError("device=cuda: torch sees no CUDA device here; use device=cpu or device=auto")
    if device == "cpu" or not has_cuda:
        return CompiledLearner(net, minibatch)
    return TorchLearner(net, "cuda", minibatch)


class CompiledLearner:
    """Learns on the CPU, on all its cores. The result does not depend on their number."""

    def __init__(self, net: ValueNet, minibatch: int, workers: int | None = None) -> None:
        self.net = net
        self._minibatch = minibatch
        self._widths = np.array([layer.out_features for layer in net.layers], np.int64)
        self._parameters = _to_vector([parameter.detach() for parameter in net.parameters()])
        self._mean, self._square = np.zeros_like(self._parameters), np.zeros_like(self._parameters)
        self._step = 0
        self._work = [new_workspace(self._widths) for _ in range(math.ceil(minibatch / _SHARD))]
        self._pool = ThreadPoolExecutor(workers or len(os.sched_getaffinity(0)))

    def learn(self, batch: Batch, learning_rate: float, seed: int) -> float:
        """See `Learner`."""
        order = _order(len(batch.positions), seed).numpy()
        loss = 0.0
        for start in range(0, len(order), self._minibatch):
            loss += self._descend(batch, order[start : start + self._minibatch], learning_rate)
        self._write_back()
        return _finite(loss / batch.targets.size, learning_rate)

    def _descend(self, batch: Batch, rows: NDArray[np.int64], learning_rate: float) -> float:
        scale = 1 / (len(rows) * batch.targets.shape[1])
        shards = [rows[start : start + _SHARD] for start in range(0, len(rows), _SHARD)]

        def gradient(shard: int) -> float:
            work = self._work[shard]
            return add_gradient(
                self._parameters, self._widths, batch.positions, batch.targets, shards[shard], scale, work
            )

        loss = sum(self._pool.map(gradient, range(len(shards))))
        total = self._work[0].gradient
        for shard in range(1, len(shards)):
            add_up(total, self._work[shard].gradient)
        self._step += 1
        adam(self._parameters, total, self._mean, self._square, self._step, learning_rate)
        return loss

    def _write_back(self) -> None:
        with torch.no_grad():
            for parameter, values in zip(self.net.parameters(), self._to_tensors(self._parameters), strict=True):
                parameter.copy_(values)

    def state(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "step": self._step,
            "mean": self._to_tensors(self._mean),
            "square": self._to_tensors(self._square),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """See `Learner`."""
        self._step = state["step"]
        self._mean, self._square = _to_vector(state["mean"]), _to_vector(state["square"])

    def _to_tensors(self, vector: NDArray[np.float32]) -> list[torch.Tensor]:
        """A vector as `network.gradient` lays it out, as one tensor for each parameter of the net."""
        tensors, start = [], 0
        for index, parameter in enumerate(self.net.parameters()):
            part = torch.from_numpy(vector[start : start + parameter.numel()])
            tensors.append(part.view(parameter.shape[::-1]).t().clone() if index == 0 else part.view(parameter.shape).clone())
            start += parameter.numel()
        return tensors


class TorchLearner:
    """Learns with torch, on any of its devices."""

    def __init__(self, net: ValueNet, device: str, minibatch: int) -> None:
        self._device = torch.device(device)
        self.net = net.to(self._device)
        self._optimizer = torch.optim.Adam(self.net.parameters())
        self._minibatch = minibatch

    def learn(self, batch: Batch, learning_rate: float, seed: int) -> float:
        """See `Learner`."""
        self._optimizer.param_groups[0]["lr"] = learning_rate
        order = _order(len(batch.positions), seed).to(self._device)
        positions = torch.from_numpy(batch.positions).to(self._device)
        targets = torch.from_numpy(batch.targets).to(self._device)
        total = torch.zeros((), device=self._device)
        for rows in order.split(self._minibatch):
            loss = binary_cross_entropy_with_logits(self.net.logits(positions[rows]), targets[rows])
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
            total += loss.detach() * len(rows)
        return _finite(float(total) / len(order), learning_rate)

    def state(self) -> dict[str, Any]:
        """See `Learner`."""
        memory = [self._optimizer.state.get(parameter, {}) for parameter in self.net.parameters()]
        zeros = [torch.zeros_like(parameter, device="cpu") for parameter in self.net.parameters()]
        return {
            "step": int(memory[0].get("step", 0)),
            "mean": [part.get("exp_avg", zero).cpu().clone() for part, zero in zip(memory, zeros, strict=True)],
            "square": [part.get("exp_avg_sq", zero).cpu().clone() for part, zero in zip(memory, zeros, strict=True)],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """See `Learner`."""
        for parameter, mean, square in zip(self.net.parameters(), state["mean"], state["square"], strict=True):
            self._optimizer.state[parameter] = {
                "step": torch.tensor(float(state["step"])),
                "exp_avg": mean.to(self._device).clone(),
                "exp_avg_sq": square.to(self._device).clone(),
            }


def _to_vector(tensors: list[torch.Tensor]) -> NDArray[np.float32]:
    """One tensor for each parameter of a net as the vector that `network.gradient` works on."""
    first, *rest = [tensor.cpu().numpy() for tensor in tensors]
    return np.concatenate([first.T.ravel(), *(part.ravel() for part in rest)]).astype(np.float32)


def _order(number: int, seed: int) -> torch.Tensor:
    return torch.randperm(number, generator=torch.Generator().manual_seed(seed))


def _finite(loss: float, learning_rate: float) -> float:
    if not math.isfinite(loss):
        raise DivergedError(f"the loss became {loss} (learning rate {learning_rate:g})")
    return loss
