"""The luck that is taken off a match: nothing on average, and most of the noise."""

import math

import numpy as np
import pytest
from nets import pip_bot
from test_evaluation import make_bot

from nardy_rl.evaluation.match import compiled_pairs
from nardy_rl.evaluation.statistics import POINTS_A
from nardy_rl.rules.variant import variant

GAMES = 200


@pytest.mark.parametrize(
    ("rules", "rival"),
    [(variant("short"), "net"), (variant("gulbar", checkers=6, start="24:6"), "heuristic")],
    ids=lambda value: getattr(value, "name", value),
)
def test_results_with_and_without_luck_agree(rules, rival, matches):
    """Over independent matches luck per game, in standard errors, is around 0 with a variance around 1."""
    bot = pip_bot(rules)
    other = pip_bot(rules, pips_a_blot=10) if rival == "net" else make_bot(rival, rules)
    apart, shares = [], []
    for seed in range(matches):
        played = compiled_pairs(rules, bot, other, bot.rater, seed, False, range(GAMES // 2))
        luck = played.luck.mean(axis=1)
        apart.append(luck.mean() / (luck.std(ddof=1) / math.sqrt(len(luck))))
        points = played.games[:, :, POINTS_A]
        shares.append((points - played.luck).mean(axis=1).std() / points.mean(axis=1).std())
    mean, spread = float(np.mean(apart)), float(np.sum(np.square(apart)))
    print(f"{rules.name}: mean {mean:+.3f} of {matches}, chi-squared {spread:.1f}, error {np.mean(shares):.2f} times")
    assert abs(mean) < 4 / math.sqrt(matches)
    assert abs(spread - matches) < 4 * math.sqrt(2 * matches)
