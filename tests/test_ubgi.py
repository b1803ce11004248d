"""UBGI 0.2: a session line by line, what must be refused, and whole games of every variant through its lines."""

import subprocess
import sys
import tracemalloc
from random import Random

import pytest
from nets import pip_net

from nardy_rl.formats.gnu import position_id
from nardy_rl.formats.xgid import Xgid, format_xgid
from nardy_rl.network.checkpoint import Checkpoint, save_checkpoint
from nardy_rl.protocols.boards import moves_text
from nardy_rl.protocols.lines import LIMIT, read_lines, text_of
from nardy_rl.protocols.ubgi import Engine, serve
from nardy_rl.rules.game import Game
from nardy_rl.rules.notation import position_text
from nardy_rl.rules.plays import Play, legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import VARIANTS, variant

SHORT = variant("short")
START = position_id(Position.start(SHORT))
FORCED = "X=24:1,7:1,5:13; O=23:2,22:2,11:2,7:3,6:2,5:4"  # with 5-1 only 7/6 6/1 uses both dice (case P12)
SHUT = "X=bar:1,6:1,5:2,4:3,3:3,2:3,1:2; O=6:4,5:5,3:3,1:2,off:1"  # case P16


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> str:
    """A short-nardy network that runs and leaves no blots."""
    path = tmp_path_factory.mktemp("ubgi") / "pips.pt"
    save_checkpoint(path, Checkpoint(SHORT, pip_net(SHORT)))
    return str(path)


