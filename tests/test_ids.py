"""GNU position and match IDs, XGIDs, and whatever a user may type for a position."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from played import random_game_positions

from nardy_rl.formats.gnu import STATES, MatchState, from_match_id, from_position_id, match_id, position_id
from nardy_rl.formats.positions import read_position
from nardy_rl.formats.xgid import Xgid, format_xgid, parse_xgid
from nardy_rl.rules.notation import parse_position, position_text
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import variant

LONG, SHORT = variant("long"), variant("short")
START = "X=24:2,13:5,8:3,6:5; O=24:2,13:5,8:3,6:5"
# P24: https://github.com/clavierhaus/gnubg-android/issues/14
UNEVEN = "X=13:5,8:3,6:3,4:4; O=13:5,8:3,6:5,3:2"
START_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:52:0:0:3:0:10"


@st.composite
def short_positions(draw):
    """Any position of short nardy, off and bar included."""
    own = np.bincount(draw(st.lists(st.integers(0, 25), min_size=15, max_size=15)), minlength=26)
    free = [0, *(25 - point for point in range(1, 25) if not own[point]), 25]
    opp = np.bincount(draw(st.lists(st.sampled_from(free), min_size=15, max_size=15)), minlength=26)
    return Position([own, opp])


dice = st.none() | st.tuples(st.integers(1, 6), st.integers(1, 6))


@pytest.mark.parametrize(("text", "expected"), [(START, "4HPwATDgc/ABMA"), (UNEVEN, "jM/BBwB4zsEHAA")])
def test_p24_the_gnu_position_id_writes_the_player_on_roll_last(text, expected):
    position = parse_position(SHORT, text)
    assert position_id(position) == expected
    assert from_position_id(expected) == position


@given(short_positions())
def test_any_position_survives_its_gnu_id(position):
    assert from_position_id(position_id(position)) == position


def test_gnu_position_ids_of_random_games_read_back():
    for position in random_game_positions(SHORT, 4):
        assert from_position_id(position_id(position)) == position


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("4HPwATDgc/ABM", "has 14 characters"),
        ("4HPwATDgc/ABM!", "not Base64"),
        ("//////////////", "more than 15"),
        ("4HPwATDgc/ABMB", "stray bits"),
        ("AQAAAAAAAAAAgA", "stray bits"),
    ],
)
def test_an_id_that_is_none_names_its_fault(text, fault):
    with pytest.raises(ValueError, match=fault):
        from_position_id(text)


def test_an_id_with_both_sides_on_one_point_is_refused():
    with pytest.raises(ValueError, match="both sides on point 13"):
        from_position_id(position_id(Position.from_points({13: 15}, {12: 15})))


def test_an_id_of_fewer_checkers_is_refused():
    with pytest.raises(ValueError, match="15 checkers a side"):
        position_id(Position.from_points({6: 3}, {6: 3}, checkers=3))


@st.composite
def match_states(draw):
    length = draw(st.integers(0, 32767))
    return MatchState(
        on_roll=draw(st.integers(0, 1)),
        turn=draw(st.integers(0, 1)),
        dice=draw(dice),
        cube=2 ** draw(st.integers(0, 15)),
        owner=draw(st.sampled_from([None, 0, 1])),
        doubled=draw(st.booleans()),
        resigned=draw(st.integers(0, 3)),
        state=draw(st.sampled_from(STATES)),
        length=length,
        scores=(draw(st.integers(0, 32767)), draw(st.integers(0, 32767))),
        crawford=length > 0 and draw(st.booleans()),
        jacoby=draw(st.booleans()),
    )


@given(match_states())
def test_any_state_of_a_match_survives_its_id(state):
    assert from_match_id(match_id(state)) == state


@pytest.mark.parametrize(
    ("text", "state"),
    [
        # The example of gnubg's manual, technical notes.
        ("QYkqASAAIAAA", MatchState(on_roll=1, turn=1, dice=(5, 2), cube=2, owner=0, length=9, scores=(2, 4))),
        # As gnubg 1.07 shows them.
        ("AQGgABAAEAAE", MatchState(cube=2, owner=0, length=5, scores=(1, 2))),
        ("UQmgACAACAAE", MatchState(on_roll=1, turn=1, cube=2, owner=1, length=5, scores=(2, 1))),
        ("MAEPAAAAAAAE", MatchState(dice=(6, 3))),
    ],
)
def test_a_gnu_match_id_says_what_gnubg_says_it_does(text, state):
    assert from_match_id(text) == replace(state, jacoby=not text.endswith("E"))
    assert match_id(from_match_id(text)) == text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("QYkqASAAIAA", "a GNU match ID has 12 characters, 'QYkqASAAIAA' has 11"),
        ("QYkqASAAIA==", "not Base64"),
        ("QYkqASAAIAAQ", "stray bits"),
        ("//////////8H", "no such game"),
        ("gQEAAAAAAAAA", "money games have no Crawford game"),
    ],
)
def test_a_match_id_that_is_none_names_its_fault(text, fault):
    with pytest.raises(ValueError, match=fault):
        from_match_id(text)


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"cube": 3}, "the cube is a power of two"),
        ({"cube": 2**16}, "the cube is a power of two"),
        ({"dice": (0, 1)}, "dice are two numbers"),
        ({"owner": 2}, "the cube's owner"),
        ({"turn": 2}, "players are 0 and 1"),
        ({"resigned": 4}, "a resignation"),
        ({"scores": (0, 32768)}, "a length and scores"),
        ({"state": "paused"}, "a game is none, playing"),
    ],
)
def test_what_no_match_id_can_hold_is_refused(wrong, fault):
    with pytest.raises(ValueError, match=f"no GNU match ID: {fault}"):
        MatchState(**wrong)


@st.composite
def xgids(draw):
    length, thrown = draw(st.integers(0, 99)), draw(dice)
    return Xgid(
        position=draw(short_positions()),
        dice=thrown,
        offers=0 if thrown else draw(st.integers(0, 3)),
        cube=2 ** draw(st.integers(0, 15)),
        owner=draw(st.sampled_from([None, 0, 1])),
        scores=(draw(st.integers(0, 99)), draw(st.integers(0, 99))),
        length=length,
        crawford=length > 0 and draw(st.booleans()),
        jacoby=length == 0 and draw(st.booleans()),
        beavers=length == 0 and draw(st.booleans()),
        greatest_cube=2 ** draw(st.integers(0, 15)),
        at_bottom=draw(st.booleans()),
    )


@given(xgids())
def test_any_xgid_reads_back_as_it_was(xgid):
    assert parse_xgid(format_xgid(xgid)) == xgid


@given(xgids())
def test_turning_the_diagram_round_changes_nothing_but_the_diagram(xgid):
    turned = replace(xgid, at_bottom=not xgid.at_bottom)
    assert replace(parse_xgid(format_xgid(turned)), at_bottom=xgid.at_bottom) == xgid


@pytest.mark.parametrize(
    ("text", "position", "rest"),
    [
        (START_XGID, START, {"dice": (5, 2), "jacoby": True, "beavers": True}),
        (  # as gnubg 1.07 reads it: the player at the top is on roll and owns the cube
            "XGID=-a-a--E-C---dE---c-e-a--B-:1:-1:-1:00:2:1:0:5:10",
            "X=24:1,22:1,13:4,8:3,6:5,4:1; O=24:2,13:5,8:3,6:5",
            {"cube": 2, "owner": 0, "scores": (1, 2), "length": 5, "at_bottom": False},
        ),
        (
            "XGID=ab----D-C---cD---c-d----AB:0:0:1:D:3:2:1:7:10",
            "X=bar:2,24:1,13:4,8:3,6:4; O=bar:1,24:2,13:3,8:3,6:4",
            {"offers": 1, "scores": (3, 2), "length": 7, "crawford": True},
        ),
    ],
)
def test_an_xgid_says_what_other_programs_mean_by_it(text, position, rest):
    assert parse_xgid(text) == Xgid(position=parse_position(SHORT, position), **rest)
    assert parse_xgid(text.removeprefix("XGID=")) == parse_xgid(text)
    assert format_xgid(parse_xgid(text)) == text


def test_an_xgid_and_a_gnu_id_name_the_same_position():
    read = parse_xgid("XGID=-a-a--E-C---dE---c-e-a--B-:1:-1:-1:00:2:1:0:5:10")
    assert position_id(read.position) == "4HPwATDI5+ABJA"
    state = MatchState(cube=read.cube, owner=read.owner, length=read.length, scores=read.scores)
    assert match_id(state) == "AQGgABAAEAAE"


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        (0, "-b----E-C---eE---c-e----B", r"field 1 of an XGID \(position\) must be 26 of the characters"),
        (0, "-b----E-C---eE---c-e----Z-", r"field 1 of an XGID \(position\)"),
        (0, "Ab----E-C---eE---c-e----A-", "on the bar of the other side"),
        (0, "-b----E-C---eE---c-e----C-", "a side has 16 checkers"),
        (1, "x", r"field 2 of an XGID \(cube\) must be a whole number from 0 to 15, not 'x'"),
        (2, "2", r"field 3 of an XGID \(owner of the cube\)"),
        (3, "0", r"field 4 of an XGID \(turn\) must be 1"),
        (4, "70", r"field 5 of an XGID \(dice\) must be two dice, 00, D, B or R, not '70'"),
        (4, "٥٢", r"field 5 of an XGID \(dice\)"),
        (5, "-1", r"field 6 of an XGID \(score\)"),
        (7, "4", r"field 8 of an XGID \(rules\)"),
        (8, "7", r"field 8 of an XGID \(rules\) must be in a match 1 in the Crawford game"),
        (9, "10:1", "an XGID has 10 fields with colons between, .* has 11"),
    ],
)
def test_a_damaged_xgid_names_the_field_that_is_wrong(field, value, fault):
    fields = START_XGID.removeprefix("XGID=").split(":")
    fields[field] = value
    with pytest.raises(ValueError, match=fault):
        parse_xgid("XGID=" + ":".join(fields))


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"position": Position.from_points({13: 15}, {12: 15})}, "both sides stand on own point 13"),
        ({"dice": (3, 7)}, "dice are two numbers"),
        ({"dice": (3, 1), "offers": 1}, "an offer is 0 to 3, before the roll"),
        ({"cube": 6}, "a cube is a power of two"),
        ({"owner": -1}, "the cube's owner"),
        ({"scores": (-1, 0)}, "not below 0"),
        ({"crawford": True}, "the Crawford game is of a match"),
        ({"length": 3, "jacoby": True}, "Jacoby and beavers are of money games"),
    ],
)
def test_what_no_xgid_can_hold_is_refused(wrong, fault):
    with pytest.raises(ValueError, match=fault):
        Xgid(**{"position": Position.start(SHORT)} | wrong)


@pytest.mark.parametrize(
    ("text", "thrown"),
    [
        (START, None),
        (" 4HPwATDgc/ABMA ", None),
        ("4HPwATDgc/ABMA:QYkqASAAIAAA", (5, 2)),
        ("4HPwATDgc/ABMA:AQGgABAAEAAE", None),
        (START_XGID, (5, 2)),
        ("-b----E-C---eE---c-e----B-:0:0:-1:00:0:0:0:0:10", None),
    ],
)
def test_a_position_may_be_typed_in_any_notation(text, thrown):
    assert position_text(read_position(SHORT, text).position) == START
    assert read_position(SHORT, text).dice == thrown


@pytest.mark.parametrize(
    ("rules", "text", "fault"),
    [
        (LONG, "4HPwATDgc/ABMA", "a GNU ID is of short nardy, not of variant long"),
        (LONG, START_XGID, "an XGID is of short nardy, not of variant long"),
        (SHORT, "XGID=", "an XGID has 10 fields"),
        (SHORT, "4HPwATDgc/ABM", "a position reads like"),
        (SHORT, "4HPwATDgc/ABMA:QYkqASAAIA", "a position reads like"),
        (variant("short", checkers=3, start="24:3"), "4HPwATDgc/ABMA", "own has 15 checkers, variant short has 3"),
    ],
)
def test_what_is_no_position_of_this_game_is_refused(rules, text, fault):
    with pytest.raises(ValueError, match=fault):
        read_position(rules, text)
