"""Our record of games: written, read and replayed to the same end; refused where it cannot be."""

import hashlib
import json
from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from played import played_game, played_games
from test_generator import rule_sheets

from nardy_rl.formats.heading import Heading
from nardy_rl.formats.played import Part, Replay
from nardy_rl.formats.record import RecordWriter, read_record
from nardy_rl.rules.variant import VARIANTS, variant

LONG, SHORT, GULBAR = variant("long"), variant("short"), variant("gulbar")


def record(heading, games):
    writer = RecordWriter(heading)
    return writer.opening() + "".join(map(writer.game, games)) + writer.closing()


def read(text):
    heading, games = read_record(text.splitlines())
    return heading, list(games)


@pytest.mark.parametrize("name", VARIANTS)
def test_games_of_a_variant_are_read_as_they_were_written(name):
    heading = Heading(variant(name), ("runs/one/best.pt@1", "Игрок: 2, «Б»"), "seed 5; all of it")
    games = played_games(heading.variant, 6)
    assert read(record(heading, games)) == (heading, games)


@given(rules=rule_sheets(), key=st.integers(0, 2**60))
@settings(max_examples=20, deadline=None)
def test_a_game_under_any_rule_sheet_is_read_as_it_was_written(rules, key):
    game = played_game(rules, key, 1500)
    assume(game is not None)
    heading = Heading(rules, ("a", "b"))
    assert read(record(heading, [game])) == (heading, [game])


def test_a_variant_is_its_name_and_the_options_that_differ():
    def rule_lines(rules):
        return record(Heading(rules, ("a", "b")), []).split("\n\n")[0].splitlines()[3:]

    assert rule_lines(LONG) == ["variant: long"]
    assert rule_lines(variant("long", head=2)) == ["variant: long", "head: 2"]
    own = replace(variant("mad_gulbar_a", chain_extra_roll=True, start="24:14,20:1"), name="Своя игра")
    assert rule_lines(own) == [
        "variant: Своя игра",
        "base: mad_gulbar_a",
        "start: 24:14,20:1",
        "chain_extra_roll: true",
    ]


def test_the_presets_are_those_of_version_1():
    """A record names a preset and trusts it to stay as it is: whoever changes one has to raise the version.

    An option that is new, and at its default stands for how it was, needs no more than a new number here.
    """
    sheets = json.dumps([variant(name).to_dict() for name in VARIANTS], sort_keys=True)
    assert hashlib.sha256(sheets.encode()).hexdigest()[:16] == "c591e90fe2a3a51b"


def test_a_record_without_games_is_one():
    heading, games = read(record(Heading(LONG, ("a", "b")), []))
    assert (heading.note, games) == ("", [])


def test_comments_blank_lines_and_other_line_ends_may_stand_anywhere_in_the_games():
    heading, games = Heading(SHORT, ("a", "b")), played_games(SHORT, 2)
    opening, *rest = record(heading, games).split("\n\n")
    loose = "# from somewhere\r\n" + opening.replace("\n", "\r\n") + "\r\n\r\n"
    loose += "\r\n\r\n".join(line + "   " for part in rest for line in part.split("\n"))
    loose = loose.replace("game 2", "# the second\r\ngame 2")
    assert read(loose) == (heading, games)


LINES = record(Heading(GULBAR, ("a", "b")), played_games(GULBAR, 2)).splitlines()


def damaged(number, *instead):
    return "\n".join([*LINES[: number - 1], *instead, *LINES[number:]])


FINISHES = next(number for number, line in enumerate(LINES, 1) if "finishes" in line)
RESULT = next(number for number, line in enumerate(LINES, 1) if "wins" in line)


@pytest.mark.parametrize("number", range(1, len(LINES) + 1))
def test_a_record_that_lacks_a_line_is_refused(number):
    if not LINES[number - 1] and number > 6:
        return  # among games blank lines mean nothing
    with pytest.raises(ValueError, match=r"^(line \d+: .+|this is no record: .+)$"):
        read(damaged(number))


