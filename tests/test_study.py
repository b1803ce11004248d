"""Positions and plays under study: rated by the network, by look-ahead, by rollouts, and marked so."""

import numpy as np
import pytest
import torch
from nets import pip_bot

from nardy_rl.evaluation.study import ROLLED_PLAYS, RolloutOptions, study_plays, study_position
from nardy_rl.evaluation.tables import line_sheet, outcome_names, study_table
from nardy_rl.network.fast_net import new_scratch
from nardy_rl.network.value_net import new_net
from nardy_rl.players.analysis import rank_plays, rate_position
from nardy_rl.players.bot import RANDOM, choose, network_bot, simple_bot
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.notation import parse_position, play_text
from nardy_rl.rules.plays import legal_plays, standing_before
from nardy_rl.rules.position import Position
from nardy_rl.rules.protocol import after_play, list_plays, take_dice
from nardy_rl.rules.variant import variant
from nardy_rl.search.lookahead import new_room
from nardy_rl.search.rollout import roll_out

SHORT, GULBAR = variant("short"), variant("gulbar")
START = Position.start(SHORT)
ROLLOUT = RolloutOptions(trials=72, half_turns=4)


@pytest.mark.parametrize("plies", [0, 1, 2])
def test_the_first_of_the_ranked_plays_is_the_bots_choice(plies):
    bot, board, plays = pip_bot(SHORT, plies), START.board(), new_plays()
    standing = take_dice(standing_before(None, SHORT.rules), board, 3, 1, SHORT.rules, plays)
    size, depth, left_over = list_plays(standing, board, SHORT.rules, plays)
    coming, net = after_play(standing, depth, left_over, 0, SHORT.rules), bot.rater.net
    chosen = choose(
        bot, board, standing, coming, plays, size, depth, left_over, SHORT.rules, new_scratch(net), new_room(net), 0, 0
    )  # fmt: skip
    ranked = rank_plays(bot, SHORT, START, (3, 1))
    assert ranked[0].play == legal_plays(SHORT, START, (3, 1))[chosen]
    assert len(ranked) == size
    assert ranked[0].plies <= plies
    assert [rated.plies for rated in ranked] == sorted((rated.plies for rated in ranked), reverse=True)


def test_a_play_that_wins_comes_before_all_that_are_seen_further():
    """A won game needs no look-ahead; what is as good as won gets it."""
    net = new_net([1], SHORT, seed=1)
    with torch.no_grad():  # whoever rolls has hardly a chance, and loses a single game
        for parameter in net.layers[-1].parameters():
            parameter.zero_()
        net.layers[-1].bias[:] = torch.tensor([-5.0, -20.0, -20.0, -20.0, -20.0])
    position = parse_position(SHORT, "X=2:1,1:1; O=7:13")
    ranked = rank_plays(network_bot(net, SHORT, plies=1), SHORT, position, (2, 1))
    assert [play_text(rated.play) for rated in ranked] == ["2/off 1/off", "2/1 1/off"]
    assert [rated.plies for rated in ranked] == [1, 1]
    assert ranked[0].equity == 1


@pytest.mark.parametrize(("rules", "dice"), [(SHORT, (6, 5)), (GULBAR, (3, 3)), (variant("mad_gulbar_b"), (2, 2))])
def test_a_play_has_the_movers_chances(rules, dice):
    weights = pip_bot(rules).rater.net.equity
    for rated in rank_plays(pip_bot(rules), rules, Position.start(rules), dice, "starter"):
        assert rated.probabilities @ weights[:-1] + weights[-1] == pytest.approx(rated.equity, abs=1e-5)


def test_a_position_is_rated_by_the_tables_where_they_know_it():
    race = parse_position(SHORT, "X=1:1; O=6:15")
    for plies in (0, 1):
        equity, outcome = rate_position(pip_bot(SHORT, plies), SHORT, race)
        assert equity == 2
        assert outcome.tolist() == [1, 1, 0, 0, 0]


def test_look_ahead_rates_a_position_otherwise():
    bare, ahead = (rate_position(pip_bot(SHORT, plies), SHORT, START)[0] for plies in (0, 1))
    assert bare == pytest.approx(0.0, abs=1e-6)
    assert 0.05 < ahead < 0.5


