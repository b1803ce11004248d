"""Self-play at the end of a game: it stops where the bear-off tables know the result, and does not go on for ever."""

import numpy as np
import pytest
import torch
from nets import pip_bot, pip_net
from returns import game_returns

from nardy_rl.players.bot import network_bot
from nardy_rl.players.games import new_record, new_table, play_game, start_board
from nardy_rl.rules.dice import stream
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.variant import VARIANTS, variant
from nardy_rl.search.bearoff import both_home, rate_ending, sample_ending
from nardy_rl.search.bearoff_cache import endings
from nardy_rl.selfplay import batch as batch_module
from nardy_rl.selfplay.batch import DECISIONS, POINTS, STARTER_WON, TURNS, SelfPlay

EVERY = 8  # game number 0, 8, 16, … is played to its end


def games_of(batch):
    """For each game its row of statistics, and its rows of the batch."""
    ends = np.cumsum(batch.games[:, DECISIONS])
    for row, end in zip(batch.games, ends, strict=True):
        yield row, slice(end - row[DECISIONS], end)


def known_rows(batch, rows):
    """Which rows of a game the tables know: both sides at home, somebody about to roll."""
    pairs = zip(batch.positions[rows], batch.pending[rows], strict=True)
    return np.array([bool(both_home(board)) and pending == 0 for board, pending in pairs])


