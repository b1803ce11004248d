"""Every case of the rules, one test each, named by its id: the public API and the slow reference must both agree."""

from collections import Counter
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path

import pytest
import reference

from nardy_rl.rules.match import Cube, Match, next_starter
from nardy_rl.rules.outcome import outcome
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.steps import illegal_prime
from nardy_rl.rules.variant import RulesUnpublishedError, Variant, variant
from nardy_rl.rules.words import occupancy

ROLLS = [(larger, smaller) for smaller, larger in combinations_with_replacement(range(1, 7), 2)]
DOUBLES = {(3, 3), (4, 4), (6, 6)}
# Both sides stand on one point in these: the reference can answer them, the package must refuse them.
IMPOSSIBLE = {"L13", "L13b", "B7"}
NUMBERED = {"n", "points", "illegal", "cube", "jacoby"}


def parse(line: str) -> dict:
    name, *parts = line.strip().split("; ")
    case: dict = {"id": name}
    for part in parts:
        key, found, value = part.partition("=")
        if found:
            case[key] = int(value) if key in NUMBERED else value
        else:
            case["text"] = part
    return case


CASES = [
    parse(line)
    for line in (Path(__file__).parent / "cases" / "rules.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def cases(letters: str) -> list:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["id"][0] in letters]


def side(text: str) -> tuple:
    """`24:14,bar:1` as 26 counts; what is missing from 15 is off."""
    counts = [0] * 26
    for part in filter(None, text.split(",")):
        point, count = part.split(":")
        counts[{"off": 0, "bar": 25}[point] if point in ("off", "bar") else int(point)] = int(count)
    counts[0] = 15 - sum(counts[1:])
    return tuple(counts)


def sides(text: str) -> set:
    return {side(part) for part in text.split("|")}


def rules_of(case: dict) -> Variant:
    options: dict = {}
    for part in filter(None, case.get("opt", "").split(",")):
        option, value = part.split(":")
        options[option] = int(value) if value.isdigit() else value
    if "rule" in case:
        options["prime_rule"] = case["rule"]
    return variant(case.get("v", "long"), **options)


def found_by_both(rules: Variant, own: tuple, opp: tuple, dice: tuple, first_turn: str | None) -> tuple[set, tuple]:
    """The afterstates and the unused dice, on which the compiled generator and the reference agree."""
    found = legal_plays(rules, Position([own, opp]), dice, first_turn)
    afterstates = [tuple(map(tuple, play.after.array.tolist())) for play in found]
    assert len(set(afterstates)) == len(afterstates)
    expected, unused = reference.plays(rules, own, opp, dice, first_turn)
    assert set(afterstates) == expected
    assert {play.unused for play in found} == {unused}
    return expected, unused


@pytest.mark.parametrize("case", cases("LBS"))
def test_plays_of_the_rules_case(case):
    rules = rules_of(case)
    dice = tuple(int(die) for die in case["roll"].split("-"))
    first_turn = {"first": "starter", "second": "second", "later": None}[case["ctx"]]
    own, opp = side(case["X"]), side(case["O"])
    if case["id"] in IMPOSSIBLE:
        with pytest.raises(ValueError, match="both sides stand on own point"):
            legal_plays(rules, Position([own, opp]), dice, first_turn)
        afterstates, unused = reference.plays(rules, own, opp, dice, first_turn)
    else:
        afterstates, unused = found_by_both(rules, own, opp, dice, first_turn)
    finals = {own for own, _ in afterstates}
    assert len(afterstates) == case["n"]
    if "only" in case:
        assert finals == sides(case["only"])
    if "has" in case:
        assert sides(case["has"]) <= finals
    if "not" in case:
        assert not sides(case["not"]) & finals
    if "unused" in case:
        assert unused == tuple(int(die) for die in case["unused"].split(",") if die)


@pytest.mark.parametrize("case", cases("P"))
def test_block_of_the_rules_case(case):
    rules = rules_of(case)
    own, opp = side(case["X"]), side(case["O"])
    low = sum(count << (4 * point) for point, count in enumerate(own[:16]))
    high = sum(count << (4 * point) for point, count in enumerate(own[16:]))
    enemies = sum(1 << point for point in range(25) if opp[point]) | 1 << 25
    assert illegal_prime(occupancy(low, high), enemies, high, rules.rules) == case["illegal"]
    assert reference.illegal_block(rules, own, opp) == case["illegal"]


@pytest.mark.parametrize("case", cases("R"))
def test_result_of_the_rules_case(case):
    if "refused double" in case.get("text", ""):
        assert Cube(int(case["text"].split()[-1]), owner=0).dropped() == (case["class"], case["points"])
        return
    rules = replace(rules_of(case), jacoby=bool(case.get("jacoby")))
    cube = Cube(case["cube"], owner=1) if "cube" in case else Cube()
    won, points = outcome(rules, Position([side(""), side(case["loser"])]), cube=cube)
    assert points == case["points"]
    assert won == case.get("class", won)


def test_every_case_of_the_rules_is_read():
    assert Counter(case["id"][0] for case in CASES) == {"L": 35, "B": 10, "S": 8, "P": 11, "R": 14}
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_long_opening_rolls_have_one_play_each_except_3_3():
    """Rules 10, L-open."""
    rules = variant("long")
    for roll in ROLLS:
        afterstates, unused = found_by_both(rules, side("24:15"), side("24:15"), roll, "starter")
        assert len(afterstates) == (2 if roll == (3, 3) else 1), roll
        assert unused == ((6, 6) if roll == (6, 6) else ()), roll


SHORT_OPENING = """1-1:42 2-1:15 2-2:75 3-1:16 3-2:17 3-3:73 4-1:14 4-2:18 4-3:17 4-4:52 5-1:8 5-2:8 5-3:9 5-4:9 5-5:4
    6-1:10 6-2:14 6-3:14 6-4:14 6-5:7 6-6:11"""


@pytest.mark.parametrize("text", SHORT_OPENING.split())
def test_short_opening_roll_has_its_number_of_plays(text):
    """Rules 10, S-open."""
    roll, count = text.split(":")
    start = side("24:2,13:5,8:3,6:5")
    afterstates, unused = found_by_both(variant("short"), start, start, tuple(map(int, roll.split("-"))), None)
    assert len(afterstates) == int(count)
    assert unused == ()


def blocked_beyond_the_doubles(starter: str) -> dict[tuple, int]:
    """The second player's first rolls that one head checker cannot play, with the steps it makes before it stops."""
    blocked = {}
    for roll in ROLLS:
        _, unused = found_by_both(variant("long"), side("24:15"), side(starter), roll, None)
        finals, _ = found_by_both(variant("long"), side("24:15"), side(starter), roll, "second")
        # The budget is two exactly where one is not enough, and a second checker then finds a move.
        assert any(own[24] == 13 for own, _ in finals) == bool(unused), roll
        if unused:
            blocked[roll] = (4 if roll[0] == roll[1] else 2) - len(unused)
    assert blocked.keys() >= DOUBLES
    assert blocked[4, 4] == (1 if starter == "24:14,4:1" else 2)
    return {roll: steps for roll, steps in blocked.items() if roll not in DOUBLES}


# Rules 3.3: where the starter's first roll leaves his checkers, and the further rolls of the second player that it
# stops, with the steps they make.
HEAD_TABLE = {
    "2-1 as 24:14,21:1": {(5, 5): 2},
    "2-2 5-3 6-2 as 24:14,16:1": {(5, 5): 3},
    "4-4 as 24:13,16:2": {(5, 5): 3},
    "3-3 as 24:13,21:1,15:1": {(5, 5): 2},
    "3-3 as 24:13,18:2": {},
    "5-5 as 24:14,4:1": {(6, 2): 1, (5, 3): 1, (2, 2): 3},
    "1-1 3-1 as 24:14,20:1": {},
    "3-2 4-1 as 24:14,19:1": {},
    "4-2 5-1 as 24:14,18:1": {},
    "6-6 as 24:13,18:2": {},
    "4-3 5-2 6-1 as 24:14,17:1": {},
    "5-4 6-3 as 24:14,15:1": {},
    "6-4 as 24:14,14:1": {},
    "6-5 as 24:14,13:1": {},
}


@pytest.mark.parametrize("row", HEAD_TABLE)
def test_second_player_is_blocked_as_in_the_head_table_after(row):
    rolls, _, final = row.partition(" as ")
    for roll in rolls.split():
        dice = tuple(map(int, roll.split("-")))
        afterstates, _ = found_by_both(variant("long"), side("24:15"), side("24:15"), dice, "starter")
        assert side(final) in {own for own, _ in afterstates}
    assert blocked_beyond_the_doubles(final) == HEAD_TABLE[row]


def test_head_table_knows_every_first_roll_of_the_starter():
    rolls = [roll for row in HEAD_TABLE for roll in row.partition(" as ")[0].split()]
    assert sorted(set(rolls)) == sorted(f"{larger}-{smaller}" for larger, smaller in ROLLS)


def test_c1_only_the_owner_of_the_cube_may_double_or_either_player_while_it_is_centred():
    rules = variant("short", cube=True)
    assert [Cube().may_double(rules, seat) for seat in (0, 1)] == [True, True]
    assert [Cube(2, owner=1).may_double(rules, seat) for seat in (0, 1)] == [False, True]
    assert not Cube().may_double(variant("short"), 0)
    assert not Cube(64, owner=0).may_double(rules, 0)


def test_c2_a_taken_double_doubles_the_value_and_gives_the_cube_to_the_taker():
    assert Cube(2, owner=0).accepted(taker=1) == Cube(4, owner=1)


def test_c3_the_first_game_after_match_point_is_played_without_the_cube_and_the_next_with_it():
    rules = variant("short", cube=True)
    crawford = Match(5, (3, 2)).after_game(rules, winner=0, points=1)
    assert crawford.crawford
    assert not any(crawford.may_double(rules, Cube(), seat) for seat in (0, 1))
    later = crawford.after_game(rules, winner=1, points=1)
    assert later.scores == (4, 3)
    assert not later.crawford
    assert later.may_double(rules, Cube(), 1)
    assert not later.after_game(rules, winner=1, points=1).crawford


def test_c4_a_match_to_one_point_never_offers_the_cube():
    rules = variant("short", cube=True)
    assert not any(Match(1).may_double(rules, Cube(), seat) for seat in (0, 1))


def test_a_match_ends_with_the_player_who_reaches_its_length_also_when_he_passes_it():
    assert Match(3).winner is None
    assert Match(3, (0, 2)).after_game(variant("short"), winner=1, points=3).winner == 1


@pytest.mark.parametrize(("choice", "starter"), [("lottery", None), ("winner", 1), ("alternate", 1)])
def test_next_game_is_started_by(choice, starter):
    """Rules 9, A3: seat 1 won the game that seat 0 began."""
    assert next_starter(variant("long", next_starter=choice), winner=1, starter=0) == starter


def test_x1_six_one_says_that_its_rules_are_unpublished_and_how_to_supply_them():
    with pytest.raises(RulesUnpublishedError, match=r"six_one.*unpublished.*load_variant"):
        variant("six_one")
