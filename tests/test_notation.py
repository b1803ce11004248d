"""Text forms: sides, positions, plays, roll names, boards."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nardy_rl.rules.board import draw_text, pips
from nardy_rl.rules.dice import stream
from nardy_rl.rules.game import Game
from nardy_rl.rules.notation import (
    ROLL_NAMES,
    parse_play,
    parse_position,
    parse_side,
    play_text,
    position_text,
    roll_name,
    side_text,
)
from nardy_rl.rules.plays import Move, legal_plays
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.variant import VARIANTS, variant

LONG, SHORT = variant("long"), variant("short")


def random_turns(name: str, games: int):
    """Every decision of some random games: (game before it)."""
    for number in range(games):
        game = Game.begin(variant(name), stream(5, number))
        while not game.finished:
            yield game
            game.play(game.random_index())


@given(st.lists(st.integers(0, 25), min_size=15, max_size=15))
def test_a_sides_text_read_back_gives_the_same_side(stacks):
    row = np.bincount(stacks, minlength=26).astype(np.int8)
    assert Position.from_points(parse_side(side_text(row)), {}).array[0].tolist() == row.tolist()


def test_what_is_missing_from_a_side_is_off():
    assert side_text(Position.from_points({24: 13, 13: 1}, {}).array[0]) == "24:13,13:1"
    assert parse_position(SHORT, "X=bar:1,6:2; O=").array[:, OFF].tolist() == [12, 15]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("24:15", "a position reads like"),
        ("X=24:15; O=24;15", "a position reads like"),
        ("X=24:15; O=27:15", "cannot read '27:15'"),
        ("X=24:-1; O=24:15", "cannot read '24:-1'"),
        ("X=24:9,24:6; O=24:15", "point 24 is named twice"),
        ("X=24:16; O=24:15", "16 checkers instead of 15"),
        ("X=12:15; O=24:15", "both sides stand on own point 12"),
        ("X=bar:15; O=24:15", "on the bar"),
    ],
)
def test_a_text_that_is_no_position_names_its_fault(text, fault):
    with pytest.raises(ValueError, match=fault):
        parse_position(LONG, text)


@pytest.mark.parametrize("name", VARIANTS)
def test_positions_and_plays_of_random_games_survive_their_text(name):
    for game in random_turns(name, 4):
        assert parse_position(game.variant, position_text(game.position)) == game.position
        for play in game.plays[:20]:
            read = game.plays[game.find(play_text(play))]
            assert read.after == play.after, (game.position, game.dice, play_text(play))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_merged_play_means_a_play_that_ends_on_the_same_points(name):
    for game in random_turns(name, 4):
        for play in game.plays[:20]:
            if any(move.hit for move in play.moves):
                continue
            merged = merge(play.moves)
            read = game.plays[game.find(merged)]
            assert (read.after.array[0] == play.after.array[0]).all()


def merge(moves: tuple[Move, ...]) -> str:
    """Each checker's moves in one, last mover first."""
    paths: list[list[int]] = []
    for move in moves:
        path = next((path for path in paths if path[-1] == move.source), None)
        if path is None:
            paths.append([move.source, move.target])
        else:
            path[-1] = move.target
    names = {25: "bar", 0: "off"}
    words = ["/".join(str(names.get(point, point)) for point in path) for path in paths]
    return " ".join(reversed(words)) or "pass"


START = Position.start(SHORT)
BLOTS = parse_position(SHORT, "X=bar:1,24:2,13:5,8:3,6:4; O=24:2,13:5,8:2,6:5,5:1")


@pytest.mark.parametrize(
    ("text", "dice", "meaning"),
    [
        ("24/14", (6, 4), "24/18 18/14"),
        ("24/18/14", (6, 4), "24/18 18/14"),
        ("18/14 24/18", (4, 6), "24/18 18/14"),
        ("6/5(2) 8/7(2)", (1, 1), "8/7(2) 6/5(2)"),
        ("13/7 8/7", (6, 1), "13/7 8/7"),
        ("8/7 13/7", (6, 1), "13/7 8/7"),
    ],
)
def test_moves_may_be_merged_and_stand_in_any_order(text, dice, meaning):
    assert play_text(parse_play(SHORT, START, dice, text)) == meaning


