"""The network that learns: positions to nested outcome probabilities, in torch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from nardy_rl.network.features import BAR_SCALE, INPUTS, OFF_SCALE, PENDING_INPUTS, PENDING_SCALE, REST_SCALE


class ValueNet(nn.Module):
    """Rates positions for the player who acts: he is about to roll or, where the variant has it, has dice to play.

    Outputs are nested probabilities (see `nardy_rl.rules.outcome.equity_weights`): P(win ≥ level) for each level of
    the variant, then P(loss ≥ level) for each level but the lowest. For short nardy: win, win gammon, win backgammon,
    lose gammon, lose backgammon; for long nardy: win, win mars, lose mars.
    """

    def __init__(self, hidden: Sequence[int], outputs: int, has_pending: bool = False) -> None:
        super().__init__()
        if not hidden or min(hidden) < 1:
            raise ValueError(f"hidden is one or more layer widths from 1, not {list(hidden)}")
        self.hidden = tuple(int(width) for width in hidden)
        self.has_pending = has_pending
        widths = (INPUTS + PENDING_INPUTS * has_pending, *self.hidden, outputs)
        layers = [nn.Linear(before, after) for before, after in pairwise(widths)]
        for layer in layers:
            nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
        # No opinion at the start: all plays are equal and the first, which moves from the rear, is chosen. A random
        # opinion could play games of thousands of turns where checkers are hit.
        nn.init.zeros_(layers[-1].weight)
        self.layers = nn.ModuleList(layers)

    def parameters_as_arrays(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Weights float32[out, in] and biases float32[out] of all layers, as `inference.fast_net` takes them."""
        arrays = [parameter.detach().cpu().numpy() for parameter in self.parameters()]
        return arrays[::2], arrays[1::2]

    def logits(self, positions: torch.Tensor, pending: torch.Tensor | None = None) -> torch.Tensor:
        """Log-odds of the probabilities, arguments as for `forward`: float32[N, outputs]."""
        x = encode(positions)
        if self.has_pending:
            codes = torch.zeros(len(positions), dtype=torch.int64) if pending is None else pending
            x = torch.cat([x, encode_pending(codes.to(x.device))], dim=1)
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)

    def forward(self, positions: torch.Tensor, pending: torch.Tensor | None = None) -> torch.Tensor:
        """The nested probabilities of the player who acts, row 0 of positions int8[N, 2, 26]: float32[N, outputs].

        pending: integers [N] as `protocol.pending_steps` gives them, None if everybody is about to roll.
        """
        return torch.sigmoid(self.logits(positions, pending))


def new_net(hidden: Sequence[int], outputs: int, seed: int, has_pending: bool = False) -> ValueNet:
    """An untrained network whose weights depend on its shape and on `seed` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ValueNet(hidden, outputs, has_pending)


def grown(net: ValueNet, hidden: Sequence[int], seed: int) -> ValueNet:
    """A larger network that rates every position as `net` does (after Chen, Goodfellow & Shlens, "Net2Net", 2016).

    hidden: at least as many layers as `net` has, each at least as wide; further ones go before the outputs and are at
    least as wide as the one before them. New units begin with random inputs, which depend on `seed`, and nobody
    listens to them yet; new layers hand on what they get. Raises ValueError for other shapes.
    """
    check_growth(net.hidden, hidden)
    outputs = next(reversed(list(net.parameters()))).numel()
    larger = new_net(hidden, outputs, seed, net.has_pending)
    old, new = (cast(list[nn.Linear], list(each.layers)) for each in (net, larger))
    handed_on: list[nn.Linear | None] = [None] * (len(new) - len(old))
    with torch.no_grad():
        width = old[0].in_features
        for target, source in zip(new, [*old[:-1], *handed_on, old[-1]], strict=True):
            weight = torch.eye(width) if source is None else source.weight.detach()
            target.weight[: len(weight)] = 0.0
            target.weight[: len(weight), :width] = weight
            if source is not None:
                target.bias[: len(weight)] = source.bias
            width = len(weight)
    return larger


def check_growth(old: Sequence[int], new: Sequence[int]) -> None:
    """Raise ValueError unless a network with hidden layers of widths `old` can grow to `new`."""
    wanted = [*old, *new[len(old) - 1 : -1]] if len(new) > len(old) else list(old)
    if len(new) < len(old) or any(width < least for width, least in zip(new, wanted, strict=True)):
        raise ValueError(
            f"a network of hidden layers {list(old)} cannot grow to {list(new)}: no layer may get narrower"
        )


def encode_pending(codes: torch.Tensor) -> torch.Tensor:
    """The inputs for what is pending (see `features`): integers [N] of `pending_steps` to float32[N, 7]."""
    steps = [((codes >> (4 * value)) & 15).to(torch.float32) * PENDING_SCALE for value in range(1, 7)]
    return torch.stack([*steps, (codes & 1).to(torch.float32)], dim=1)


def encode(positions: torch.Tensor) -> torch.Tensor:
    """The inputs of a batch of positions (see `features`): int8[N, 2, 26], row 0 on roll, to float32[N, 196]."""
    counts = positions[:, :, 1:25].to(torch.float32)
    units = [(counts >= least).to(torch.float32) for least in (1, 2, 3)]
    units.append((counts - 3).clamp(min=0) * REST_SCALE)
    points = torch.stack(units, dim=3).flatten(2)
    bar = positions[:, :, 25:26].to(torch.float32) * BAR_SCALE
    off = positions[:, :, 0:1].to(torch.float32) * OFF_SCALE
    return torch.cat([points, bar, off], dim=2).flatten(1)