@pytest.mark.parametrize("trace", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("name", VARIANTS)
def test_what_the_tables_know_is_its_own_target_and_the_end_of_most_games(name, trace):
    rules = variant(name)
    tables, rated = endings(rules), np.empty(rules.outputs, np.float32)
    batch = SelfPlay(rules, seed=3, workers=1).play(pip_bot(rules), 5, 40, trace)
    stopped = 0
    for game, (row, rows) in enumerate(games_of(batch), 5):
        known = known_rows(batch, rows)
        for board, target in zip(batch.positions[rows][known], batch.targets[rows][known], strict=True):
            rate_ending(tables, board, rated)
            np.testing.assert_array_equal(target, rated)
        rolls = np.count_nonzero(batch.pending[rows] == 0)
        if game % EVERY and known.any():
            assert not known[:-1].any()
            # In the last row nobody has rolled yet: how the game ends is drawn, by the dice that would follow.
            _, points, turns = sample_ending(tables, batch.positions[rows][-1], stream(3, game), rolls - 1)
            assert (row[POINTS], row[TURNS]) == (points, rolls - 1 + turns)
            stopped += 1
        else:
            assert row[TURNS] == rolls
    assert stopped > 10


def test_every_eighth_game_goes_to_its_end_by_its_number_not_its_place_in_a_batch():
    rules = variant("long")
    batch = SelfPlay(rules, seed=3, workers=1).play(pip_bot(rules), 5, 20, 0.7)
    longer, stopped = [], []
    for game, (_, rows) in enumerate(games_of(batch), 5):
        known = np.count_nonzero(known_rows(batch, rows))
        if known > 1:
            position = Position(batch.positions[rows][-1])
            plays = [play for dice in ((6, 6), (6, 5)) for play in legal_plays(rules, position, dice)]
            assert any(play.after.array[0, OFF] == rules.checkers for play in plays)
            longer.append(game)
        elif known == 1:
            stopped.append(game)
    assert longer == [8, 16, 24]
    assert len(stopped) > 10


def test_with_lambda_1_a_stopped_game_is_worth_what_the_tables_expect():
    rules = variant("long")
    tables, rated, weights = endings(rules), np.empty(rules.outputs, np.float32), equity_weights(rules)
    batch = SelfPlay(rules, seed=3, workers=1).play(pip_bot(rules), 1, 7, 1.0)
    for _, rows in games_of(batch):
        assert known_rows(batch, rows)[-1]
        equity = rate_ending(tables, batch.positions[rows][-1], rated)
        signs = (-1.0) ** np.arange(rows.stop - rows.start)[::-1]
        np.testing.assert_allclose(batch.targets[rows] @ weights[:-1] + weights[-1], signs * equity, atol=1e-5)


@pytest.mark.parametrize("trace", [0.0, 0.5, 1.0])
def test_an_exact_rating_is_a_target_as_it_stands_and_those_before_lead_to_it(trace):
    values = np.array([[np.nan] * 3, [0.6, 0.2, 0.1], [0.3, 0.1, 0.3], [0.9, 0.5, 0.0]], np.float32)
    seats, exact = np.array([0, 1, 0, 1], np.int8), np.array([False, False, True, False])
    rows = game_returns(values, seats, exact, 2, (1, 2), trace)
    np.testing.assert_array_equal(rows[2], values[2])  # whatever came after it
    np.testing.assert_allclose(rows[1], [0.7, 0.3, 0.1], atol=1e-6)
    mixed = (1 - trace) * values[1] + trace * rows[1]
    np.testing.assert_allclose(rows[0], [1 - mixed[0], mixed[2], mixed[1]], atol=1e-6)
    assert rows[3].tolist() == [1, 1, 0]


@pytest.mark.parametrize("name", ["short", "long", "mad_gulbar_b"])
def test_stopped_games_end_as_whole_games_do(name):
    """The same games both ways: what differs is luck after they stop, so that a small difference would show."""
    rules, number = variant(name), 1000
    bot = pip_bot(rules)
    table, start = new_table(bot, bot), start_board(rules)
    record = new_record(2000, rules.outputs)
    results = np.array(
        [
            [
                _result(play_game(bot, bot, start, rules.rules, key, key, 2000, to_end, table, record, 0))
                for to_end in (False, True)
            ]
            for key in (stream(1, game) for game in range(number))
        ],
        float,
    )
    stopped, whole = results[:, 0], results[:, 1]
    differing = (stopped[:, :2] != whole[:, :2]).any(axis=1)
    assert 10 < np.count_nonzero(differing) < number / 2
    # Whether the starter won, points for him, turns.
    difference = stopped - whole
    error = difference.std(axis=0) / np.sqrt(number)
    assert (np.abs(difference.mean(axis=0)) < 4 * error).all(), (difference.mean(axis=0), error)
    assert error[0] < 0.02
    np.testing.assert_allclose(stopped.mean(axis=0), whole.mean(axis=0), rtol=0.15, atol=0.08)


def _result(result):
    return result.starter_won, result.points if result.starter_won else -result.points, result.turns


# Games without an end


@pytest.fixture
def break_off(monkeypatch):
    """A function that lets self-play break games off after so many decisions.

    In machine code the limit is a constant: the loop over games runs as plain Python, and plays compiled games.
    """

    def limit(decisions):
        monkeypatch.setattr(batch_module, "_LONGEST", decisions)
        monkeypatch.setattr(batch_module, "_play_chunk", batch_module._play_chunk.py_func)

    return limit


def test_the_loop_over_games_as_plain_python_makes_the_same_batch(break_off):
    rules = variant("short")
    compiled = SelfPlay(rules, seed=3, workers=1).play(pip_bot(rules), 0, 10, 0.7)
    break_off(2000)
    plain = SelfPlay(rules, seed=3, workers=1).play(pip_bot(rules), 0, 10, 0.7)
    np.testing.assert_array_equal(plain.games, compiled.games)
    np.testing.assert_array_equal(plain.targets, compiled.targets)


@pytest.mark.parametrize("trace", [0.0, 0.7])
def test_a_game_that_is_broken_off_has_the_nets_opinion_for_its_end(break_off, trace):
    break_off(90)
    rules = variant("short", bearoff="exact_only")  # no tables: all opinions are the net's
    net = pip_net(rules)
    batch = SelfPlay(rules, seed=3, workers=1).play(network_bot(net, rules), 0, 40, trace)
    broken = batch.games[:, POINTS] == 0
    assert 0 < broken.sum() < 20
    for row, rows in games_of(batch):
        with torch.no_grad():
            ratings = net(torch.from_numpy(batch.positions[rows])).numpy()
        end = batch.targets[rows][-1]
        if row[POINTS] == 0:
            assert row[DECISIONS] == row[TURNS] == 90
            assert not row[STARTER_WON]
            np.testing.assert_allclose(end, ratings[-1], atol=1e-5)
            # The decision before leads there, whatever λ is.
            turned = [1 - end[0], *end[3:], *end[1:3]]
            np.testing.assert_allclose(batch.targets[rows][-2], turned, atol=1e-5)
        else:
            assert row[DECISIONS] <= 90
            assert end[0] == 1


def test_rules_by_which_most_games_do_not_end_are_refused(break_off):
    break_off(30)
    rules = variant("long")
    with pytest.raises(
        ValueError, match="games of variant long did not end within 30 decisions: its rules let both"
    ) as caught:
        SelfPlay(rules, seed=3, workers=1).play(pip_bot(rules), 0, 10, 0.7)
    assert "\n" not in str(caught.value)
