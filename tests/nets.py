"""Networks without training: with opinions of everything, and one that knows a little of the game."""

import numpy as np
import torch

from nardy_rl.network.features import BAR_SCALE, PENDING_SCALE, REST_SCALE, SIDE_INPUTS, UNITS
from nardy_rl.network.value_net import ValueNet, new_net
from nardy_rl.players.bot import network_bot

PIPS_A_UNIT = {True: 50, False: 20}  # a lead of so many changes the log-odds by 1, with long turns and without


def opinionated_net(rules, hidden=(8,), seed=3):
    """A net whose every weight and bias matters: a fresh one has no biases and nothing to say of sets and stages."""
    net, generator = new_net(hidden, rules, seed), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        net.layers[0].weight.normal_(std=0.15, generator=generator)
        for layer in net.layers:
            layer.bias.normal_(std=0.3, generator=generator)
        for layer in net.layers[1:]:
            layer.weight += 0.1 * torch.randn(layer.weight.shape, generator=generator)
        net.layers[-1].weight.normal_(std=0.5, generator=generator)
    return net


def pip_net(rules, pips_a_blot=2):
    """A net to which it is good to have fewer pips to go, and bad to leave blots."""
    scale = PIPS_A_UNIT[rules.has_pending]
    pips = np.zeros(SIDE_INPUTS, np.float32)
    for point in range(1, 25):
        units = pips[(point - 1) * UNITS : point * UNITS]
        units[:3], units[3] = point, point / REST_SCALE
        if rules.hit:
            units[:2] += pips_a_blot, -pips_a_blot
    pips[24 * UNITS] = 25 / BAR_SCALE
    levels, outputs = len(rules.levels), rules.outputs
    sides = np.zeros((outputs, 2), np.float32)
    bias = np.zeros(outputs, np.float32)
    for level in range(levels):
        sides[level] = -1, 1
        bias[level] = -1.5 * level
    sides[levels:] = -sides[1:levels]
    bias[levels:] = bias[1:levels]
    net = ValueNet([2], rules)
    with torch.no_grad():
        net.layers[0].weight.zero_()
        net.layers[0].weight[0, :SIDE_INPUTS] = torch.tensor(pips / scale)
        net.layers[0].weight[1, SIDE_INPUTS : 2 * SIDE_INPUTS] = torch.tensor(pips / scale)
        for value in range(1, 7) if rules.has_pending else ():
            net.layers[0].weight[0, 2 * SIDE_INPUTS + value - 1] = -value / PENDING_SCALE / scale
        net.layers[1].weight.copy_(torch.tensor(sides))
        net.layers[1].bias.copy_(torch.tensor(bias))
    return net


def pip_bot(rules, plies=0, pips_a_blot=2):
    return network_bot(pip_net(rules, pips_a_blot), rules, plies)
