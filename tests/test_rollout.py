"""Rollouts: right on average, less noisy without luck, the same with any number of threads, exact where they can be."""

import numpy as np
import pytest
from nets import pip_bot

from nardy_rl.network.fast_net import new_scratch
from nardy_rl.network.inference import rate
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import standing_before
from nardy_rl.rules.position import Position
from nardy_rl.rules.protocol import after_play, begin, list_plays, take_dice
from nardy_rl.rules.variant import VARIANTS, variant
from nardy_rl.search.bearoff import rate_ending
from nardy_rl.search.lookahead import ROLLS, look_ahead, new_room, numbered_roll, play_on, roll_equities
from nardy_rl.search.rollout import roll_out, stratified_error

RULES = {name: variant(name) for name in VARIANTS}
BOTS = {name: pip_bot(rules) for name, rules in RULES.items()}
# Not long before the end; in long nardy still with contact, so that dice cannot always be played.
MIDDLE = {
    "short": "X=12:2,9:3,8:2,6:4,5:2,4:2; O=11:2,10:2,8:2,6:4,5:3,3:2",
    "long": "X=20:2,13:4,10:3,4:6; O=21:2,12:1,11:1,10:1,5:4,3:4,2:2",
}


def middle(name):
    return parse_position(RULES[name], MIDDLE.get(name, MIDDLE["long"])).board()


def later(name):
    return standing_before(None, RULES[name].rules)


def roll_middle(name, trials, **options):
    options = {"seed": 1, **options}
    return roll_out(RULES[name], BOTS[name].rater, middle(name), later(name), trials, **options)


def agree(one, other):
    """Whether two rollouts differ by no more than chance."""
    apart = np.append(one.probabilities - other.probabilities, one.equity - other.equity)
    errors = np.hypot(
        np.append(one.probability_errors, one.equity_error), np.append(other.probability_errors, other.equity_error)
    )
    return bool((np.abs(apart) < 4 * errors + 1e-6).all())


@pytest.mark.parametrize("name", VARIANTS)
def test_luck_taken_off_changes_the_noise_and_not_the_mean(name):
    plain, reduced = roll_middle(name, 3600, reduce=False, seed=5), roll_middle(name, 360, seed=6)
    assert agree(plain, reduced)
    # Even a network that knows little takes some of the variance of a trial.
    assert reduced.equity_error**2 * 360 < 0.8 * plain.equity_error**2 * 3600


def test_hits_and_closed_points_do_not_bias_the_mean():
    board = parse_position(RULES["short"], "X=24:2,13:4,8:3,6:4,5:2; O=bar:1,22:1,13:4,8:3,6:4,4:2").board()
    plain, reduced = (
        roll_out(RULES["short"], BOTS["short"].rater, board, later("short"), trials, 3, reduce=trials < 1000)
        for trials in (3600, 360)
    )
    assert agree(plain, reduced)


@pytest.mark.parametrize("name", VARIANTS)
def test_one_cycle_of_first_rolls_is_a_look_ahead(name):
    rules, rater = RULES[name], BOTS[name].rater
    for plies, trials in ((1, 36), (2, 1296)):
        wanted = np.zeros(rules.outputs, np.float32)
        look_ahead(rater, middle(name), later(name), plies, rules.rules, new_room(rater.net), wanted)
        found = roll_middle(name, trials, half_turns=plies, reduce=False)
        assert found.probabilities == pytest.approx(wanted, abs=1e-5)
    # What follows one roll is its luck and nothing else.
    without = roll_middle(name, 36, half_turns=1)
    assert np.ptp(without.equities) < 1e-5
    assert without.probabilities == pytest.approx(roll_middle(name, 36, half_turns=1, reduce=False).probabilities)


@pytest.mark.parametrize("plies", [0, 1])
def test_without_a_half_turn_a_rollout_is_the_rating(plies):
    rules, rater = RULES["short"], BOTS["short"].rater
    wanted = np.zeros(rules.outputs, np.float32)
    if plies:
        look_ahead(rater, middle("short"), later("short"), plies, rules.rules, new_room(rater.net), wanted)
    else:
        rate(rater.net, middle("short"), 0, new_scratch(rater.net), wanted)
    found = roll_middle("short", 2, half_turns=0, plies=plies)
    assert (found.probabilities == wanted).all()
    assert found.equity_error == 0


@pytest.mark.parametrize("name", ["short", "long", "mad_gulbar_b"])
def test_a_bear_off_is_what_the_tables_say(name):
    rules, rater = RULES[name], BOTS[name].rater
    board = parse_position(rules, "X=6:3,5:2,3:4,1:3; O=6:2,4:5,2:8").board()
    wanted = np.zeros(rules.outputs, np.float32)
    equity = rate_ending(rater.endings, board, wanted)
    found = roll_out(rules, rater, board, later(name), 36, 1)
    assert found.equity == pytest.approx(equity, abs=1e-6)
    assert (found.probabilities == wanted).all()
    assert found.equity_error == 0


