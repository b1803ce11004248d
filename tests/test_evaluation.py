"""Matches: fair to both seats, the same however they are spread out, and counted right."""

import dataclasses
import json
import math
import os
import time

import numpy as np
import pytest
import torch

from nardy_rl.evaluation import match, outside
from nardy_rl.evaluation.match import compiled_pairs, judge_of, play_match
from nardy_rl.evaluation.outside import outside_pairs
from nardy_rl.evaluation.results import match_table, result_sheet, write_json
from nardy_rl.evaluation.statistics import Games, match_result, new_games, wilson_interval
from nardy_rl.network.fast_net import new_scratch
from nardy_rl.network.value_net import ValueNet
from nardy_rl.players.bot import HEURISTIC, RANDOM, choose, network_bot, simple_bot
from nardy_rl.rules.dice import roll, stream
from nardy_rl.rules.protocol import begin
from nardy_rl.rules.variant import variant
from nardy_rl.search.lookahead import new_room


def make_bot(kind, rules):
    if kind == "net":
        torch.manual_seed(3)
        return network_bot(ValueNet([16], rules), rules)
    return simple_bot({"random": RANDOM, "heuristic": HEURISTIC}[kind], rules)


class OutsideHeuristic:
    """The compiled heuristic, asked from Python."""

    def __init__(self, rules):
        self.rules, self.bot = rules, simple_bot(HEURISTIC, rules)
        self.scratch, self.room = new_scratch(self.bot.rater.net), new_room(self.bot.rater.net)

    def choose(self, board, plays, size, dice):
        return choose(
            self.bot, board, begin(0), begin(1), plays, size, 0, 0, self.rules.rules, self.scratch, self.room, 0, 0
        )


class SlowToStart(OutsideHeuristic):
    """Like a player who has to be compiled: in each process it keeps its first opponent waiting."""

    started: set[int] = set()  # noqa: RUF012
    seconds = 3.0

    def choose(self, *asked):
        if os.getpid() not in self.started:
            self.started.add(os.getpid())
            time.sleep(self.seconds)
        return super().choose(*asked)


def same(one, other):
    return dataclasses.replace(one, games_per_second=0.0) == dataclasses.replace(other, games_per_second=0.0)


@pytest.mark.parametrize("name", ["short", "long"])
@pytest.mark.parametrize("kind", ["random", "heuristic", "net"])
def test_a_bot_against_itself_scores_exactly_nothing(name, kind):
    rules = variant(name)
    bot = make_bot(kind, rules)
    result = play_match(rules, bot, bot, 200, seed=1)
    assert (result.points_per_game, result.standard_error, result.win_rate) == (0.0, 0.0, 0.5)
    assert sum(result.classes_a.values()) == sum(result.classes_b.values()) == 100
    assert result.classes_a == result.classes_b


@pytest.mark.parametrize("name", ["short", "long"])
def test_changing_names_changes_the_sign(name):
    rules = variant(name)
    a, b = make_bot("heuristic", rules), make_bot("net", rules)
    one, other = play_match(rules, a, b, 400, seed=5), play_match(rules, b, a, 400, seed=5)
    assert one.points_per_game == -other.points_per_game
    assert one.standard_error == pytest.approx(other.standard_error)
    assert one.classes_a == other.classes_b
    assert one.first_mover_win_rate == other.first_mover_win_rate


@pytest.mark.parametrize("name", ["short", "long"])
def test_the_heuristic_leaves_random_far_behind(name):
    rules = variant(name)
    result = play_match(rules, make_bot("heuristic", rules), make_bot("random", rules), 1000, seed=2)
    assert result.win_rate > 0.9
    assert result.points_per_game - 3.1 * result.standard_error > 1.0


def test_the_number_of_threads_does_not_matter():
    rules = variant("short")
    a, b = make_bot("heuristic", rules), make_bot("random", rules)
    one, two, five = (play_match(rules, a, b, 300, seed=9, workers=workers) for workers in (1, 2, 5))
    assert same(one, two)
    assert same(one, five)


def test_the_number_of_processes_does_not_matter():
    rules = variant("long")
    a, b = OutsideHeuristic(rules), make_bot("random", rules)
    one, two = (play_match(rules, a, b, 40, seed=9, workers=workers) for workers in (1, 2))
    assert same(one, two)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_passes_before_a_player_is_ready_does_not_count_as_playing(workers):
    rules = variant("long")
    result = play_match(rules, SlowToStart(rules), make_bot("random", rules), 8, seed=9, workers=workers)
    assert 8 / result.games_per_second < SlowToStart.seconds


