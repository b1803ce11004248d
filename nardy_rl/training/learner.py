"""From games to better weights: Adam on the cross-entropy between network and targets.

Two learners do the same sum. On a CPU it is compiled, with a sparse first layer: several times faster than torch's
dense one on as many cores, and one call without the GIL, so that it runs beside self-play. On a GPU it is torch.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import binary_cross_entropy_with_logits

from nardy_rl.network.features import sight_of
from nardy_rl.network.gradient import WARM_UP, Workspace, adam, add_gradients, new_workspace
from nardy_rl.network.value_net import ValueNet
from nardy_rl.network.vectors import lined_up, padded, padded_layer
from nardy_rl.selfplay.batch import Batch


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


def choose_device(device: str) -> str:
    """Where to learn, cpu or cuda, for auto, cpu or cuda. Raises ValueError if cuda is asked for and absent."""
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device=cuda: torch sees no CUDA device here; use device=cpu or device=auto")
    return "cuda" if device != "cpu" and torch.cuda.is_available() else "cpu"


def new_learner(net: ValueNet, device: str, minibatch: int) -> Learner:
    """The learner for `device`, cpu or cuda."""
    return CompiledLearner(net, minibatch) if device == "cpu" else TorchLearner(net, device, minibatch)


class CompiledLearner:
    """Learns on two cores of the CPU, without the GIL, while self-play uses what is left.

    One half of each minibatch goes to either core, however many there are, so that rounding is the same everywhere; and
    so does one half of the parameters.
    """

    def __init__(self, net: ValueNet, minibatch: int) -> None:
        self.net = net
        self._minibatch = minibatch
        self._shapes = [parameter.shape for parameter in net.parameters()][::2]
        self._widths = np.array([padded(shape[-2]) for shape in self._shapes], np.int64)
        self._inputs = self._shapes[0][1]
        self._parameters = _to_vector([parameter.detach() for parameter in net.parameters()])
        self._mean, self._square = (lined_up(np.zeros_like(self._parameters)) for _ in range(2))
        self._step = 0
        self._works = [new_workspace(self._widths, self._parameters.size) for _ in range(2)]
        self._second = ThreadPoolExecutor(1)

    def learn(self, batch: Batch, learning_rate: float, seed: int) -> float:
        """See `Learner`."""
        order, loss = _order(len(batch.positions), seed).numpy(), 0.0
        for start in range(0, len(order), self._minibatch):
            rows = order[start : start + self._minibatch]
            halves = np.array_split(rows, 2)
            scale = 1 / (len(rows) * batch.targets.shape[1])
            second = self._second.submit(self._add_gradients, batch, halves[1], scale, self._works[1])
            loss += self._add_gradients(batch, halves[0], scale, self._works[0]) + second.result()
            self._step += 1
            middle = len(self._parameters) // 2
            second_half = self._second.submit(self._adam, slice(middle, None), learning_rate)
            self._adam(slice(middle), learning_rate)
            second_half.result()
        if not np.isfinite(self._parameters).all():  # a loss is from before its step: the last step shows here alone
            loss = math.nan
        self._write_back()
        return _finite(loss / batch.targets.size, learning_rate)

    def _add_gradients(self, batch: Batch, rows: NDArray[np.int64], scale: float, work: Workspace) -> float:
        return add_gradients(
            self._parameters, self._widths, self._inputs, batch.positions, batch.pending, batch.targets,
            sight_of(self.net.variant), rows, scale, work,
        )  # fmt: skip

    def _adam(self, part: slice, learning_rate: float) -> None:
        one, other = (work.gradient[part] for work in self._works)
        adam(self._parameters[part], one, other, self._mean[part], self._square[part], self._step, learning_rate)

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
        tensors: list[torch.Tensor] = []
        start, rows = 0, self._inputs
        for (*stages, outputs, inputs), width in zip(self._shapes, self._widths.tolist(), strict=True):
            end = start + math.prod(stages) * (rows + 1) * width
            both = torch.from_numpy(vector[start:end].reshape(*stages, rows + 1, width)).clone()
            tensors += [both[..., :inputs, :outputs].mT.contiguous(), both[..., -1, :outputs].clone()]
            start, rows = end, width
        return tensors


class TorchLearner:
    """Learns with torch, on any of its devices."""

    def __init__(self, net: ValueNet, device: str, minibatch: int) -> None:
        self._device = torch.device(device)
        self.net = net.to(self._device)
        self._optimizer = torch.optim.Adam(self.net.parameters())
        self._minibatch = minibatch
        self._step = 0

    def learn(self, batch: Batch, learning_rate: float, seed: int) -> float:
        """See `Learner`."""
        order = _order(len(batch.positions), seed).to(self._device)
        positions = torch.from_numpy(batch.positions).to(self._device)
        pending = torch.from_numpy(batch.pending).to(self._device)
        targets = torch.from_numpy(batch.targets).to(self._device)
        total = torch.zeros((), device=self._device)
        for rows in order.split(self._minibatch):
            loss = binary_cross_entropy_with_logits(self.net.logits(positions[rows], pending[rows]), targets[rows])
            self._step += 1
            self._optimizer.param_groups[0]["lr"] = learning_rate * min(1.0, self._step / WARM_UP)
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
            total += loss.detach() * len(rows)
        if not all(torch.isfinite(parameter).all() for parameter in self.net.parameters()):
            total.fill_(math.nan)
        return _finite(float(total) / len(order), learning_rate)

    def state(self) -> dict[str, Any]:
        """See `Learner`."""
        memory = [self._optimizer.state.get(parameter, {}) for parameter in self.net.parameters()]
        zeros = [torch.zeros_like(parameter, device="cpu") for parameter in self.net.parameters()]
        return {
            "step": self._step,
            "mean": [part.get("exp_avg", zero).cpu().clone() for part, zero in zip(memory, zeros, strict=True)],
            "square": [part.get("exp_avg_sq", zero).cpu().clone() for part, zero in zip(memory, zeros, strict=True)],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """See `Learner`."""
        self._step = state["step"]
        for parameter, mean, square in zip(self.net.parameters(), state["mean"], state["square"], strict=True):
            self._optimizer.state[parameter] = {
                "step": torch.tensor(float(state["step"])),
                "exp_avg": mean.to(self._device).clone(),
                "exp_avg_sq": square.to(self._device).clone(),
            }


def _to_vector(tensors: list[torch.Tensor]) -> NDArray[np.float32]:
    """One tensor for each parameter of a net as the vector that `network.gradient` works on."""
    arrays = [tensor.cpu().numpy() for tensor in tensors]
    layers = zip(arrays[::2], arrays[1::2], strict=True)
    return lined_up(np.concatenate([padded_layer(*layer, first=index == 0) for index, layer in enumerate(layers)]))


def _order(number: int, seed: int) -> torch.Tensor:
    return torch.randperm(number, generator=torch.Generator().manual_seed(seed))


def _finite(loss: float, learning_rate: float) -> float:
    if not math.isfinite(loss):
        raise DivergedError(f"the loss became {loss} (learning rate {learning_rate:g})")
    return loss
