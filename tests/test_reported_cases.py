"""Failures that users of other nardy and backgammon programs reported, by case id: none of them may happen here.

Positions read `point:count`, `bar` and `off` included, what is missing from 15 is off. In the long game each side
counts its own path; in the short game both sides are written as the player on roll counts (`short`).
"""

import numpy as np
import pytest
import reference

from nardy_rl.rules.outcome import outcome
from nardy_rl.rules.plays import Play, legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import Variant, variant

LONG, SHORT = variant("long"), variant("short")


def points(text: str) -> dict:
    pairs = (part.split(":") for part in text.split(",") if part)
    return {point if point in ("bar", "off") else int(point): int(count) for point, count in pairs}


def long(own: str, opp: str) -> Position:
    return Position.from_points(points(own), points(opp))


def short(own: str, opp: str) -> Position:
    """Both sides by the numbers of the player on roll: an enemy checker on p stands on its own 25 - p."""
    turned = {key if key in ("bar", "off") else 25 - key: count for key, count in points(opp).items()}
    return Position.from_points(points(own), turned)


def plays_of(rules: Variant, position: Position, dice: tuple, first_turn: str | None = None) -> list[Play]:
    """The legal plays, which the slow reference finds as well, whichever die is named first."""
    plays = legal_plays(rules, position, dice, first_turn)
    own, opp = map(tuple, position.array.tolist())
    expected, unused = reference.plays(rules, own, opp, dice, first_turn)
    assert sorted(tuple(map(tuple, play.after.array.tolist())) for play in plays) == sorted(expected)
    assert all(play.unused == unused for play in plays)
    assert {play.after for play in plays} == {p.after for p in legal_plays(rules, position, dice[::-1], first_turn)}
    return plays


def finals(plays: list[Play]) -> set[str]:
    """Where the mover's checkers stand after each play; the enemy's are left out."""
    return {side_text(play.after.array[0]) for play in plays}


def side_text(row: np.ndarray) -> str:
    names = {25: "bar"}
    return ",".join(f"{names.get(point, point)}:{row[point]}" for point in range(25, 0, -1) if row[point])


def dice_used(rules: Variant, plays: list[Play], dice: tuple) -> int:
    total = 2 if dice[0] != dice[1] else rules.doubles_moves
    (unused,) = {len(play.unused) for play in plays}
    return total - unused


OPENING_COUNTS = {
    (1, 1): 42, (2, 1): 15, (2, 2): 75, (3, 1): 16, (3, 2): 17, (3, 3): 73, (4, 1): 14, (4, 2): 18, (4, 3): 17,
    (4, 4): 52, (5, 1): 8, (5, 2): 8, (5, 3): 9, (5, 4): 9, (5, 5): 4, (6, 1): 10, (6, 2): 14, (6, 3): 14,
    (6, 4): 14, (6, 5): 7, (6, 6): 11,
}  # fmt: skip


@pytest.mark.parametrize(("dice", "count"), OPENING_COUNTS.items())
def test_p01_no_combination_of_an_opening_roll_is_left_out(dice, count):
    #  13 14 15 16 17 18    19 20 21 22 23 24
    #   X  .  .  .  O  .     O  .  .  .  .  X     X: 5 on 13, 3 on 8, 5 on 6, 2 on 24
    #   O  .  .  .  X  .     X  .  .  .  .  O     O: 5 on 19, 3 on 17, 5 on 12, 2 on 1
    #  12 11 10  9  8  7     6  5  4  3  2  1
    position = short("24:2,13:5,8:3,6:5", "19:5,17:3,12:5,1:2")
    assert len(plays_of(SHORT, position, dice)) == count


@pytest.mark.parametrize(
    ("loser", "value"),
    [
        ("24:7,23:7,off:1", 1),
        ("24:8,13:7", 2),
        ("24:14,bar:1", 3),
        ("6:1,24:14", 3),
        ("7:1,24:14", 2),
        ("24:13,bar:1,off:1", 1),
    ],
)
def test_p02_double_and_triple_wins_of_the_short_game_are_paid(loser, value):
    """The loser stands as the winner counts: the winner's home is 6…1."""
    assert outcome(SHORT, short("", loser))[1] == value


@pytest.mark.parametrize(("loser", "value"), [("20:15", 2), ("24:3,6:12", 2), ("6:15", 2), ("20:14,off:1", 1)])
def test_p02_a_long_game_is_worth_two_while_the_loser_has_none_off(loser, value):
    assert outcome(LONG, long("", loser))[1] == value


HOME_OPP = "24:3,23:3,22:3,21:3,20:2,19:1"  # the enemy all at home, out of the way