@pytest.mark.parametrize("name", ["short", "long"])
def test_an_outside_player_plays_the_games_that_its_compiled_twin_plays(name):
    rules = variant(name)
    compiled, rival = make_bot("heuristic", rules), make_bot("random", rules)
    judge = make_bot("net", rules).rater
    asked = outside_pairs(rules, OutsideHeuristic(rules), rival, judge, 4, False, range(10, 30))
    assert_same_games(asked, compiled_pairs(rules, compiled, rival, judge, 4, False, range(10, 30)))
    assert (asked.luck != 0).all()
    asked = outside_pairs(rules, rival, compiled, None, 4, False, range(5))
    assert_same_games(asked, compiled_pairs(rules, rival, compiled, None, 4, False, range(5)))


@pytest.mark.parametrize("name", ["short", "mad_gulbar_a"])
def test_games_are_kept_alike_by_compiled_and_by_outside_players(name):
    rules = variant(name)
    bot, rival = make_bot("net", rules), make_bot("random", rules)
    for judge in (None, bot.rater):
        alone = compiled_pairs(rules, bot, rival, judge, 4, False, range(10, 20))
        kept = compiled_pairs(rules, bot, rival, judge, 4, True, range(10, 20))
        asked = outside_pairs(rules, bot, rival, judge, 4, True, range(10, 20))
        assert_same_games(alone, kept)
        assert_same_games(asked, kept)
        assert alone.played == []
        assert kept.played == asked.played
        points = [game.points if game.winner == 0 else -game.points for game in kept.played]
        assert points == kept.games[:, :, 0].ravel().tolist()


def test_a_long_pair_of_games_is_kept_whole(monkeypatch):
    rules = variant("short")
    a, b = make_bot("heuristic", rules), make_bot("random", rules)
    expected = compiled_pairs(rules, a, b, None, 4, True, range(6)).played
    monkeypatch.setattr(match, "_DECISIONS_A_PAIR", 50)
    assert compiled_pairs(rules, a, b, None, 4, True, range(6)).played == expected


def assert_same_games(one, other):
    np.testing.assert_array_equal(one.games, other.games)
    np.testing.assert_allclose(one.luck, other.luck, atol=1e-6)


def test_each_pair_has_its_own_dice():
    first = [[roll(stream(0, pair), turn) for turn in range(10)] for pair in range(4)]
    again = [[roll(stream(0, pair), turn) for turn in range(10)] for pair in range(4)]
    others = [[roll(stream(1, pair), turn) for turn in range(10)] for pair in range(4)]
    assert first == again
    assert len({tuple(rolls) for rolls in first + others}) == 8


def test_a_seed_decides_the_games():
    rules = variant("short")
    a, b = make_bot("heuristic", rules), make_bot("random", rules)
    one, again, other = (compiled_pairs(rules, a, b, None, seed, False, range(50)).games for seed in (0, 0, 1))
    assert (one == again).all()
    assert (one != other).any()
    assert len(np.unique(one[:, 0], axis=0)) > 40


def test_progress_adds_up_to_all_games():
    rules = variant("long")
    bot = make_bot("random", rules)
    told = []
    play_match(rules, bot, bot, 102, seed=1, workers=2, progress=told.append)
    assert sum(told) == 102
    assert len(told) > 1


def test_statistics_of_a_match_counted_by_hand():
    # Points for A, class, turns, passes; A began the first game of each pair.
    games = np.array(
        [
            [(1, 0, 50, 2), (-2, 1, 40, 0)],
            [(3, 3, 60, 4), (1, 0, 50, 0)],
        ],
        np.int32,
    )
    luck = np.array([[0.5, -1.0], [2.0, 0.5]])
    result = match_result(variant("short"), Games(games, luck, []), judged=True, seconds=2.0, seed=7)
    # Pairs average -1/2 and 2: mean 3/4, sample deviation 2.5/√2, error 2.5/2.
    assert result.points_per_game == 0.75
    assert result.standard_error == pytest.approx(1.25)
    assert result.points_interval == pytest.approx((0.75 - 1.959964 * 1.25, 0.75 + 1.959964 * 1.25))
    # Without luck 0.5, -1, 1, 0.5: pairs average -1/4 and 3/4.
    assert result.adjusted_points_per_game == 0.25
    assert result.adjusted_standard_error == pytest.approx(0.5)
    assert result.lower_bound == pytest.approx(0.25 - 1.644854 * 0.5)
    assert result.win_rate == 0.75
    assert result.classes_a == {"single": 2, "gammon": 0, "backgammon": 1}
    assert result.classes_b == {"single": 0, "gammon": 1, "backgammon": 0}
    assert (result.mean_turns, result.pass_rate) == (50.0, 0.03)
    assert result.first_mover_win_rate == 0.75
    assert (result.games, result.games_per_second, result.seed) == (4, 2.0, 7)


