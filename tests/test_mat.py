"""Matches as .mat: read as they were written, and by GNU Backgammon as they were played."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from played import played_games

from nardy_rl.formats.gnu import MatchState, match_id, position_id
from nardy_rl.formats.heading import Heading
from nardy_rl.formats.mat import MatWriter, mat_names, read_mat
from nardy_rl.formats.xgid import Xgid, format_xgid
from nardy_rl.rules.dice import stream
from nardy_rl.rules.game import Game
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import VARIANTS, variant

SHORT = variant("short")
NAMES = "runs/2026-11-30_07-45-18_short/best.pt", "gnubg:0, at 0 plies"
GAMES = played_games(SHORT, 12, seed=9)
# Debian puts games where root's PATH does not look.
GNUBG = shutil.which("gnubg", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/games")
needs_gnubg = pytest.mark.skipif(GNUBG is None, reason="needs the program gnubg: apt-get install gnubg")


def written(games, names=NAMES, note="seed 9"):
    writer = MatWriter(Heading(SHORT, names, note))
    return writer.opening() + "".join(map(writer.game, games)) + writer.closing()


def read(text):
    heading, games = read_mat(text.splitlines())
    return heading, list(games)


def test_games_are_read_as_they_were_written():
    assert {game.kind for game in GAMES} == {"single", "gammon", "backgammon"}
    assert any(not decision.moves for game in GAMES for decision in game.decisions)
    assert {game.decisions[0].player for game in GAMES} == {0, 1}
    heading, games = read(written(GAMES))
    assert games == GAMES
    assert heading == Heading(SHORT, mat_names(NAMES))


def test_names_are_such_as_every_reader_takes_whole():
    assert mat_names(NAMES) == ("...45-18_short/best.pt", "gnubg 0 at 0 plies")
    assert mat_names(("same", "same")) == ("A same", "B same")
    assert mat_names(("x" * 40, "y" * 28 + "x" * 40)) == ("A ..." + "x" * 17, "B ..." + "x" * 17)
    assert mat_names((" : ", "a  b")) == ("?", "a b")
    assert all(len(name) <= 22 for name in mat_names(("z" * 99, "z" * 99)))


def test_a_row_is_wide_enough_for_any_play():
    """Readers tell the players apart by two blanks or more; older ones of gnubg read 127 characters of a line."""
    rows = [line for line in written(GAMES).splitlines() if ")" in line[:6]]
    assert max(map(len, rows)) < 80
    assert all("  " in row[5:].strip() for row in rows if row[5:].count(":") == 2)


@pytest.mark.parametrize(
    "rules", [*(variant(name) for name in VARIANTS if name != "short"), variant("short", koks=0),
              replace(SHORT, name="nackgammon", start="24:2,23:2,13:4,8:3,6:4")], ids=lambda rules: rules.name
)  # fmt: skip
def test_other_games_cannot_be_written(rules):
    with pytest.raises(ValueError, match=f"short nardy by its preset rules only, not of {rules.name}"):
        MatWriter(Heading(rules, ("a", "b")))


FOREIGN = """\
; [Site "somewhere"]

 3 point match

 Game 1
 gnubg : 0                      root : 0
  1)                             65: 24/18 18/13
  2) 62: 24/18 13/11             33: 13/10(2) 6/3(2)