@pytest.mark.parametrize("number", range(1, len(LINES)))
def test_a_record_that_breaks_off_is_refused(number):
    with pytest.raises(ValueError, match=r"breaks off|heading names no"):
        read("\n".join(LINES[:number]))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "this is no record: the first line of one is nardy_rl record 1"),
        ("\x7fELF", "this is no record"),
        ("nardy_rl record 2\nA: a", "this is a record of version 2; only version 1 is known here"),
        ("nardy_rl record 1\nA: a\nB: b\n\n", "line 4: the heading names no variant"),
        ("nardy_rl record 1\nA: a\nA: b\n\n", "line 3: A is named twice"),
        ("nardy_rl record 1\nA\n\n", "line 2: cannot read 'A' in the heading"),
        (
            "nardy_rl record 1\nA: a\nB: b\nvariant: chess\n\n",
            "line 5: the heading: unknown variant 'chess'; known are",
        ),
        ("nardy_rl record 1\nA: a\nB: b\nvariant: long\nhed: 2\n\n", "unknown option 'hed' of variant long"),
        ("nardy_rl record 1\nA: a\nB: b\nvariant: long\nhead: two\n\n", "option head .* from 0 to 4; got 'two'"),
        ("nardy_rl record 1\nA: a\nB: b\nvariant: long\nhit: yes\n\n", "option hit .* true or false; got 'yes'"),
        (damaged(6, "game 2"), "line 6: here begins game 1, or the record ends, but there stands 'game 2'"),
        (damaged(7, " 1. A 7-1: 24/23"), "line 7: game 1: cannot read '1. A 7-1: 24/23'; a roll reads like"),
        (damaged(7, " 2. A 6-5: 24/13"), r"line 7: game 1: '2. A 6-5: 24/13' must have the number 1. before it"),
        (damaged(7, "A 6-5: 24/13"), "line 7: game 1: 'A 6-5: 24/13' must have the number 1. before it"),
        (damaged(7, "1. A goes on 6-5: 24/13"), "must have no number before it"),
        (damaged(7, "A goes on 6-5: 24/13"), "line 7: game 1: A goes on dice before any are rolled"),
        (damaged(7, "1. A 6-5-4: 24/13"), "line 7: game 1: a roll is two dice, not 6-5-4"),
        (damaged(7, "1. A 6-5: 24/12"), "line 7: game 1: '24/12' is no legal play of 6-5; among the 1 legal: "),
        (damaged(7, "1. A 6-5: pass"), "line 7: game 1: a pass is not legal: the roll can be played"),
        (damaged(7, "A wins 1 point (oin)"), "line 7: game 1: the game has no moves"),
        (damaged(RESULT - 1, "A wins 1 point (oin)"), "the game ends before anybody has won it"),
        (damaged(RESULT, "A wins 9 points (oin)"), f"line {RESULT}: game 1: 'A wins 9 points .*', but by the rules"),
        (damaged(RESULT, "999. A 6-5: pass"), "must have the number"),
        (damaged(len(LINES), "end: 2 games, A 0 points, B 0 points"), "but the games are 2 with"),
        ("\n".join([*LINES, "game 3"]), "something follows the end of the record"),
    ],
)
def test_a_damaged_record_is_refused_in_a_line_that_says_where(text, fault):
    with pytest.raises(ValueError, match=fault) as caught:
        read(text)
    assert "\n" not in str(caught.value)


def test_dice_that_are_passed_on_are_played_by_whom_and_as_the_rules_say():
    line = LINES[FINISHES - 1]
    player = line.split()[0]
    other = "AB".replace(player, "")
    for wrong, fault in (
        (line.replace(player, other, 1), f"{other} finishes .*, but by the rules {player} finishes"),
        (line.replace("finishes", "goes on"), f"{player} goes on .*, but by the rules {player} finishes"),
        (line.replace("finishes", "finishes 1-1-1-1-1-1-1:#").split("#")[0] + " pass", ".*, but by the rules"),
    ):
        with pytest.raises(ValueError, match=f"line {FINISHES}: game .: {fault}"):
            read(damaged(FINISHES, wrong))
    # Whoever leaves them out does not get away with it.
    with pytest.raises(ValueError, match=f"line {FINISHES}: game .: .* rolls .*, but by the rules {player} finishes"):
        read(damaged(FINISHES))


def test_the_turn_of_the_other_player_is_refused():
    replay = Replay(LONG)
    replay.add(0, Part.ROLL, (6, 5), "24/13")
    with pytest.raises(ValueError, match="A rolls 6-5, but by the rules B rolls"):
        replay.add(0, Part.ROLL, (6, 5), "24/13")


def test_after_the_end_nothing_is_played():
    replay = Replay(variant("long", checkers=1, start="1:1"))
    replay.add(1, Part.ROLL, (2, 1), "1/off")
    with pytest.raises(ValueError, match="B has already won"):
        replay.add(0, Part.ROLL, (2, 1), "1/off")


def test_where_the_lottery_is_the_first_roll_it_is_no_double():
    with pytest.raises(ValueError, match="in which dice differ, not 3-3"):
        Replay(SHORT).add(0, Part.ROLL, (3, 3), "24/21(2) 13/10(2)")
    Replay(LONG).add(0, Part.ROLL, (3, 3), "24/21(2) 21/18(2)")


def test_p22_first_turns_are_known_when_a_game_is_read():
    """Its source: github.com/DmitriiNov/long-nardy-engine, commit fe3a2e1: later 4-4 and 6-6 got the exception."""
    replay = Replay(LONG)
    replay.add(0, Part.ROLL, (2, 2), "24/16")
    replay.add(1, Part.ROLL, (2, 2), "24/16")
    with pytest.raises(ValueError, match="no legal play"):
        replay.add(0, Part.ROLL, (6, 6), "24/18(2)")
    replay = Replay(LONG)
    replay.add(0, Part.ROLL, (6, 6), "24/18(2)")


def test_p03_what_a_player_cannot_play_his_opponent_finishes():
    """The seeds' example of a chain: A's first 1-1 stops before the threes, and B plays what he can of the rest."""
    replay = Replay(variant("mad_gulbar_a"))
    replay.add(0, Part.ROLL, (1, 1), "24/22")
    replay.add(0, Part.GOES_ON, (2, 2), "22/18")
    replay.add(0, Part.GOES_ON, (3, 3), "18/15")
    replay.add(1, Part.FINISHES, (3,), "24/21")
    with pytest.raises(ValueError, match="B rolls 6-1, but by the rules B finishes 4-4"):
        replay.add(1, Part.ROLL, (6, 1), "24/17")
