"""Every case of the turn protocol, one test each: the compiled state machine and the slow reference must both agree."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import reference_protocol
from test_rules_cases import parse, rules_of, side, sides

from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.plays import FIRST_TURNS
from nardy_rl.rules.position import HEAD, OFF
from nardy_rl.rules.protocol import Standing, after_play, before_roll, begin, list_plays, take_dice
from nardy_rl.rules.variant import Variant, variant
from nardy_rl.rules.words import unpack

LINES = (Path(__file__).parent / "cases" / "protocol.txt").read_text(encoding="utf-8").splitlines()
CASES = [parse(line) for line in LINES if line and not line.startswith("#")]
CONTEXTS = {"first": "starter", "second": "second", "later": None}
ROOM = new_plays()


def dice_of(text: str) -> tuple:
    return tuple(int(die) for die in text.replace("-", ",").split(",") if die)


def steps_of(code: int) -> tuple:
    """4 bits a value, as a standing keeps them, spelt out."""
    return tuple(value for value in range(1, 7) for _ in range((code >> (4 * value)) & 15))


def segment_dice(standing: Standing) -> tuple:
    return (standing.first, standing.second) if standing.second else (standing.first,) * standing.number


def compiled_ends(rules: Variant, standing: Standing, own: tuple, opp: tuple) -> set:
    """What `reference_protocol.ends` finds, found by the state machine: {(own, opp, dice to play next, who acts)}."""
    board, found = np.array([own, opp], np.int8), set()
    size, depth, left_over = list_plays(standing, board, rules.rules, ROOM)
    assert size > 0
    boards = []
    for index in range(size):
        boards.append(np.empty((2, 26), np.int8))
        unpack(ROOM.low[index], ROOM.high[index], board, rules.rules, boards[-1])
    for played in boards:
        mine, his = (tuple(row) for row in played.tolist())
        if mine[OFF] == rules.checkers:
            found.add((mine, his, (), "won"))
            continue
        following = after_play(standing, depth, left_over, own[HEAD] - mine[HEAD], rules.rules)
        if following.number and following.seat == standing.seat:
            found |= compiled_ends(rules, following, mine, his)
        else:
            dice = segment_dice(following) + steps_of(following.later) if following.number else ()
            found.add((mine, his, tuple(sorted(dice)), following))
    return found


def agreed_ends(rules: Variant, standing: Standing, turn: reference_protocol.Turn, own: tuple, opp: tuple) -> list:
    """All ends of what the player who acts has to play, [(End of the reference, Standing)]: both must find the same."""
    compiled = {
        (mine, his, dice, "won" if following == "won" else following.seat): following
        for mine, his, dice, following in compiled_ends(rules, standing, own, opp)
    }
    ends = {}
    for end in reference_protocol.ends(rules, turn, own, opp):
        acts = "won" if end.turn is None else end.turn.player
        dice = () if end.turn is None else tuple(sorted(sum(end.turn.groups, ())))
        ends[end.own, end.opp, dice, acts] = end
    assert compiled.keys() == ends.keys()
    return [(end, compiled[key]) for key, end in ends.items()]


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in CASES])
def test_protocol_of_the_rules_case(case):
    rules, dice = rules_of(case), dice_of(case["roll"])
    own, opp, first_turn = side(case["X"]), side(case["O"]), CONTEXTS[case["ctx"]]
    board = np.array([own, opp], np.int8)
    standing = take_dice(before_roll(FIRST_TURNS[first_turn], rules.rules), board, *dice, rules.rules, ROOM)
    turn = reference_protocol.begin(rules, starter=1 if first_turn == "second" else 0)
    turn = turn._replace(player=0, rolls=(0, 0) if first_turn else (9, 9))
    turn = reference_protocol.roll(rules, turn, own, opp, dice)

    ends = agreed_ends(rules, standing, turn, own, opp)
    finals = {end.own for end, _ in ends}
    assert len(ends) == case["n"]
    if "only" in case:
        assert finals == sides(case["only"])
    if "has" in case:
        assert sides(case["has"]) <= finals
    if "passed" in case:
        assert {sum(end.turn.groups, ()) if end.turn else () for end, _ in ends} == {dice_of(case["passed"])}
    if "next" in case:
        assert {whose for end in ends for whose in next_of(rules, case, *end)} == {case["next"]}


def next_of(rules: Variant, case: dict, end: reference_protocol.End, standing: Standing) -> set:
    """Who rolls next, or has won, once what was passed is played; that must be played as the case says."""
    if end.turn is None:
        return {"end:X"}
    if not end.turn.groups:
        assert standing.number == 0
        return {"XO"[end.turn.player]}
    replies = agreed_ends(rules, standing, end.turn, end.opp, end.own)
    if "reply" in case:
        assert {reply.own for reply, _ in replies} == sides(case["reply"])
    if "lost" in case:
        assert {reply.unplayed for reply, _ in replies} == {dice_of(case["lost"])}
    if "lostn" in case:
        assert {len(reply.unplayed) for reply, _ in replies} == {int(case["lostn"])}
    assert all(reply.turn is None or not reply.turn.groups for reply, _ in replies)
    return {"end:O" if reply.turn is None else "XO"[reply.turn.player] for reply, _ in replies}


def test_every_case_of_the_protocol_is_read():
    assert Counter(case["id"][0] for case in CASES) == {"G": 6, "A": 9, "M": 6, "P": 5}
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize(("rolls_before", "dice"), [(1, (5,) * 4), (2, (5,) * 4), (3, (5,) * 4 + (6,) * 4)])
def test_p03d_doubles_are_plain_in_a_players_first_three_rolls(rolls_before, dice):
    rules = variant("mad_gulbar_b", chain_grace_turns=3)
    own, opp = side("6:3,5:2,2:10"), side("20:15")
    # The other player's rolls do not count.
    standing = begin(0)._replace(rolls_0=rolls_before, rolls_1=9 - rolls_before)
    standing = take_dice(standing, np.array([own, opp], np.int8), 5, 5, rules.rules, ROOM)
    assert segment_dice(standing) + steps_of(standing.later) == dice
    turn = reference_protocol.begin(rules, 0)._replace(rolls=(rolls_before, 9 - rolls_before))
    turn = reference_protocol.roll(rules, turn, own, opp, (5, 5))
    assert sum(turn.groups, ()) == dice
    finals = {end.own for end, _ in agreed_ends(rules, standing, turn, own, opp)}
    assert (finals == sides("2:7,1:2|2:7,1:3")) == (len(dice) == 8)