def play(bot: str, sent: bytes) -> tuple[int, str, str]:
    """The real command, given all of `sent`: exit code, standard output and standard error."""
    command = [sys.executable, "-m", "nardy_rl.protocols.ubgi", bot]
    done = subprocess.run(command, input=sent, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_session_line_by_line(checkpoint):
    """Each command, and the lines that answer it by the specification: none where it names none."""
    session = [
        ("ubgi", ["id name nardy_rl pips.pt", "id author The nardy_rl authors", "proto 0.2", "ubgiok"]),
        (
            "keys",
            [
                "key game.variant enum backgammon backgammon the game to be played",
                "key engine.ply int 1..4 1 search depth, 1 is the network alone",
            ],
        ),
        ("set engine.ply 2", []),
        ("get engine.ply", ["value engine.ply 2"]),
        ("set engine.ply 1", []),
        ("set game.variant backgammon", []),
        ("get game.variant", ["value game.variant backgammon"]),
        ("isready", ["readyok"]),
        ("newgame", []),
        ("go", ["error bad_state missing position"]),
        (f"position gnubgid {START}", []),
        ("go", ["error bad_state missing dice"]),
        ("dice 3 1", []),
        ("go", ["bestmove 8/5 6/5"]),
        ("go chequer", ["bestmove 8/5 6/5"]),
        ("go turn", ["bestturn cube=nodouble move=8/5 6/5"]),
        ("go cube", ["bestcube nodouble"]),
        ("", []),
        ("position gnubgid t02oASACAAAAAA", []),  # what another controller checks engines with
        ("dice 5 1", []),
        ("go chequer", ["bestmove 2/1 1/off"]),
        (f"position nardy {FORCED}", []),
        ("dice 5 1", []),
        ("go chequer", ["bestmove 7/6 6/1"]),
        (f"position nardy {SHUT}", []),
        ("dice 6 5", []),
        ("go chequer", ["bestmove pass"]),
        ("position gnubgid !!!!", ["error bad_value position: a GNU position ID has 14 characters, '!!!!' has 4"]),
        ("go chequer", ["error bad_state missing position"]),
        ("quit", []),
        ("isready", []),
    ]
    code, out, err = play(checkpoint, "".join(f"{command}\n" for command, _ in session).encode())
    assert out.splitlines() == [line for _, lines in session for line in lines]
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("UBGI", "bad_command unknown 'UBGI'; known are ubgi, isready"),
        ("isready now", "bad_command nothing may follow this command, not 'now'"),
        ("\x1b[2J\x07", r"bad_command unknown '\x1b[2J\x07'; known are"),
        ("x" * 200, f"bad_command unknown '{'x' * 60}...'; known are"),
        ("position", "bad_command expected: position gnubgid <id>"),
        ("position gnubgid", "bad_command expected: position gnubgid <id>"),
        ("position fen 8/8", "bad_command expected: position gnubgid <id>"),
        ("position xgid XGID=-b----E-C---eE---c-e----B-:0:0:1", "bad_value position: an XGID has 10 fields"),
        ("position gnubgid 4HPwATDgc/ABM!", "bad_value position: '4HPwATDgc/ABM!' is no GNU position ID: not Base64"),
        ("position gnubgid //////////////", "bad_value position: '//////////////' gives a side 80 checkers"),
        ("position gnubgid AAAAAAAAAAAAAA", "bad_value position: the game is finished"),
        ("position nardy X=13:16; O=6:15", "bad_value position: '13:16' places 16 checkers instead of 15"),
        ("position nardy X=13:15; O=12:15", "bad_value position: both sides stand on own point 13"),
        ("position nardy X=24:15", "bad_value position: cannot read 'X=24:15'"),
        ("position nardy X=13:15; O=6:15; first_turn=third", "bad_value position: first_turn is None"),
        ("dice", "bad_command expected: dice <d1> <d2>"),
        ("dice 3", "bad_command expected: dice <d1> <d2>"),
        ("dice 3 1 1", "bad_command expected: dice <d1> <d2>"),
        ("dice 7 1", "bad_value dice are numbers from 1 to 6"),
        ("dice 0 0", "bad_value dice are numbers from 1 to 6"),
        ("dice -1 2", "bad_value dice are numbers from 1 to 6"),
        ("dice ３ 1", "bad_value dice are numbers from 1 to 6"),
        ("dice passed 3", "unsupported dice passed in variant backgammon"),
        ("go fish", "bad_command expected: go, go chequer, go cube or go turn"),
        ("get", "bad_command expected: get <key>"),
        ("get engine.threads", "unsupported key 'engine.threads'; known are game.variant, engine.ply"),
        ("set engine.ply", "bad_command expected: set <key> <value>"),
        ("set engine.ply 0", "bad_value engine.ply must_be 1..4"),
        ("set engine.ply two", "bad_value engine.ply must_be 1..4"),
        ("set game.variant long", "unsupported game.variant long: this bot plays backgammon"),
        ("set game.variant chess", "bad_value game.variant must_be backgammon"),
    ],
)
def test_a_malformed_command_is_one_error_line_and_changes_nothing_else(checkpoint, line, error):
    engine = Engine(checkpoint)
    assert engine.answer(f"position gnubgid {START}") == []
    (reply,) = engine.answer(line)
    assert reply.startswith(f"error {error}")
    assert reply.isprintable()
    assert len(reply) < 400
    assert engine.answer("get engine.ply") == ["value engine.ply 1"]
    if not line.startswith("position"):  # what was refused leaves no older position to be answered about
        engine.answer("dice 3 1")
    assert engine.answer("go") == [
        "error bad_state missing position" if line.startswith("position") else "bestmove 8/5 6/5"
    ]


def conversation(sent: bytes, size: int) -> list[str]:
    """What the heuristic answers to bytes that come in pieces of `size`."""
    replies = []
    pieces = (sent[place : place + size] for place in range(0, len(sent), size))
    serve(Engine("heuristic"), lambda _: next(pieces, b""), replies.append)
    return b"".join(replies).decode().splitlines()


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_bytes_that_are_no_commands_are_refused_and_the_engine_goes_on(size):
    long_line = b"x" * (LIMIT + 1)
    sent = b"\xff\xfe\n" + b"a\0b\n" + long_line + b"\n\n" + bytes(range(1, 9)) + b"\r\nubgi\r\n" + b"x" * LIMIT
    replies = conversation(sent, size)
    assert replies[:3] == [
        "error bad_command a line must be text in UTF-8",
        "error bad_command a line holds no NUL",
        f"error bad_command a line has at most {LIMIT} bytes",
    ]
    assert replies[3].startswith(r"error bad_command unknown '\x01\x02\x03\x04\x05\x06\x07\x08'")
    assert replies[4:8] == ["id name nardy_rl heuristic", "id author The nardy_rl authors", "proto 0.2", "ubgiok"]
    assert replies[8].startswith("error bad_command unknown 'xxx")
    assert len(replies) == 9


