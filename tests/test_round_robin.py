"""Everybody against everybody, and the ratings drawn from it."""

import json
from itertools import combinations

import numpy as np
import pytest
from nets import pip_bot
from test_evaluation import make_bot

from nardy_rl.evaluation.ratings import elo_ratings, point_ratings
from nardy_rl.evaluation.round_robin import play_round_robin
from nardy_rl.evaluation.tables import round_robin_table
from nardy_rl.rules.variant import variant

LONG = variant("long")


def test_known_strengths_in_points_are_recovered_with_honest_errors():
    rng, strengths = np.random.default_rng(3), np.array([0.5, 0.1, -0.2, -0.4])
    errors = rng.uniform(0.02, 0.1, (4, 4))
    errors = (errors + errors.T) / 2
    apart, misfits = [], []
    for _ in range(500):
        noise = np.triu(errors * rng.standard_normal((4, 4)), 1)
        points = strengths[:, None] - strengths + noise - noise.T
        ratings, misfit = point_ratings(points, errors)
        assert ratings.values.sum() == pytest.approx(0, abs=1e-9)
        apart.append((ratings.values - strengths) / ratings.errors)
        misfits.append(misfit)
    assert np.mean(apart, axis=0) == pytest.approx(np.zeros(4), abs=0.2)
    assert np.std(apart, axis=0) == pytest.approx(np.ones(4), abs=0.1)
    assert np.mean(misfits) == pytest.approx(3, abs=0.4)  # degrees of freedom: six pairings, three differences


def test_known_elo_is_recovered_with_honest_errors():
    rng, strengths = np.random.default_rng(4), np.array([120.0, 20.0, -50.0, -90.0])
    chances = 1 / (1 + 10 ** ((strengths - strengths[:, None]) / 400))
    apart = []
    for _ in range(300):
        won = np.zeros((4, 4))
        for one, other in combinations(range(4), 2):
            won[one, other] = rng.binomial(1000, chances[one, other])
            won[other, one] = 1000 - won[one, other]
        ratings = elo_ratings(won)
        assert ratings.values.sum() == pytest.approx(0, abs=1e-6)
        apart.append((ratings.values - strengths) / ratings.errors)
    assert np.mean(apart, axis=0) == pytest.approx(np.zeros(4), abs=0.25)
    assert np.std(apart, axis=0) == pytest.approx(np.ones(4), abs=0.15)


def test_two_players_have_the_elo_of_their_games():
    won = np.array([[0, 759.5], [239.5, 0]])
    assert elo_ratings(won).values == pytest.approx([100.3, -100.3], abs=0.5)


def test_who_wins_every_game_is_not_infinitely_strong():
    won = np.array([[0.0, 100, 100], [0, 0, 60], [0, 40, 0]])
    values = elo_ratings(won).values
    assert np.isfinite(values).all()
    assert values[0] > 400


def test_everybody_plays_everybody_and_what_one_wins_another_loses():
    players = {"random": make_bot("random", LONG), "heuristic": make_bot("heuristic", LONG), "net": pip_bot(LONG)}
    told = []
    played = play_round_robin(LONG, players, 200, 1, progress=told.append, luck=True)
    assert sum(told) == 600
    assert set(played.matches) == {(0, 1), (0, 2), (1, 2)}
    assert (played.points == -played.points.T).all()
    assert played.ratings.values.sum() == pytest.approx(0, abs=1e-9)
    assert played.elo.values.sum() == pytest.approx(0, abs=1e-6)
    assert played.order()[2] == 0
    assert played.degrees == 1
    # Where a network plays it judges the luck if that is asked for; two others have no judge.
    assert judged(played) == {(0, 1): False, (0, 2): True, (1, 2): True}
    assert played.points[0, 2] == played.matches[0, 2].adjusted_points_per_game
    sheet = json.loads(json.dumps(played.to_dict()))
    assert [row["bot"] for row in sheet["standings"]] == [list(players)[player] for player in played.order()]
    assert len(sheet["matches"]) == 3
    assert round_robin_table(played, LONG, 200, 1).row_count == 3


def test_luck_is_judged_in_the_pairings_where_it_pays():
    players = {"random": make_bot("random", LONG), "net": pip_bot(LONG), "twin": pip_bot(LONG)}
    assert judged(play_round_robin(LONG, players, 4, 1)) == {(0, 1): False, (0, 2): False, (1, 2): True}


def judged(played):
    return {pair: result.adjusted_points_per_game is not None for pair, result in played.matches.items()}


def test_two_of_a_kind_are_rated_alike():
    bot = make_bot("heuristic", LONG)
    played = play_round_robin(LONG, {"one": bot, "two": bot, "other": make_bot("random", LONG)}, 100, 1)
    assert played.points[0, 1] == 0
    assert played.ratings.values[0] == pytest.approx(played.ratings.values[1], abs=1e-6)


@pytest.mark.parametrize(("names", "said"), [(["a"], "needs two bots or more"), ([], "needs two bots or more")])
def test_nobody_plays_alone(names, said):
    with pytest.raises(ValueError, match=said):
        play_round_robin(LONG, {name: make_bot("random", LONG) for name in names}, 100, 1)