def test_each_interval_stands_beside_its_own_figure():
    rules, games = variant("short"), new_games(2)
    games.games[:] = [[(1, 0, 50, 2), (-2, 1, 40, 0)], [(3, 3, 60, 4), (1, 0, 50, 0)]]
    games.luck[:] = [[0.5, -1.0], [2.0, 0.5]]
    judged, plain = (match_result(rules, games, judged, seconds=2.0, seed=7) for judged in (True, False))
    figure, figure_less_luck = "points per game for A ± standard error", "the same, luck of the dice taken off"
    text = "+0.7500 ± 1.2500, 95 % interval -1.7000 … +3.2000"
    rows = cells(match_table(judged, rules, "a", "b"))
    assert rows[figure] == text
    assert rows[figure_less_luck] == "+0.2500 ± 0.5000, 95 % interval -0.7300 … +1.2300"
    rows = cells(match_table(plain, rules, "a", "b"))
    assert rows[figure] == text
    assert figure_less_luck not in rows


def cells(table):
    names, values = (list(column.cells) for column in table.columns)
    assert len(set(names)) == len(names)
    return dict(zip(names, values, strict=True))


def test_wilsons_interval_is_honest_where_all_games_were_won():
    low, high = wilson_interval(100, 100)
    assert high == 1.0
    assert low == pytest.approx(1 / (1 + 1.959964**2 / 100), abs=1e-6)
    assert wilson_interval(50, 100) == pytest.approx((0.40383, 0.59617), abs=1e-5)


def test_luck_is_judged_where_that_pays_or_is_asked_for():
    rules = variant("long")
    net, other = (make_bot("net", rules) for _ in range(2))
    outside, random, heuristic = OutsideHeuristic(rules), make_bot("random", rules), make_bot("heuristic", rules)
    assert judge_of(net, other) is net.rater
    assert judge_of(outside, net) is net.rater
    for simple in (random, heuristic):
        for pair in ((net, simple), (simple, net)):
            assert judge_of(*pair) is None
            assert judge_of(*pair, luck=True) is net.rater
    assert judge_of(net, other, luck=False) is None
    assert judge_of(random, heuristic, luck=True) is None
    assert judge_of(outside, outside) is None


@pytest.mark.parametrize(
    ("games", "seed", "workers", "said"),
    [
        (7, 1, None, r"games must be an even number from 4 \(6 or 8\).*got 7"),
        (2, 1, None, "games must be an even number from 4.*got 2"),
        (-5, 1, None, "games .*got -5"),
        (4, -1, None, "seed .*got -1"),
        (4, 1, 0, "workers .*got 0"),
    ],
)
def test_a_match_that_makes_no_sense_is_refused(games, seed, workers, said):
    rules = variant("short")
    bot = make_bot("random", rules)
    with pytest.raises(ValueError, match=said):
        play_match(rules, bot, bot, games, seed, workers)


def test_a_game_that_does_not_end_is_an_error(monkeypatch):
    monkeypatch.setattr(outside, "MAX_DECISIONS", 3)
    rules = variant("long")
    with pytest.raises(ValueError, match="a game of variant long passed 100000 decisions"):
        play_match(rules, OutsideHeuristic(rules), make_bot("random", rules), 4, seed=1, workers=1)


def test_a_report_holds_every_figure(tmp_path):
    rules = variant("long")
    result = play_match(rules, make_bot("heuristic", rules), make_bot("random", rules), 20, seed=1)
    path = tmp_path / "result.json"
    path.write_text("old")
    write_json(path, result_sheet(result, rules, "heuristic", "random"))
    sheet = json.loads(path.read_text())
    assert sheet["a"] == "heuristic"
    assert sheet["points_per_game"] == result.points_per_game
    assert sheet["points_interval"] == list(result.points_interval)
    assert sheet["variant"] == rules.to_dict()
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(TypeError):
        write_json(path, {"games": object()})
    assert list(tmp_path.iterdir()) == [path]
    assert match_table(result, rules, "heuristic", "random").row_count == 8
    assert math.isfinite(result.games_per_second)