def test_a_line_of_ten_megabytes_is_told_of_at_once_and_takes_no_memory():
    pieces = iter([b"x" * 2**16] * 160 + [b"\nisready\n"])
    tracemalloc.start()
    lines = list(read_lines(lambda _: next(pieces, b"")))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert lines == [None, b"isready"]
    assert peak < 2**20
    endless = read_lines(lambda size: b"x" * size)
    assert next(endless) is None


def test_random_bytes_never_end_the_engine():
    rng = Random(5)
    engine = Engine("heuristic")
    words = ["position", "gnubgid", "nardy", "dice", "passed", "then", "go", "set", "get", "game.variant", "X=24:15;"]
    for _ in range(2000):
        if rng.random() < 0.5:
            line = rng.randbytes(rng.randint(0, 40)).replace(b"\n", b"")
        else:
            line = " ".join(rng.choices([*words, START, "1", "6", "O=24:15"], k=rng.randint(1, 7))).encode()
        try:
            replies = engine.answer(text_of(line))
        except ValueError:
            continue
        assert len(replies) <= 4
        assert not engine.quitting
        assert all(reply.isprintable() for reply in replies)
    assert engine.answer("isready") == ["readyok"]


@pytest.mark.parametrize(
    ("identifier", "dice", "word"), [("Np7BQSCYZ/AAWA", (5, 3), "bar"), ("/z0AADDeaxsAAA", (5, 5), "off")]
)
def test_bar_and_off_are_written_as_words(checkpoint, identifier, dice, word):
    engine = Engine(checkpoint)
    engine.answer(f"position gnubgid {identifier}")
    engine.answer(f"dice {dice[0]} {dice[1]}")
    (reply,) = engine.answer("go chequer")
    name, *moves = reply.split()
    assert name == "bestmove"
    assert word in reply
    assert all(move.count("/") == 1 and "*" not in move and "(" not in move for move in moves)


@pytest.mark.parametrize("xgid_for_bottom", [True, False])
def test_p24_an_xgid_is_of_the_player_on_roll_wherever_he_sits(checkpoint, xgid_for_bottom):
    engine = Engine(checkpoint)
    position = Position.from_points({13: 5, 8: 3, 6: 3, 4: 4}, {3: 2, 6: 5, 8: 3, 13: 5})
    xgid = format_xgid(Xgid(position=position, at_bottom=xgid_for_bottom))
    replies = []
    for text in (f"xgid {xgid}", f"gnubgid {position_id(position)}"):
        assert engine.answer(f"position {text}") == []
        engine.answer("dice 6 2")
        replies.append(engine.answer("go"))
    assert replies[0] == replies[1]


def test_p24_the_position_id_is_of_the_player_on_roll(checkpoint):
    """The sides are not alike: the moves are those of the one whose checkers the ID names last."""
    engine = Engine(checkpoint)
    position = Position.from_points({13: 5, 8: 3, 6: 3, 4: 4}, {3: 2, 6: 5, 8: 3, 13: 5})
    for mover in (position, position.swapped()):
        engine.answer(f"position gnubgid {position_id(mover)}")
        engine.answer("dice 6 2")
        (reply,) = engine.answer("go")
        assert find(legal_plays(SHORT, mover, (6, 2)), reply.split()[1:]) >= 0


def test_p22_a_first_turn_is_part_of_the_position():
    engine = Engine("heuristic")
    assert engine.answer("set game.variant long") == []
    for first_turn, moves in (("; first_turn=starter", "24/18 24/18"), ("", "24/18")):
        assert engine.answer(f"position nardy X=24:15; O=24:15{first_turn}") == []
        engine.answer("dice 6 6")
        assert engine.answer("go") == [f"bestmove {moves}"]
    assert engine.answer(f"position gnubgid {START}") == [
        "error unsupported position gnubgid in variant long; use nardy"
    ]