def test_a_hit_may_be_marked_or_left_out_where_it_is_the_only_way():
    for text in ("bar/20* 24/18", "24/18 bar/20*", "bar/20 24/18"):
        play = parse_play(SHORT, BLOTS, (6, 5), text)
        assert play_text(play) == "bar/20* 24/18"
        assert play.after.array[1, 25] == 1
    with pytest.raises(ValueError, match="hits where nothing can be hit"):
        parse_play(SHORT, BLOTS, (6, 5), "bar/20* 24/18*")


def test_the_way_of_one_checker_matters_where_it_may_hit():
    position = parse_position(SHORT, "X=13:2,6:13; O=18:1,6:14")  # his 18 is the mover's 7
    hit = parse_play(SHORT, position, (6, 1), "13/7*/6")
    quiet = parse_play(SHORT, position, (6, 1), "13/12/6")
    assert hit.after.array[1, 25] == 1
    assert quiet.after.array[1, 25] == 0
    assert parse_play(SHORT, position, (6, 1), "13/6") == quiet


def test_bearing_off_and_passing_are_written_in_words():
    position = parse_position(LONG, "X=6:1,3:1; O=20:15")
    assert play_text(parse_play(LONG, position, (6, 3), "3/off 6/off")) == "6/off 3/off"
    shut = parse_position(LONG, "X=24:15; O=24:13,10:1,8:1")
    (only,) = legal_plays(LONG, shut, (4, 2))
    assert play_text(only) == "pass"
    assert parse_play(LONG, shut, (4, 2), "Pass") == only


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "an empty text is no play"),
        ("pass", "a pass is not legal"),
        ("24-18", "cannot read the move '24-18'"),
        ("24", "cannot read the move '24'"),
        ("24/18(x)", "cannot read the move"),
        ("27/21", "'27' in '27/21' is no point"),
        ("18/24", "does not move forwards"),
        ("23/17 24/20", "from 23 than stand there"),
        ("24/18(3)", "from 24 than stand there"),
        ("24/18", "is no legal play of 6-4"),
        ("24/18 24/19", "is no legal play of 6-4"),
    ],
)
def test_a_text_that_is_no_play_names_its_fault(text, fault):
    with pytest.raises(ValueError, match=fault.replace("(", r"\(")):
        parse_play(SHORT, START, (6, 4), text)


def test_every_roll_has_one_name_whatever_the_order_of_the_dice():
    rolls = {dice for dice in itertools.product(range(1, 7), repeat=2) if dice[0] >= dice[1]}
    assert {name.dice for name in ROLL_NAMES} == rolls
    for field in ("russian", "identifier"):
        assert len({getattr(name, field) for name in ROLL_NAMES}) == 21
    assert roll_name((5, 6)) == roll_name((6, 5)) == ((6, 5), "шеш-беш", "shesh_besh")
    with pytest.raises(ValueError, match="dice are two whole numbers"):
        roll_name((7, 1))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_drawn_board_shows_every_checker_within_reach_and_every_number(name):
    for game in itertools.islice(random_turns(name, 2), 0, None, 7):
        text = draw_text(game.variant, game.position, game.dice)
        own, opp = game.position.array
        body = [line for line in text.splitlines() if line.startswith("|")]
        assert sum(line.count("X") for line in body) - ("X plays" in text) == np.minimum(own[1:], 5).sum()
        assert sum(line.count("O") for line in body) == np.minimum(opp[1:], 5).sum()
        assert f"X: {pips(own)} pips, off {own[0]}" in text
        assert f"O: {pips(opp)} pips, off {opp[0]}" in text
        assert len({len(line) for line in text.splitlines() if line[0] in "|+"}) == 1


def test_the_other_sides_checkers_stand_where_the_geometry_puts_them():
    """The head of the long game's other player is X's 12, lower left; in the short game it is X's 1, lower right."""
    own_12, own_1 = 1, -4
    for rules, column in ((LONG, own_12), (SHORT, own_1)):
        position = Position.from_points({20: 15}, {24: 15})
        last_row = draw_text(rules, position).splitlines()[-3]
        assert last_row[column:].strip(" |")[0] == "O"
        assert last_row.count("O") == 1
