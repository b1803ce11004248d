"""Confidence sequences cover at all moments together, and a match that watches one stops where it should."""

import math

import numpy as np
import pytest
from test_evaluation import cells, make_bot, same

from nardy_rl.evaluation import sequential
from nardy_rl.evaluation.match import play_match
from nardy_rl.evaluation.results import sequential_sheet, sequential_table
from nardy_rl.evaluation.sequential import ABOVE, BELOW, OPEN, ConfidenceSequence, SequentialResult, play_until
from nardy_rl.evaluation.statistics import Z_95, match_result, new_games
from nardy_rl.rules.variant import variant

LONG = variant("long")


def test_the_interval_is_that_of_the_formula():
    sequence, values = ConfidenceSequence(1000), np.array([1.0, -2.0, 3.0, 0.0, 1.0])
    for part in (values[:2], values[2:]):
        sequence.add(part)
    rho = (-2 * math.log(0.05) + math.log(1 - 2 * math.log(0.05))) / 1000
    grown = 5 * rho + 1
    reach = values.std(ddof=1) * math.sqrt(2 * grown / (25 * rho) * math.log(math.sqrt(grown) / 0.05))
    assert sequence.interval == pytest.approx((values.mean() - reach, values.mean() + reach))
    assert ConfidenceSequence(1000).interval == (-math.inf, math.inf)


def outcomes(rng, number):
    """Pairs of games as backgammon has them: skewed, with few values."""
    points = rng.choice([-3, -2, -1, 1, 2, 3], (number, 2), p=[0.02, 0.15, 0.38, 0.3, 0.12, 0.03])
    return points.mean(axis=1)


MEAN = -3 * 0.02 - 2 * 0.15 - 0.38 + 0.3 + 2 * 0.12 + 3 * 0.03


def test_the_mean_is_covered_at_all_looks_together_and_not_by_an_interval_for_one():
    rng, streams, looks, step = np.random.default_rng(7), 600, 60, 50
    missed, missed_by_others = 0, 0
    for _ in range(streams):
        sequence, values = ConfidenceSequence(1000), outcomes(rng, looks * step)
        wrong, wrong_others = False, False
        for look in range(looks):
            sequence.add(values[look * step : (look + 1) * step])
            low, high = sequence.interval
            seen = values[: (look + 1) * step]
            reach = Z_95 * seen.std(ddof=1) / math.sqrt(len(seen))
            if look >= 3:
                wrong |= not low <= MEAN <= high
                wrong_others |= abs(seen.mean() - MEAN) > reach
        missed, missed_by_others = missed + wrong, missed_by_others + wrong_others
    assert missed / streams <= 0.05
    assert missed_by_others / streams > 0.15


def test_an_interval_of_many_numbers_is_not_much_wider_than_one_for_a_single_look():
    values = outcomes(np.random.default_rng(1), 1000)
    sequence = ConfidenceSequence(1000)
    sequence.add(values)
    low, high = sequence.interval
    assert 1.2 < (high - low) / (2 * Z_95 * values.std(ddof=1) / math.sqrt(1000)) < 1.7


def test_a_clear_match_stops_early_at_the_same_game_with_any_number_of_workers():
    a, b = make_bot("heuristic", LONG), make_bot("random", LONG)
    one, two = (play_until(LONG, a, b, 20_000, 3, workers=workers) for workers in (1, 2))
    assert one.verdict == ABOVE
    assert one.interval[0] > 0
    assert one.result.games == 400
    assert same(one.result, two.result)
    assert one.interval == two.interval
    assert same(one.result, play_match(LONG, a, b, 400, 3))
    assert play_until(LONG, b, a, 20_000, 3).verdict == BELOW


def test_a_bound_that_is_not_passed_leaves_the_question_open():
    bot, told = make_bot("random", LONG), []
    stopped = play_until(LONG, bot, bot, 1002, 1, progress=told.append)
    assert (stopped.verdict, stopped.result.games, sum(told)) == (OPEN, 1002, 1002)


def test_the_report_has_the_interval_that_holds(monkeypatch):
    monkeypatch.setattr(sequential, "_LEAST", 50)
    stopped = play_until(LONG, make_bot("heuristic", LONG), make_bot("random", LONG), 1000, 1, bound=0.5)
    sheet = sequential_sheet(stopped, LONG, "heuristic", "random")
    assert sheet["interval"] == list(stopped.interval)
    assert (sheet["verdict"], sheet["bound"], sheet["games"], sheet["most_games"]) == (ABOVE, 0.5, 100, 1000)
    assert "points_interval" not in sheet
    assert sequential_table(stopped, LONG, "heuristic", "random").row_count == 10


def test_the_interval_stands_beside_the_figure_that_it_is_of():
    rows = []
    for judged in (False, True):
        result = match_result(LONG, a_few_games(), judged, seconds=1.0, seed=1)
        stopped = SequentialResult(result=result, bound=0.5, interval=(0.5, 1.5), most_games=100)
        rows.append(cells(sequential_table(stopped, LONG, "a", "b")))
    plain, judged = rows
    figure, figure_less_luck = "points per game for A", "the same, luck of the dice taken off"
    assert plain[figure] == "+1.0000, 95 % interval +0.5000 … +1.5000 whenever one stops"
    assert figure_less_luck not in plain
    assert judged[figure] == "+1.0000"
    assert judged[figure_less_luck] == "+0.7500, 95 % interval +0.5000 … +1.5000 whenever one stops"


def a_few_games():
    games = new_games(2)
    games.games[:] = (1, 0, 50, 0)
    games.luck[:] = 0.25
    return games