def test_the_best_plays_are_rolled_out_and_the_others_marked():
    lines = study_plays(pip_bot(SHORT), SHORT, START, (3, 1), None, ROLLOUT)
    assert len(lines) == len(legal_plays(SHORT, START, (3, 1)))
    rolled = [line for line in lines if line.equity_error is not None]
    assert lines[: len(rolled)] == rolled
    assert len(rolled) == ROLLED_PLAYS
    assert {line.judged_by for line in rolled} == {"rollout, 72"}
    assert {line.judged_by for line in lines[len(rolled) :]} == {"net"}
    assert [line.behind for line in rolled] == sorted(line.behind for line in rolled)
    assert (lines[0].behind, lines[0].behind_error) == (0, 0)
    for line in lines:
        assert line.behind == pytest.approx(lines[0].equity - line.equity)
    assert 0 < rolled[-1].behind_error < 2 * np.hypot(rolled[0].equity_error, rolled[-1].equity_error)


def test_a_rolled_out_play_is_the_rollout_of_what_follows_it():
    line = study_plays(pip_bot(SHORT), SHORT, START, (3, 1), None, ROLLOUT)[0]
    rated = next(
        rated for rated in rank_plays(pip_bot(SHORT), SHORT, START, (3, 1)) if play_text(rated.play) == line.text
    )
    found = roll_out(SHORT, pip_bot(SHORT).rater, rated.board, rated.coming, 72, 1, half_turns=4)
    assert line.equity == -found.equity
    assert line.probabilities[0] == pytest.approx(1 - found.probabilities[0])


def test_a_play_that_wins_needs_no_rollout():
    position = parse_position(SHORT, "X=1:1; O=23:1,6:14")
    (line,) = study_plays(pip_bot(SHORT), SHORT, position, (2, 1), None, ROLLOUT)
    assert (line.text, line.equity, line.equity_error) == ("1/off", 3, 0)
    assert line.probabilities.tolist() == [1, 1, 1, 0, 0]


def test_a_position_before_the_roll_has_a_line_of_the_net_and_one_of_the_rollout():
    (net,) = study_position(pip_bot(SHORT), SHORT, START, None, None)
    rolled, same = study_position(pip_bot(SHORT), SHORT, START, None, ROLLOUT)
    assert (rolled.judged_by, same.judged_by, same.equity) == ("rollout, 72", "net", net.equity)
    assert 0 < rolled.equity_error < 0.1


def test_the_second_players_first_turn_is_not_followed_by_another_first_turn():
    rules = variant("long").rules
    standings = {turn: standing_before(turn, rules) for turn in (None, "starter", "second")}
    assert [(one.rolls_0, one.rolls_1, one.starter) for one in standings.values()] == [(1, 1, 0), (0, 0, 0), (0, 1, 1)]


def test_outcomes_are_called_as_in_the_variant():
    assert outcome_names(SHORT) == [
        "win", "win_gammon", "win_backgammon", "lose", "lose_gammon", "lose_backgammon",
    ]  # fmt: skip
    assert outcome_names(variant("long", koks=3)) == [
        "win", "win_mars", "win_koks", "lose", "lose_mars", "lose_koks",
    ]  # fmt: skip


def test_tables_and_sheets_hold_every_line():
    lines = study_plays(pip_bot(SHORT), SHORT, START, (3, 1), None, ROLLOUT)
    assert study_table(lines, SHORT, "title").row_count == len(lines)
    sheet = line_sheet(lines[0], SHORT)
    assert sheet["probabilities"]["win"] + sheet["probabilities"]["lose"] == pytest.approx(1)
    assert sheet["probability_errors"]["win"] == sheet["probability_errors"]["lose"]
    assert line_sheet(lines[-1], SHORT)["probability_errors"] is None


def test_only_a_network_has_an_opinion():
    bot = simple_bot(RANDOM, SHORT)
    for ask in (lambda: rank_plays(bot, SHORT, START, (3, 1)), lambda: rate_position(bot, SHORT, START)):
        with pytest.raises(ValueError, match="only a network"):
            ask()
