"""Targets over all 21 rolls: what the one roll that was thrown brought is luck, and gives way to the mean."""

import numpy as np
import pytest
import torch
from nets import opinionated_net
from reference_search import ROLLS, Slow, weight

from nardy_rl.players.bot import network_bot
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import VARIANTS, variant
from nardy_rl.selfplay.batch import DECISIONS, SelfPlay


def selfplay(rules, games, trace, all_rolls):
    return SelfPlay(rules, 3, 1).play(network_bot(opinionated_net(rules), rules), 0, games, trace, all_rolls)


def best_result(slow, board, dice, first_turn):
    """Nested probabilities of a player who answers a roll with the play that his net likes best."""
    results = []
    for play in legal_plays(slow.rules, Position(board), dice, first_turn):
        if slow.won(play):
            rated, _ = slow.lost(play.after)
        else:
            with torch.no_grad():
                rated = slow.net(torch.from_numpy(play.after.swapped().array[None].copy())).numpy()[0]
        results.append(slow.turned(rated))
    return max(results, key=slow.equity)


@pytest.mark.parametrize("name", ["long", "short"])
def test_without_lambda_a_target_is_the_mean_over_the_rolls_each_played_best(name):
    rules = variant(name, bearoff="exact_only")  # no tables: the net rates everything
    slow, batch = Slow(rules, opinionated_net(rules)), selfplay(rules, 1, 0.0, all_rolls=True)
    length = batch.games[0, DECISIONS]
    for turn in (0, 1, 2, 7, length // 2, length - 2, length - 1):
        first_turn = ("starter", "second", None)[min(turn, 2)]
        mean = sum(weight(dice) * best_result(slow, batch.positions[turn], dice, first_turn) for dice in ROLLS)
        np.testing.assert_allclose(batch.targets[turn], mean, atol=2e-5)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_luck_that_is_taken_out_is_nothing_in_the_mean(name):
    """Its sum over thousands of rolls stays within 4 standard errors of zero, and it is there. An opening roll that is
    no double is not one of 21."""
    rules = variant(name)
    equity = Slow(rules, None).equity
    plain, mean = (selfplay(rules, 150, 0.0, all_rolls) for all_rolls in (False, True))
    np.testing.assert_array_equal(plain.positions, mean.positions)
    later = np.ones(len(plain.positions), bool)
    later[np.cumsum(plain.games[:, DECISIONS])[:-1]] = later[0] = False
    luck = (equity(plain.targets) - equity(mean.targets))[later]
    np.testing.assert_array_equal(plain.targets[plain.pending > 0], mean.targets[mean.pending > 0])
    assert np.sqrt((luck**2).mean()) > 0.01
    assert abs(luck.sum()) < 4 * np.sqrt((luck**2).sum())


@pytest.mark.parametrize("name", ["long", "short"])
def test_lambda_adds_what_the_later_means_tell_beyond_the_ratings(name):
    """target[t] is mean[t] + λ (target[t + 1] - rating[t + 1]), seen from the side of turn t, and a probability."""
    rules, trace = variant(name, bearoff="exact_only"), 0.6
    turned = Slow(rules, None).turned
    plain, means, batch = (selfplay(rules, 3, *how) for how in ((0.0, False), (0.0, True), (trace, True)))
    end = 0
    for length in batch.games[:, DECISIONS]:
        start, end = end, end + length
        np.testing.assert_array_equal(batch.targets[end - 1], means.targets[end - 1])
        for row in range(start, end - 1):
            later = turned(batch.targets[row + 1]) - plain.targets[row]
            wanted = np.clip(means.targets[row] + trace * later, 0, 1)
            np.testing.assert_allclose(batch.targets[row], wanted, atol=1e-6)
