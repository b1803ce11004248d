"""Targets over all 21 rolls: what the one roll that was thrown brought is luck, and gives way to the mean."""

import numpy as np
import pytest
import torch

from nardy_rl.network.inference import change_sides
from nardy_rl.network.value_net import new_net
from nardy_rl.players.bot import network_bot
from nardy_rl.rules.outcome import equity_weights, outcome
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.variant import VARIANTS, variant
from nardy_rl.selfplay.batch import DECISIONS, SelfPlay

ROLLS = [(one, other) for one in range(1, 7) for other in range(one, 7)]


def net_of(rules, seed=4):
    """A net with opinions."""
    net = new_net([8], rules, seed)
    with torch.no_grad():
        net.layers[-1].weight.normal_(std=0.4, generator=torch.Generator().manual_seed(seed))
    return net


def selfplay(rules, games, trace, all_rolls, seed=3):
    return SelfPlay(rules, seed, 1).play(network_bot(net_of(rules), rules), 0, games, trace, all_rolls)


def turned(probabilities, rules):
    changed = np.empty(len(probabilities), np.float32)
    change_sides(np.array(probabilities, np.float32), len(rules.levels), changed)
    return changed


def best_result(rules, net, board, dice, first_turn):
    """What the player gets whose best play this net chooses for a roll, as the net rates it: nested probabilities."""
    weights, plays = equity_weights(rules), legal_plays(rules, Position(board), dice, first_turn)
    ratings = []
    for play in plays:
        if play.after.array[0, OFF] == rules.checkers:
            points = outcome(rules, play.after)[1]
            won = [float(points >= level) for level in rules.levels]
            ratings.append(np.array(won + [0.0] * (len(won) - 1), np.float32))
        else:
            with torch.no_grad():
                rated = net(torch.from_numpy(play.after.swapped().array[None].copy())).numpy()[0]
            ratings.append(turned(rated, rules))
    return max(ratings, key=lambda rating: rating @ weights[:-1])


@pytest.mark.parametrize("name", ["long", "short"])
def test_without_lambda_a_target_is_the_mean_over_the_rolls_each_played_best(name):
    rules = variant(name, bearoff="exact_only")  # no tables: the net rates everything
    net, batch = net_of(rules), selfplay(rules, 1, 0.0, all_rolls=True)
    length = batch.games[0, DECISIONS]
    for turn in (0, 1, 2, 7, length // 2, length - 2, length - 1):
        first_turn = ("starter", "second", None)[min(turn, 2)]
        results = [best_result(rules, net, batch.positions[turn], dice, first_turn) for dice in ROLLS]
        chances = [1 if one == other else 2 for one, other in ROLLS]
        mean = np.average(results, axis=0, weights=chances)
        np.testing.assert_allclose(batch.targets[turn], mean, atol=2e-5)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_luck_that_is_taken_out_is_nothing_in_the_mean(name):
    """Its sum over thousands of rolls stays within 4 standard errors of zero, and it is there. An opening roll that is
    no double is not one of 21."""
    rules = variant(name)
    weights = equity_weights(rules)[:-1]
    plain, mean = (selfplay(rules, 150, 0.0, all_rolls) for all_rolls in (False, True))
    np.testing.assert_array_equal(plain.positions, mean.positions)
    later = np.ones(len(plain.positions), bool)
    later[np.cumsum(plain.games[:, DECISIONS])[:-1]] = later[0] = False
    luck = ((plain.targets - mean.targets) @ weights)[later]
    assert (luck[plain.pending[later] > 0] == 0).all()
    assert np.sqrt((luck**2).mean()) > 0.01
    assert abs(luck.sum()) < 4 * np.sqrt((luck**2).sum())


@pytest.mark.parametrize("name", ["long", "short"])
def test_lambda_adds_what_the_later_means_tell_beyond_the_ratings(name):
    """target[t] is mean[t] + λ (target[t + 1] - rating[t + 1]), seen from the side of turn t, and a probability."""
    rules, trace = variant(name, bearoff="exact_only"), 0.6
    plain, means, batch = (selfplay(rules, 3, *how) for how in ((0.0, False), (0.0, True), (trace, True)))
    end = 0
    for length in batch.games[:, DECISIONS]:
        start, end = end, end + length
        np.testing.assert_array_equal(batch.targets[end - 1], means.targets[end - 1])
        for row in range(start, end - 1):
            later = turned(batch.targets[row + 1], rules) - plain.targets[row]
            wanted = np.clip(means.targets[row] + np.float32(trace) * later, 0, 1)
            np.testing.assert_allclose(batch.targets[row], wanted, atol=1e-6)