def test_trials_to_the_last_checker_agree_with_the_tables():
    rules, rater = RULES["short"], BOTS["short"].rater
    board = parse_position(rules, "X=6:2,4:2,1:1; O=5:2,3:2,2:1").board()
    blind = rater._replace(endings=rater.endings._replace(turns=rater.endings.turns[:0]))
    exact = roll_out(rules, rater, board, later("short"), 2, 1)
    for reduce in (True, False):
        played = roll_out(rules, blind, board, later("short"), 3600, 1, reduce=reduce)
        # The pip count does not play quite right, so that a little more is allowed than chance.
        assert played.probabilities == pytest.approx(exact.probabilities, abs=0.03 + 4 * played.probability_errors[0])


@pytest.mark.parametrize("name", ["short", "gulbar"])
def test_the_number_of_threads_does_not_matter_and_the_seed_does(name):
    one, three = (roll_middle(name, 100, workers=workers) for workers in (1, 3))
    assert (one.equities == three.equities).all()
    assert (one.equities != roll_middle(name, 100, seed=2).equities).any()


def test_look_ahead_is_used_where_it_is_asked_for():
    bare, ahead = (roll_middle("long", 72, plies=plies, half_turns=4) for plies in (0, 1))
    assert (bare.equities != ahead.equities).any()
    assert agree(ahead, roll_middle("long", 360, plies=1, half_turns=4, reduce=False))


def test_the_lottery_throws_no_doubles():
    rules, rater = RULES["short"], BOTS["short"].rater
    board, equities = Position.start(rules).board(), np.zeros(ROLLS, np.float32)
    roll_equities(rater, board, begin(0), rules.rules, new_room(rater.net), equities)
    mixed = [equity for number, equity in enumerate(equities) if len(set(numbered_roll(number))) == 2]
    for reduce in (True, False):
        found = roll_out(rules, rater, board, begin(0), 30, 1, half_turns=1, reduce=reduce)
        assert found.equity == pytest.approx(np.mean(mixed), abs=1e-5)


def test_dice_that_are_passed_on_or_of_a_chain_are_played_first():
    """The average over a roll's followers, each rolled out from where it stands, is the rollout from before it."""
    rules, rater = RULES["mad_gulbar_a"], BOTS["mad_gulbar_a"].rater
    plays, kinds = new_plays(), set()
    total = 0.0
    for number in range(ROLLS):
        first, second = numbered_roll(number)
        board = middle("mad_gulbar_a")
        standing = take_dice(later("mad_gulbar_a"), board, first, second, rules.rules, plays)
        size, depth, left_over = list_plays(standing, board, rules.rules, plays)
        found = roll_out(rules, rater, board, standing, 2, 1, half_turns=0)
        coming = after_play(standing, depth, left_over, 0, rules.rules)
        if size == 1:
            coming = play_on(standing, board, plays, 0, depth, left_over, rules.rules, np.empty((2, 26), np.int8))
            follower = roll_out(rules, rater, board, coming, 2, 1, half_turns=0)
            assert (follower if coming.seat == 0 else follower.turned()).equity == pytest.approx(found.equity)
        kinds.add((coming.seat, coming.number > 0))
        total += found.equity * (1 if first == second else 2) / 36
    assert {(1, False), (0, True)} <= kinds
    assert total == pytest.approx(roll_middle("mad_gulbar_a", 36, half_turns=1, reduce=False).equity, abs=1e-5)


def test_the_other_players_view_is_the_mirror_image():
    found = roll_middle("short", 36)
    turned = found.turned()
    win, gammon, backgammon, lose_gammon, lose_backgammon = found.probabilities
    assert turned.probabilities == pytest.approx([1 - win, lose_gammon, lose_backgammon, gammon, backgammon])
    weights = BOTS["short"].rater.net.equity
    assert turned.equity == pytest.approx(turned.probabilities @ weights[:-1] + weights[-1], abs=1e-6)
    assert (turned.turned().probability_errors == found.probability_errors).all()


def test_what_first_rolls_differ_by_is_no_error():
    rng = np.random.default_rng(1)
    effect = 5 * rng.standard_normal(36)
    means, errors = [], []
    for _ in range(400):
        values = np.tile(effect, 4) + rng.standard_normal(144)
        means.append(values.mean())
        errors.append(stratified_error(values, 36))
    assert np.std(means) == pytest.approx(1 / 12, rel=0.15)
    assert np.mean(errors) == pytest.approx(1 / 12, rel=0.05)
    assert stratified_error(effect, 36) == pytest.approx(effect.std(ddof=1) / 6)


@pytest.mark.parametrize(
    ("trials", "options", "said"),
    [
        (1, {}, "a rollout needs a whole number of trials from 2; got 1"),
        (36, {"half_turns": -1}, "half_turns must be a whole number from 0, or null to play to the end; got -1"),
        (36, {"plies": 4}, "plies must be from 0 to 3; got 4"),
    ],
)
def test_a_rollout_that_makes_no_sense_is_refused(trials, options, said):
    with pytest.raises(ValueError, match=said):
        roll_middle("short", trials, **options)


def test_a_finished_game_is_not_rolled_out():
    board = parse_position(RULES["short"], "X=6:2; O=off:15").board()
    with pytest.raises(ValueError, match="the game is finished"):
        roll_out(RULES["short"], BOTS["short"].rater, board, later("short"), 36, 1)
