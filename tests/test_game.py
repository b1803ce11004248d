"""`Game`: who acts, with which dice, what is passed on, kept and lost, who rolls next, and its state as JSON."""

import json

import pytest

import nardy_rl
from nardy_rl.rules.game import Game, Sequel
from nardy_rl.rules.notation import parse_position, side_text
from nardy_rl.rules.variant import VARIANTS, variant

# Rules 10: variant, position, roll, the first turn, then what `sequel` says of a play (ascending), and the dice of the
# answer. Where the play matters it is named.
CASES = {
    "G1": ("gulbar", "X=24:14,13:1; O=24:12,14:1,7:1,6:1", (6, 5), None, "13/7", Sequel(1, False, (5,), (), (), False)),
    "G2": ("gulbar", "X=24:15; O=24:15", (6, 6), "starter", None, Sequel(1, False, (6, 6), (), (), False)),
    "G3": ("gulbar", "X=24:14,20:1; O=24:14,19:1", (4, 4), None, None, Sequel(1, False, (4,), (), (), False)),
    "G4": ("gulbar", "X=24:13,20:2; O=24:14,19:1", (1, 1), None, None, Sequel(0, True, (), (), (), False)),
    "G5": ("gulbar", "X=24:15; O=6:1,5:1", (6, 6), None, None, Sequel(1, False, (6,) * 4, (), (), False)),
    "G6": ("gulbar", "X=1:2; O=20:15", (3, 3), None, None, Sequel(0, False, (), (), (), True)),
    "long": ("long", "X=24:14,13:1; O=24:12,14:1,7:1,6:1", (6, 5), None, None, Sequel(1, True, (), (), (5,), False)),
    "nothing": ("gulbar", "X=24:15; O=24:13,10:1,8:1", (4, 2), None, None, Sequel(1, False, (2, 4), (), (), False)),
    "A6": (
        "mad_gulbar_a", "X=24:15; O=24:13,8:1,7:1", (4, 4), None, None,
        Sequel(1, False, (4, 4, 5, 5, 6, 6), (), (), False),
    ),
    "A8": ("mad_gulbar_a", "X=5:1,4:1; O=20:15", (4, 4), None, None, Sequel(0, False, (), (), (), False)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_follows_a_play_is_told_before_it_is_made(case):
    name, text, dice, first_turn, play, sequel = CASES[case]
    rules = variant(name)
    game = Game.from_position(rules, parse_position(rules, text), 1, dice=dice, first_turn=first_turn)
    index = 0 if play is None else game.find(play)
    before = game.state()
    assert game.sequel(index) == sequel
    assert game.state() == before
    game.play(index)
    assert (game.seat, game.finished) == (sequel.seat, sequel.finished)
    assert game.passed_on == bool(sequel.passed_on)
    if game.passed_on:
        assert sorted(game.dice + game.to_follow) == list(sequel.passed_on)


def game_after(name, text, dice, first_turn=None, **options):
    rules = variant(name, **options)
    return Game.from_position(rules, parse_position(rules, text), 1, dice=dice, first_turn=first_turn)


def test_a_full_double_gives_another_roll_and_the_head_a_new_checker():
    game = game_after("gulbar", "X=24:13,20:2; O=24:14,19:1", (1, 1))
    game.play(game.find("24/23 20/19 20/18"), dice=(2, 1))
    assert (game.seat, game.dice, game.passed_on) == (0, (2, 1), False)
    assert any(play.moves[0].source == 24 for play in game.plays)


def test_passed_dice_are_played_to_the_end_of_the_game():
    """G5: the second player bears his last checkers off with dice that are not of his roll."""
    game = game_after("gulbar", "X=24:15; O=6:1,5:1", (6, 6))
    game.play(0)
    assert (game.seat, game.dice, game.passed_on, game.first_turn) == (1, (6, 6, 6, 6), True, None)
    assert [side_text(play.after.array[0]) for play in game.plays] == [""]
    assert game.sequel(0) == Sequel(1, False, (), (), (), True)
    game.play(0)
    assert (game.finished, game.seat, game.dice, game.plays) == (True, 1, (), [])
    assert (game.reward(0), game.reward(1), game.points) == (-2.0, 2.0, 2)


def test_a_game_may_end_in_the_middle_of_a_chain():
    """A8: 5-5 of 4-4, 5-5, 6-6 bears the last checker off."""
    game = game_after("mad_gulbar_a", "X=5:1,4:1; O=20:15", (4, 4))
    game.play(0)
    assert (game.seat, game.dice, game.to_follow) == (0, (5, 5), (6, 6))
    assert game.sequel(0) == Sequel(0, False, (), (), (), True)
    game.play(0)
    assert (game.finished, game.seat, game.reward(0)) == (True, 0, 2.0)


def test_what_the_other_cannot_play_either_is_lost():
    """G2: of two sixes he plays one."""
    game = game_after("gulbar", "X=24:15; O=24:15", (6, 6), "starter")
    game.play(0)
    assert game.sequel(0) == Sequel(1, True, (), (), (6,), False)
    game.play(0, dice=(3, 2))
    assert (game.seat, game.dice, game.passed_on, game.first_turn) == (1, (3, 2), False, "second")


def test_a_chain_is_one_decision_for_each_value():
    """A1: one by one the values of 1-1; at 3 it breaks, and the rest goes over."""
    game = game_after("mad_gulbar_a", "X=24:15; O=24:15", (1, 1), "starter")
    seen = []
    while game.seat == 0:
        seen.append((game.dice, game.to_follow))
        assert len(game.plays) == 1
        sequel = game.sequel(0)
        game.play(0)
    assert seen == [
        ((1, 1), (2, 2, 3, 3, 4, 4, 5, 5, 6, 6)),
        ((2, 2), (3, 3, 4, 4, 5, 5, 6, 6)),
        ((3, 3), (4, 4, 5, 5, 6, 6)),
    ]
    assert sequel.passed_on == (3, 4, 4, 5, 5, 6, 6)
    lost = []
    while game.passed_on:
        lost += game.sequel(0).lost
        sequel = game.sequel(0)
        game.play(0)
    assert (side_text(game.position.array[0]), len(lost)) == ("24:14,2:1", 2)
    assert (sequel.seat, sequel.rolls, game.seat) == (1, True, 1)


def test_a_chain_that_skips_keeps_what_is_missing_until_its_end():
    """A6b."""
    game = game_after("mad_gulbar_a", "X=24:15; O=24:13,8:1,7:1", (4, 4), chain_break="skip")
    kept = []
    while game.seat == 0:
        sequel = game.sequel(0)
        kept.append(sequel.kept)
        game.play(0)
    assert kept == [(4, 4), (4, 4, 5, 5), ()]
    assert sequel.passed_on == (4, 4, 5, 5, 6)


@pytest.mark.parametrize("options", [{"chain_break": "lose_rest"}, {"pass_when": "never"}])
def test_a_chain_may_be_lost(options):
    game = game_after("mad_gulbar_a", "X=24:15; O=24:13,8:1,7:1", (4, 4), **options)
    assert game.sequel(0) == Sequel(1, True, (), (), (4, 4, 5, 5, 6, 6), False)


def test_pending_is_what_a_network_sees():
    game = game_after("mad_gulbar_a", "X=24:15; O=24:15", (4, 4), "starter")
    assert game.pending(0).tolist() == [0, 0, 0, 2, 2, 2, 1]
    assert game.pending(1).tolist() == [0] * 7
    game = game_after("gulbar", "X=24:14,13:1; O=24:12,14:1,7:1,6:1", (6, 5))
    assert game.pending(0).tolist() == [0, 0, 0, 0, 1, 1, 1]
    game.play(0)
    assert game.pending(1).tolist() == [0, 0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_game_goes_on_from_json_at_every_decision(name):
    game = nardy_rl.Game.begin(variant(name), key=5)
    copy = game
    while not game.finished:
        copy = Game.from_state(json.loads(json.dumps(game.state())))
        assert copy == game
        index = game.random_index()
        game.play(index)
        copy.random_index()
        copy.play(index)
        assert copy == game
    assert Game.from_state(json.loads(json.dumps(game.state()))) == game
    assert abs(game.reward(0)) in game.variant.levels


def test_own_dice_are_checked_before_anything_changes():
    game = game_after("gulbar", "X=24:15; O=24:15", (6, 6), "starter")
    before = game.state()
    with pytest.raises(ValueError, match="nobody rolls: dice must be None"):
        game.play(0, dice=(1, 2))
    with pytest.raises(ValueError, match="two whole numbers from 1 to 6"):
        game.play(0, dice=(7, 2))
    with pytest.raises(ValueError, match="'24/17' is no legal play of 6-6-6-6; among the 1 legal: "):
        game.find("24/17")
    assert game.state() == before
