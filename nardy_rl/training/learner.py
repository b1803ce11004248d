"""One step from games to better weights: Adam on the cross-entropy between network and targets."""

from __future__ import annotations

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from nardy_rl.network.value_net import ValueNet
from nardy_rl.selfplay.batch import Batch


class DivergedError(RuntimeError):
    """The loss is no longer a number."""


class Learner:
    """Trains a `ValueNet` in place."""

    def __init__(self, net: ValueNet, device: str, minibatch: int) -> None:
        self._device = torch.device(device)
        self.net = net.to(self._device)
        self.optimizer = torch.optim.Adam(self.net.parameters(), fused=True)
        self._minibatch = minibatch

    def learn(self, batch: Batch, learning_rate: float, seed: int) -> float:
        """Go once through the batch in an order that `seed` determines; returns the mean loss in nats an output.

        Raises DivergedError if the loss is not finite; the weights are then worthless.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        order = torch.randperm(len(batch.positions), generator=torch.Generator().manual_seed(seed))
        positions, targets = torch.from_numpy(batch.positions), torch.from_numpy(batch.targets)
        total = torch.zeros((), device=self._device)
        for rows in order.split(self._minibatch):
            logits = self.net.logits(positions[rows].to(self._device))
            loss = binary_cross_entropy_with_logits(logits, targets[rows].to(self._device))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.detach() * len(rows)
        mean = float(total) / len(order)
        if not mean < float("inf"):
            raise DivergedError(f"the loss became {mean} (learning rate {learning_rate:g})")
        return mean


def choose_device(device: str) -> str:
    """`auto` as cuda where there is one, else cpu. Raises ValueError if cuda is asked for and absent."""
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError("device=cuda: torch sees no CUDA device here; use device=cpu or device=auto")
    return device
