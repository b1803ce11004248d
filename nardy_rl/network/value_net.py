"""The network that learns: positions to nested outcome probabilities, in torch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from nardy_rl.network.features import (
    BAR_SCALE,
    ENTRY,
    INPUTS,
    MIDDLE,
    OFF_SCALE,
    PENDING_INPUTS,
    PENDING_SCALE,
    QUARTERS,
    REST_SCALE,
    SET_INPUT,
    SETS,
    SIDE_INPUTS,
    STAGES,
    Sight,
    sight_of,
)
from nardy_rl.network.glance import glance
from nardy_rl.rules.variant import Variant


class StagedLinear(nn.Module):
    """A layer with weights float32[stages, out, in] and biases float32[stages, out] for each stage of the game."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        weight = torch.empty(after, before)
        nn.init.kaiming_normal_(weight, nonlinearity="relu")
        self.weight = nn.Parameter(weight.repeat(STAGES, 1, 1))  # all stages begin alike
        self.bias = nn.Parameter(torch.zeros(STAGES, after))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """float32[stages or 1, N, in] to float32[stages, N, out]: what each stage makes of each row."""
        return torch.matmul(x, self.weight.mT) + self.bias[:, None]


class ValueNet(nn.Module):
    """Rates positions for the player who acts: he is about to roll or, where the variant has it, has dice to play.

    Outputs are nested probabilities (see `nardy_rl.rules.outcome.equity_weights`): P(win ≥ level) for each level of
    the variant, then P(loss ≥ level) for each level but the lowest. For short nardy: win, win gammon, win backgammon,
    lose gammon, lose backgammon; for long nardy: win, win mars, lose mars.
    """

    def __init__(self, hidden: Sequence[int], variant: Variant) -> None:
        super().__init__()
        if not hidden or min(hidden) < 1:
            raise ValueError(f"hidden is one or more layer widths from 1, not {list(hidden)}")
        self.hidden = tuple(int(width) for width in hidden)
        self.variant = variant
        first = nn.Linear(INPUTS + PENDING_INPUTS * variant.has_pending, self.hidden[0])
        nn.init.normal_(first.weight, std=(2 / (2 * SET_INPUT)) ** 0.5)
        nn.init.zeros_(first.bias)
        with torch.no_grad():  # sets and chances are learnt from nothing, as details of what the points say
            for side in range(2):
                first.weight[:, side * SIDE_INPUTS + SET_INPUT : (side + 1) * SIDE_INPUTS] = 0.0
        others = [StagedLinear(before, after) for before, after in pairwise((*self.hidden, variant.outputs))]
        # No opinion at the start: all plays are equal and the first, which moves from the rear, is chosen. A random
        # opinion could play games of thousands of turns where checkers are hit.
        nn.init.zeros_(others[-1].weight)
        self.layers = nn.ModuleList([first, *others])

    def parameters_as_arrays(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Weights and biases of all layers, as `inference.fast_net` takes them."""
        arrays = [parameter.detach().cpu().numpy() for parameter in self.parameters()]
        return arrays[::2], arrays[1::2]

    def logits(self, positions: torch.Tensor, pending: torch.Tensor | None = None) -> torch.Tensor:
        """Log-odds of the probabilities, arguments as for `forward`: float32[N, outputs]."""
        sight = sight_of(self.variant)
        x = encode(positions, sight)
        if self.variant.has_pending:
            codes = torch.zeros(len(positions), dtype=torch.int64) if pending is None else pending
            x = torch.cat([x, encode_pending(codes.to(x.device))], dim=1)
        x = self.layers[0](x)
        for layer in self.layers[1:]:
            x = layer(torch.relu(x))
        return x[stages(positions, sight), torch.arange(len(positions), device=x.device)]

    def forward(self, positions: torch.Tensor, pending: torch.Tensor | None = None) -> torch.Tensor:
        """The nested probabilities of the player who acts, row 0 of positions int8[N, 2, 26]: float32[N, outputs].

        pending: integers [N] as `protocol.pending_steps` gives them, None if everybody is about to roll.
        """
        return torch.sigmoid(self.logits(positions, pending))


def new_net(hidden: Sequence[int], variant: Variant, seed: int) -> ValueNet:
    """An untrained network whose weights depend on its shape and on `seed` alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ValueNet(hidden, variant)


def grown(net: ValueNet, hidden: Sequence[int], seed: int) -> ValueNet:
    """A larger network that rates every position as `net` does (after Chen, Goodfellow & Shlens, "Net2Net", 2016).

    hidden: at least as many layers as `net` has, each at least as wide; further ones go before the outputs and are at
    least as wide as the one before them. New units begin with random inputs, which depend on `seed`, and nobody
    listens to them yet; new layers hand on what they get. Raises ValueError for other shapes.
    """
    check_growth(net.hidden, hidden)
    larger = new_net(hidden, net.variant, seed)
    old, new = (list(each.parameters()) for each in (net, larger))
    handed_on = [None] * (len(new) - len(old))
    sources = [*old[:-2], *handed_on, *old[-2:]]
    with torch.no_grad():
        width = old[0].shape[-1]
        for weight, bias, was, was_bias in zip(new[::2], new[1::2], sources[::2], sources[1::2], strict=True):
            kept = torch.eye(width) if was is None else was
            units = kept.shape[-2]
            weight[..., :units, :] = 0.0
            weight[..., :units, :width] = kept
            if was_bias is not None:
                bias[..., :units] = was_bias
            width = units
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


def encode(positions: torch.Tensor, sight: Sight) -> torch.Tensor:
    """The inputs of a batch of positions (see `features`): int8[N, 2, 26], row 0 on roll, to float32[N, 718]."""
    counts = positions[:, :, 1:25].to(torch.float32)
    units = [(counts >= least).to(torch.float32) for least in (1, 2, 3)]
    units.append((counts - 3).clamp(min=0) * REST_SCALE)
    points = torch.stack(units, dim=3).flatten(2)
    bar = positions[:, :, 25:26].to(torch.float32) * BAR_SCALE
    off = positions[:, :, 0:1].to(torch.float32) * OFF_SCALE
    held = (positions[:, :, 1:25] >= sight.least).to(torch.int64).unflatten(2, (QUARTERS, 6))
    numbers = (held << torch.arange(6, device=held.device)).sum(dim=3)
    sets = nn.functional.one_hot(numbers, SETS)[..., 1:].to(torch.float32).flatten(2)
    return torch.cat([points, bar, off, sets, glance(positions, sight)], dim=2).flatten(1)


def stages(positions: torch.Tensor, sight: Sight) -> torch.Tensor:
    """The stage of each position (see `features`): int8[N, 2, 26], row 0 on roll, to int64[N]."""
    places = torch.arange(26, device=positions.device)
    rear = torch.where(positions > 0, places, 0).amax(dim=2)
    passed = rear.sum(dim=1) <= 25 if sight.contrary else rear.amax(dim=1) <= MIDDLE
    entering = (rear > ENTRY).to(torch.int64)
    return torch.where(passed, 0, 1 + entering[:, 0] + 2 * entering[:, 1])