"""


def test_what_others_write_is_read_too():
    """Empty cells, bar and off in words, moves in one or with their number, a match to a number of points."""
    text = written(GAMES[:2]).replace("Cannot Move", "").replace("25/", "bar/").replace("/0", "/off")
    text = text.replace(" 0 point match", "11 Point Match").replace("13/7 13/7", "13/7(2)")
    heading, games = read(text)
    assert games == GAMES[:2]
    assert heading.note == "11 point match"


TEXT = written(GAMES[:2])
LINES = TEXT.splitlines()


def at(start):
    """The number of the first line that begins so."""
    return next(number for number, line in enumerate(LINES, 1) if line.strip().startswith(start))


def damaged(number, *instead):
    return "\n".join([*LINES[: number - 1], *instead, *LINES[number:]])


second_row = LINES[at("2)") - 1]
half = second_row[:5] + " " * 34 + second_row[39:]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "this is no .mat file: it has no line like 5 point match"),
        (" 0 point match\n", "line 1: there is no game"),
        (damaged(at("Game 1") + 1, " one : 0 two : 0"), "here stand the players and their scores"),
        (
            damaged(at("Game 1") + 1, LINES[at("Game 1")].replace(": 0", ": 1", 1)),
            "the score before game 2 is . : ., not . : .",
        ),
        (damaged(at("Game 2"), " Game 3"), "here begins game 2, or the file ends, but there stands 'Game 3'"),
        (damaged(at("Game 2") + 1, " one : 0    two : 0"), "the players were .* before, not one and two"),
        (damaged(at("1)"), "  1) 65: 24/12"), f"line {at('1)')}: game 1: '24/12' is no legal play of 6-5"),
        (damaged(at("1)"), "  1) 66: 24/18(2) 13/7(2)"), "in which dice differ, not 6-6"),
        (damaged(at("1)"), "  1)  Doubles => 2"), "games with the doubling cube are not read: Doubles"),
        (damaged(at("1)"), "  1) something"), r"cannot read '1\) something'; a row reads like"),
        (damaged(at("2)"), half), f"line {at('2)')}: game 1: B rolls .*, but by the rules A rolls"),
        (damaged(at("Wins")), "game 1: cannot read 'Game 2'"),
        (damaged(at("Wins"), "      Wins 9 points"), "A wins 9, but by the rules . wins"),
        (damaged(at("Wins") - 1), "the game ends before anybody has won it|has already won|by the rules"),
        ("\n".join(LINES[:-1]), "the file breaks off in game 2"),
        ("\n".join(LINES[:-20]), "the file breaks off in game 2"),
        (FOREIGN, "the file breaks off in game 1"),
        (FOREIGN + "      Wins 1 point\n", "the game ends before anybody has won it"),
    ],
)
def test_a_damaged_file_is_refused_in_a_line_that_says_where(text, fault):
    with pytest.raises(ValueError, match=fault) as caught:
        read(text)
    assert "\n" not in str(caught.value)


def ask_gnubg(folder, *commands):
    """What gnubg prints when it does this."""
    script = folder / "commands"
    script.write_text("".join(f"{command}\n" for command in commands))
    with script.open() as commands_file:
        done = subprocess.run(
            [GNUBG, "-t", "-q", "-r"], stdin=commands_file, cwd=folder, env=os.environ | {"HOME": str(folder)},
            capture_output=True, text=True, timeout=240, check=True,
        )  # fmt: skip
    return done.stdout


def imported(folder, path):
    """A match as gnubg has it after `import mat`, and as it writes it again."""
    ask = "import gnubg, json; print('MATCH', json.dumps(gnubg.match(analysis=0, boards=1), default=str))"
    said = ask_gnubg(
        folder, "set jacoby off", f'import mat "{path}"', f">{ask}", f'export match mat "{folder / "again.mat"}"'
    )
    assert "WARNING" not in said
    assert "Unrecognised" not in said
    line = next(line for line in said.splitlines() if "MATCH {" in line)
    return json.loads(line.split("MATCH ", 1)[1]), (folder / "again.mat").read_text()


@needs_gnubg
def test_gnubg_reads_a_match_of_ours_with_the_same_players_scores_moves_and_results(tmp_path):
    path = tmp_path / "ours.mat"
    path.write_text(written(GAMES))
    match, again = imported(tmp_path, path)
    info = match["match-info"]
    assert (info["X"]["name"], info["O"]["name"]) == mat_names(NAMES)
    assert (info["match-length"], info["variation"]) == (0, "Standard")
    score = [0, 0]
    for game, theirs in zip(GAMES, match["games"], strict=True):
        told = theirs["info"]
        assert [told["score-X"], told["score-O"]] == score
        assert (told["winner"], told["points-won"], told["resigned"]) == ("XO"[game.winner], game.points, False)
        assert len(theirs["game"]) == len(game.decisions)
        check_moves(game, theirs["game"])
        score[game.winner] += game.points
    assert read(again)[1] == GAMES
    assert read(again)[0].names == mat_names(NAMES)


def check_moves(game, actions):
    first = game.decisions[0]
    replayed = Game.from_position(SHORT, Position.start(SHORT), 0, dice=first.dice, first_turn="starter")
    for number, (decision, action) in enumerate(zip(game.decisions, actions, strict=True), 1):
        assert (action["player"], tuple(action["dice"])) == ("XO"[decision.player], decision.dice)
        assert action["board"] == position_id(replayed.position)  # before the play
        assert sorted(map(tuple, action.get("move") or ())) == sorted(move[:2] for move in decision.moves)
        index = [play.moves for play in replayed.plays].index(decision.moves)
        replayed.play(index, game.decisions[number].dice if number < len(game.decisions) else None)


@needs_gnubg
def test_gnubg_reads_our_xgids_as_the_ids_that_we_give_them(tmp_path):
    game, xgids = Game.begin(SHORT, stream(3, 0)), []
    while not game.finished:
        number = len(xgids)
        length = number % 3 * 7
        crawford = length > 0 and number % 5 == 0  # in which gnubg has no cube
        xgids.append(
            Xgid(
                position=game.position, dice=game.dice[:2] if number % 2 else None,
                cube=1 if crawford else 2 ** (number % 4),
                owner=None if crawford or number % 4 == 0 else number % 2,
                scores=(number % 5, length - 1 if crawford else number % 6),
                length=length, crawford=crawford, jacoby=length == 0 and number % 2 == 0,
            )
        )  # fmt: skip
        game.play(game.random_index())
    commands = [command for xgid in xgids for command in (f"set xgid {format_xgid(xgid)}", ">print('NEXT')")]
    shown = [
        re.findall("(?:Position|Match) ID *: *(.+)", part)[-2:]
        for part in ask_gnubg(tmp_path, *commands).split("NEXT")[:-1]
    ]
    assert shown == [[position_id(xgid.position), match_id(state_of(xgid))] for xgid in xgids]


def state_of(xgid):
    """The match state of an XGID whose player on roll is at the bottom, gnubg's player 1."""
    owner = None if xgid.owner is None else 1 - xgid.owner
    return MatchState(
        on_roll=1, turn=1, dice=xgid.dice, cube=xgid.cube, owner=owner, length=xgid.length, scores=xgid.scores[::-1],
        crawford=xgid.crawford, jacoby=xgid.jacoby,
    )  # fmt: skip
