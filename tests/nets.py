"""A network without training that knows a little: to have fewer pips to go is good, and to leave blots is bad."""

import numpy as np
import torch

from nardy_rl.network.features import BAR_SCALE, PENDING_SCALE, REST_SCALE, SIDE_INPUTS, UNITS
from nardy_rl.network.value_net import ValueNet
from nardy_rl.players.bot import network_bot

PIPS_A_UNIT = {True: 50, False: 20}  # a lead of so many changes the log-odds by 1, with long turns and without


def pip_net(rules, pips_a_blot=2):
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
    net = ValueNet([2], outputs, rules.has_pending)
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