# name: (variant, own, opp, dice, dice used, all positions of the mover afterwards)
SETS = {
    "p04 each die of a bear-off is judged on its own": (
        SHORT, "6:1,3:1", HOME_OPP, (5, 3), 2, {"1:1", "3:1"}),
    "p05 the last checker comes home and one bears off in the same turn": (
        SHORT, "7:1,6:2,3:12", "24:2,22:3,20:5,19:5", (6, 1), 2, {"6:2,3:11,2:1,1:1", "6:1,5:1,3:12,1:1", "6:2,3:12"}),
    "p06 a lower checker may not use the larger die while higher ones are blocked": (
        SHORT, "6:2,5:1,1:9", "21:5,20:6,4:2,3:2", (3, 2), 2, {"6:2,1:9"}),
    "p07 a blocked checker on 6 still stops bearing off from 3 with a 4": (
        LONG, "6:1,3:1", "24:13,14:2", (4, 1), 2, {"3:1,1:1"}),
    "p08 a die larger than the point bears nothing off while 6 is held": (
        LONG, "6:2,3:5,1:8", "24:3,23:12", (5, 4), 2, {"3:5,2:1,1:9"}),
    "p09 a double bears off four checkers": (
        SHORT, "2:1,1:6", HOME_OPP, (1, 1), 4, {"2:1,1:2", "1:4"}),
    "p09 a double ends with the game": (
        SHORT, "3:1,2:1,1:1", HOME_OPP, (6, 6), 3, {""}),
    "p10 three fives are free after the entry": (
        SHORT, "bar:1,13:4,8:3,6:7", "21:2,19:2,18:3,17:2,12:4,1:2", (5, 5), 4, {
            "13:4,10:1,8:2,6:7,3:1", "15:1,13:3,8:3,6:7,3:1", "20:1,13:2,8:4,6:7,3:1", "15:1,13:4,8:1,6:7,3:2",
            "20:1,13:3,8:2,6:7,3:2", "20:1,13:4,6:7,3:3", "13:4,8:3,6:7,5:1", "13:3,10:1,8:4,6:7",
            "15:1,13:2,8:5,6:7", "20:1,13:1,8:6,6:7"}),
    "p12 both dice are forced where one order with one checker uses them": (
        SHORT, "24:1,7:1,5:13", "20:4,19:2,18:3,14:2,3:2,2:2", (5, 1), 2, {"24:1,5:13,1:1"}),
    "p13 the larger die is forced where either can be played but not both": (
        SHORT, "12:1,1:14", "23:3,19:5,18:5,2:2", (6, 4), 1, {"6:1,1:14"}),
    "p14 the larger die is forced in the long game too": (
        LONG, "20:14,8:1", "24:2,17:1,15:1,7:6,4:5", (4, 1), 1, {"20:14,4:1"}),
    "p15 with two on the bar and one point open, one enters and nothing else moves": (
        SHORT, "bar:2,13:8,6:5", "20:5,19:2,12:3,8:3,1:2", (6, 2), 1, {"bar:1,23:1,13:8,6:5"}),
    "p16 nothing bears off while a checker is on the bar": (
        SHORT, "bar:1,6:1,5:2,4:3,3:3,2:3,1:2", "24:2,22:3,20:5,19:4", (6, 5), 0, {"bar:1,6:1,5:2,4:3,3:3,2:3,1:2"}),
    "p21 one checker a turn leaves a full head": (
        LONG, "24:13,19:1,16:1", "24:14,20:1", (5, 2), 2, {
            "24:13,17:1,11:1", "24:12,22:1,19:1,11:1", "24:12,22:1,16:1,14:1", "24:12,19:2,14:1", "24:13,14:2",
            "24:12,19:1,17:1,16:1", "24:13,19:1,9:1"}),
    "p21 one checker a turn leaves a head of two": (
        LONG, "24:2,10:13", "24:5,9:10", (3, 2), 2, {
            "24:1,19:1,10:13", "24:2,10:12,5:1", "24:1,22:1,10:12,7:1", "24:2,10:11,8:1,7:1"}),
    "p22 a third turn with 6-6 has no head exception": (
        LONG, "24:14,16:1", "24:14,16:1", (6, 6), 2, {"24:13,18:1,10:1"}),
}  # fmt: skip


@pytest.mark.parametrize("name", SETS)
def test_reported_position_has_exactly_these_plays(name):
    rules, own, opp, dice, used, expected = SETS[name]
    position = long(own, opp) if rules is LONG else short(own, opp)
    plays = plays_of(rules, position, dice)
    assert len(plays) == len(expected)
    assert finals(plays) == expected
    assert dice_used(rules, plays, dice) == used


def test_p11_a_double_may_not_pass_through_a_closed_point():
    #  13 14 15   X holds 14, O holds 13: no 1 can leave 14, whatever the distance
    plays = plays_of(SHORT, short("14:2,12:2,8:6,6:5", "24:8,13:2,1:5"), (1, 1))
    assert len(plays) == 43
    assert {int(play.after.array[0, 14]) for play in plays} == {2}
    assert max(int(play.after.array[0, 11]) for play in plays) == 2