def test_p36_any_of_more_than_255_plays_can_be_chosen():
    engine = Engine("random")
    position = Position.from_points({24: 1, 22: 2, 20: 2, 18: 1, 16: 2, 14: 1, 12: 2, 10: 2, 8: 2}, {24: 15})
    engine.answer(f"position nardy {position_text(position)}")
    engine.answer("dice 1 1")
    answers = {engine.answer("go")[0] for _ in range(400)}
    assert len(answers) > 255
    plays = legal_plays(SHORT, position, (1, 1))
    assert max(find(plays, answer.split()[1:]) for answer in answers) > 255


def find(plays: list[Play], words: list[str]) -> int:
    """The index of the play with these moves in this order, of which hits are not told."""
    return [moves_text(play.moves).split() for play in plays].index(words)


@pytest.mark.parametrize("name", VARIANTS)
def test_whole_games_of_every_variant_can_be_played_through_its_lines(name):
    """A controller that keeps the game tells position and dice, passed ones too, and gets all that is to be played."""
    rules, engine, passed, chained = variant(name), Engine("heuristic"), 0, 0
    assert engine.answer(f"set game.variant {name}") == []
    for key in range(3):
        game = Game.begin(rules, key)
        while not game.finished:
            first_turn = f"; first_turn={game.first_turn}" if game.first_turn else ""
            assert engine.answer(f"position nardy {position_text(game.position)}{first_turn}") == []
            if game.passed_on:
                then = f" then {' '.join(map(str, game.to_follow))}" if game.to_follow else ""
                dice = f"passed {' '.join(map(str, game.dice))}{then}"
            else:
                dice = f"{game.dice[0]} {game.dice[1]}"
            assert engine.answer(f"dice {dice}") == []
            (reply,) = engine.answer("go")
            moves = reply.removeprefix("bestmove ").replace("pass", "").split()
            seat, segments = game.seat, 0
            while True:  # one play after another, until the other acts or somebody rolls
                number = len(game.plays[0].moves)
                index = find(game.plays, moves[:number])
                moves, sequel = moves[number:], game.sequel(index)
                game.play(index)
                segments += 1
                if sequel.rolls or sequel.finished or sequel.seat != seat:
                    break
            assert moves == []
            passed += dice.startswith("passed")
            chained += segments > 1
    assert bool(passed) == (rules.pass_when != "never")
    assert bool(chained) == (rules.chain_moves > 0)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("dice passed", "bad_command expected"),
        ("dice passed 3 3 3 3 3", "bad_value dice are passed on as one value up to four times"),
        ("dice passed 3 4 5", "bad_value dice are passed on as one value up to four times"),
        ("dice passed 5 then 4", "bad_value dice are passed on as one value up to four times"),
        ("dice passed 3 4 then 5", "bad_value dice are passed on as one value up to four times"),
        ("dice passed 3 then 4 4 4 4 4", "bad_value dice are passed on as one value up to four times"),
        ("dice passed 3 then 7", "bad_value dice are numbers from 1 to 6"),
    ],
)
def test_passed_dice_that_cannot_be_are_refused(line, error):
    engine = Engine("heuristic")
    engine.answer("set game.variant gulbar")
    engine.answer("position nardy X=24:14,13:1; O=24:14,15:1")
    assert engine.answer(line)[0].startswith(f"error {error}")


def test_p03_passed_dice_are_played_by_the_other():
    engine = Engine("heuristic")
    engine.answer("set game.variant gulbar")
    engine.answer("position nardy X=24:14,15:1; O=7:1,1:14")
    engine.answer("dice passed 4")
    assert engine.answer("go")[0] in ("bestmove 15/11", "bestmove 24/20")


@pytest.mark.parametrize("bot", ["nobody", "nowhere.pt", "heuristic@1"])
def test_an_unknown_bot_is_one_line_and_exit_code_2(bot):
    code, out, err = play(bot, b"ubgi\n")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1


def test_the_end_of_the_input_ends_the_engine():
    code, out, _ = play("heuristic", b"isready\nubg")
    assert code == 0
    assert out.startswith("readyok\nerror bad_command unknown 'ubg'")
