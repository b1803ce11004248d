"""The chances of the next roll (see `features`) in torch: sets of points as bool[N, 2, 26], in their owner's order."""

from __future__ import annotations

import torch

from nardy_rl.network.features import CHECKERS_SCALE, PIPS_SCALE, REACH_SCALE, ROLLS_SCALE, Sight


def glance(positions: torch.Tensor, sight: Sight) -> torch.Tensor:
    """The chances of both sides: positions int8[N, 2, 26] to float32[N, 2, 9]."""
    numbers = torch.arange(26, device=positions.device)
    points = (numbers >= 1) & (numbers <= 24)
    there = (positions > 0) & (numbers > 0)
    held = (positions >= sight.least) & points
    reachable = points & ~_across(held, sight.contrary)
    blots = _across(there & ~held, sight.contrary) & points  # none where a single checker holds a point
    bar = positions[:, :, 25:]
    starts = torch.where(bar > 0, there & (numbers == 25), there)
    first = {die: _moved(starts, die) for die in range(1, 7)}
    entered = {die: moves & reachable for die, moves in first.items()}
    rest = there & points  # who moves once the bar is empty
    sums = [torch.zeros_like(bar[..., 0], dtype=torch.int64) for _ in range(3)]
    for larger in range(1, 7):
        for smaller in range(1, larger + 1):
            if smaller < larger:
                found = first[larger] | first[smaller]
                for one, other in ((larger, smaller), (smaller, larger)):
                    after = entered[one] | (rest & (bar == 1) & entered[one].any(2, keepdim=True))
                    found = found | (_moved(after, other) & (bar <= 1))
            else:
                found = first[larger]
                stand = entered[larger] | (rest & (bar > 0) & entered[larger].any(2, keepdim=True))
                for step in range(1, 4):
                    stand = _moved(stand, larger) & (step <= 4 - bar.clamp(min=1))
                    found = found | stand
                    stand = stand & reachable
            hits = found & blots
            told = hits.any(2), (hits * numbers).amax(2), _reach(there, reachable, larger, smaller)
            for index, number in enumerate(told):
                sums[index] += number * (1 if smaller == larger else 2)
    scales = ROLLS_SCALE, PIPS_SCALE, REACH_SCALE
    chances = [number * scale for number, scale in zip(sums, scales, strict=True)]
    return torch.stack([*chances, *(moves.sum(2) * CHECKERS_SCALE for moves in entered.values())], dim=2)


def _moved(mask: torch.Tensor, die: int) -> torch.Tensor:
    """These points, `die` pips on."""
    return torch.nn.functional.pad(mask[..., die:], (0, die))


def _across(mask: torch.Tensor, contrary: int) -> torch.Tensor:
    """The other side's points in a side's own numbering (rules 1); what is no point 1…24 comes to nothing."""
    other = mask.flip(1)
    turned = other[..., 1:25].flip(2) if contrary else other[..., 1:25].roll(12, 2)
    return torch.nn.functional.pad(turned, (1, 1))


def _reach(there: torch.Tensor, reachable: torch.Tensor, larger: int, smaller: int) -> torch.Tensor:
    """How many pips the rearmost checker can go with a roll: int64[N, 2]."""
    numbers = torch.arange(26, device=there.device)
    rear = (there * numbers).amax(2, keepdim=True)
    onward = torch.cat([torch.ones_like(reachable[..., :25]), reachable[..., 1:]], dim=2)  # point p at p + 24

    def is_open(pips: int) -> torch.Tensor:
        return onward.gather(2, rear + 24 - pips)[..., 0]

    if smaller == larger:
        free, pips = torch.ones_like(rear[..., 0], dtype=torch.bool), torch.zeros_like(rear[..., 0])
        for step in range(1, 5):
            free = free & is_open(step * larger)
            pips = pips + free * larger
        return pips
    whole = (is_open(larger) | is_open(smaller)) & is_open(larger + smaller)
    single = torch.where(is_open(larger), larger, torch.where(is_open(smaller), smaller, 0))
    return torch.where(whole, larger + smaller, single)