def test_p15_without_checkers_on_the_bar_the_same_board_offers_normal_moves():
    plays = plays_of(SHORT, short("15:2,13:8,6:5", "20:5,19:2,12:3,8:3,1:2"), (6, 2))
    assert all(len(play.moves) == 2 for play in plays)
    assert any(move.source < 25 for play in plays for move in play.moves)


EDGE = "24:8,23:1,22:1,21:1,20:1,3:1,1:2"


@pytest.mark.parametrize(
    ("opp", "prime_rule", "count", "built"),
    [("24:15", "ahead", 17, False), ("24:14,4:1", "ahead", 17, True), ("24:15", "off", 18, True)],
)
def test_p17_six_in_a_row_over_my_own_1_and_24_is_a_block(opp, prime_rule, count, built):
    #  my  1 24 23 22 21 20   are the enemy's  13 12 11 10 9 8: his checker on 4 is ahead of them, his head is not
    plays = plays_of(variant("long", prime_rule=prime_rule), long("24:9,23:1,22:1,21:1,3:2,1:1", opp), (4, 2))
    assert len(plays) == count
    assert dice_used(LONG, plays, (4, 2)) == 2
    assert (EDGE in finals(plays)) == built


@pytest.mark.parametrize(("opp", "count", "built"), [("24:15", 42, False), ("24:14,10:1", 44, True)])
def test_p18_a_block_is_judged_from_its_front(opp, count, built):
    #  my  11 10 9 8 7 6   are the enemy's  23 … 18: his head is behind them, his 10 is ahead
    plays = plays_of(LONG, long("24:8,15:1,11:2,10:1,9:1,8:1,7:1", opp), (5, 4))
    blocks = {"24:8,11:2,10:1,9:1,8:1,7:1,6:1", "24:7,20:1,15:1,11:1,10:1,9:1,8:1,7:1,6:1"}
    assert len(plays) == count
    assert dice_used(LONG, plays, (5, 4)) == 2
    assert blocks & finals(plays) == (blocks if built else set())


@pytest.mark.parametrize(
    ("options", "count", "built"),
    [({}, 35, False), ({"prime_check": "turn_end"}, 36, True), ({"prime_rule": "off"}, 39, True)],
)
def test_p19_a_block_made_and_broken_within_a_turn_is_judged_as_the_option_says(options, count, built):
    #  13/10 makes 11 10 9 8 7 6, 10/9 breaks it; 13/12 first is closed by the enemy's head
    plays = plays_of(variant("long", **options), long("24:8,13:1,11:2,9:1,8:1,7:1,6:1", "24:15"), (3, 1))
    assert len(plays) == count
    assert dice_used(LONG, plays, (3, 1)) == 2
    assert ("24:8,11:2,9:2,8:1,7:1,6:1" in finals(plays)) == built


@pytest.mark.parametrize(
    ("first_turn", "die", "used", "expected"),
    [
        ("starter", 6, 2, {"24:13,18:2"}),
        ("starter", 5, 4, {"24:14,4:1"}),
        ("starter", 4, 4, {"24:13,16:2"}),
        ("starter", 3, 4, {"24:13,21:1,15:1", "24:13,18:2"}),
        ("starter", 2, 4, {"24:14,16:1"}),
        ("starter", 1, 4, {"24:14,20:1"}),
        (None, 6, 1, {"24:14,18:1"}),
        (None, 4, 2, {"24:14,16:1"}),
        (None, 3, 3, {"24:14,15:1"}),
    ],
)
@pytest.mark.parametrize("head_exception", ["blocked", "d346"])
def test_p20_the_exception_of_the_opening_doubles_lasts_the_whole_turn(head_exception, first_turn, die, used, expected):
    rules = variant("long", head_exception=head_exception)
    plays = plays_of(rules, long("24:15", "24:15"), (die, die), first_turn)
    assert finals(plays) == expected
    assert len(plays) == len(expected)
    assert dice_used(rules, plays, (die, die)) == used


@pytest.mark.parametrize(
    ("rules", "position", "dice", "counts"),
    [
        (LONG, long("24:10,20:1,17:2,11:1,9:1", "24:11,16:1,14:1,10:1,3:1"), (6, 3), (21, 9)),
        (LONG, long("24:10,20:1,17:2,11:1,9:1", "24:11,16:1,14:1,10:1,3:1"), (2, 2), (10, 4)),
        (SHORT, short("24:1,21:1,13:4,8:4,6:5", "20:1,19:4,17:4,12:4,1:2"), (6, 2), (18, 17)),
    ],
)
def test_p26_both_seats_see_the_same_game(rules, position, dice, counts):
    assert tuple(len(plays_of(rules, seen, dice)) for seen in (position, position.swapped())) == counts
    assert position.swapped() != position
    assert position.swapped().swapped() == position


def test_p36_a_turn_with_711_plays_lists_every_one_of_them():
    plays = plays_of(SHORT, short("24:1,22:2,20:2,18:1,16:2,14:1,12:2,10:2,8:2", "1:15"), (1, 1))
    assert len(plays) == 711
    assert len({play.after for play in plays}) == 711
