"""GNU Backgammon's sockets: recorded conversations, requests that must be refused, and games in the real program."""

import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest
from gnubg_program import listening_gnubg, needs_gnubg, play_games
from nets import pip_bot

from nardy_rl.evaluation.match import play_match
from nardy_rl.players.bot import HEURISTIC, RANDOM, simple_bot
from nardy_rl.protocols.boards import fibs_board_text, parse_fibs_board, parse_moves, position_after
from nardy_rl.protocols.gnubg_client import GnubgServer
from nardy_rl.protocols.gnubg_external import MOST_CLIENTS, Responder, Server
from nardy_rl.protocols.lines import LIMIT
from nardy_rl.rules.plays import Play, legal_plays
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.variant import variant

SHORT = variant("short")
START = Position.start(SHORT)
ROLLS = [(first, second) for first in range(1, 7) for second in range(1, first + 1)]
BOARD = fibs_board_text(START, (3, 1))
CONVERSATIONS = (Path(__file__).parent / "cases" / "gnubg_external.txt").read_text(encoding="utf-8").split("## ")[1:]


def exchanges(conversation: str) -> list[tuple[str, str]]:
    """The requests of gnubg and the answers that were given."""
    lines = conversation.splitlines()[1:]
    return [(request[2:], answer[2:]) for request, answer in zip(lines[::2], lines[1::2], strict=True)]


def change(line: str, field: int, value: object) -> str:
    fields = line.split(":")
    fields[field] = str(value)
    return ":".join(fields)


def the_play(position: Position, dice: tuple[int, int], moves: str) -> Play:
    """The legal play that moves without hits make."""
    after = position_after(position, parse_moves(moves))
    return next(play for play in legal_plays(SHORT, position, dice) if play.after == after)


def leads_to(before: Position, after: Position) -> bool:
    """Whether some roll of row 0 leads from one position to the other, in which the other player is row 0."""
    return any(play.after.swapped() == after for dice in ROLLS for play in legal_plays(SHORT, before, dice))


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda text: text.split("\n")[0])
def test_recorded_conversations_are_understood_and_answered(conversation):
    """Their moves are legal as we read the boards, and lead to the next board; ours are of the same kind."""
    responder, expected = Responder(pip_bot(SHORT), SHORT), None
    for request, answer in exchanges(conversation):
        board, ours = parse_fibs_board(request), responder.answer(request)
        if expected is not None and board.dice is not None:
            assert board.position == expected or leads_to(expected.swapped(), board.position)
        if board.doubled:
            assert ours in ("take", "drop")
        elif board.dice is None:
            assert ours == "roll"
        else:
            ours = the_play(board.position, board.dice, ours)
            if not answer.startswith("resign"):
                play = the_play(board.position, board.dice, answer)
                expected = play.after
                assert len(play.moves) == len(ours.moves)


def test_the_board_reads_back_whoever_is_on_the_bar_and_off():
    for conversation in CONVERSATIONS:
        for request, _ in exchanges(conversation):
            board = parse_fibs_board(request)
            again = parse_fibs_board(fibs_board_text(board.position, (6, 5)))
            assert (again.position, again.dice, again.doubled) == (board.position, (6, 5), False)


def test_p26_a_seat_makes_no_difference():
    """The same position with the colours changed is answered with the same moves, in the mover's own numbering."""
    responder = Responder(pip_bot(SHORT), SHORT)
    position = Position.from_points({24: 1, 21: 1, 13: 4, 8: 4, 6: 5}, {5: 1, 6: 4, 8: 4, 13: 4, 24: 2})
    line = fibs_board_text(position, (6, 2))
    mirrored = change(fibs_board_text(position.swapped(), (6, 2)), 32, -1)
    assert line != mirrored
    assert parse_fibs_board(line) == parse_fibs_board(mirrored)
    assert responder.answer(line) == responder.answer(mirrored)


@pytest.mark.parametrize(
    ("position", "dice", "answer"),
    [
        (Position.from_points({12: 1, 1: 14}, {2: 3, 6: 5, 7: 5, 23: 2}), (6, 4), "12/6"),  # P13
        (Position.from_points({"bar": 2, 13: 8, 6: 5}, {5: 5, 6: 2, 13: 3, 17: 3, 24: 2}), (6, 2), "bar/23"),  # P15
        (
            Position.from_points({"bar": 1, 6: 1, 5: 2, 4: 3, 3: 3, 2: 3, 1: 2}, {1: 2, 3: 3, 5: 5, 6: 4, "off": 1}),
            (6, 5),
            "",  # P16
        ),
        (Position.from_points({3: 1, 2: 1, 1: 1, "off": 12}, {1: 15}), (6, 6), "3/off 2/off 1/off"),  # P09
    ],
)
def test_forced_plays_are_answered_as_gnubg_reads_them(position, dice, answer):
    """Partly played rolls, entering, a pass, which is an empty line, and a double that ends the game early."""
    assert Responder(pip_bot(SHORT), SHORT).answer(fibs_board_text(position, dice)) == answer


AHEAD = Position.from_points({1: 2, "off": 13}, {20: 15})
BEHIND = AHEAD.swapped()


def double(position: Position, cube: int = 1, length: int = 0, scores: tuple[int, int] = (0, 0)) -> str:
    """The double of row 0, player 1, whose score is the first."""
    line = fibs_board_text(position, (1, 1))
    fields = {33: 0, 34: 0, 35: 0, 36: 0, 37: cube, 40: 1, 3: length, 4: scores[0], 5: scores[1]}
    for field, value in fields.items():
        line = change(line, field, value)
    return line


def test_the_cube_is_answered_by_cubeless_equity():
    responder = Responder(pip_bot(SHORT), SHORT)
    assert responder.answer(double(AHEAD)) == "drop"
    assert responder.answer(double(BEHIND)) == "take"
    assert responder.answer(double(START)) == "take"
    assert responder.answer(double(AHEAD, cube=4)) == "drop"
    assert responder.answer(double(AHEAD, length=5, scores=(3, 0))) == "drop"
    assert responder.answer(double(AHEAD, length=5, scores=(4, 0))) == "take"  # dropping loses the match
    assert responder.answer(double(AHEAD, cube=2, length=5, scores=(3, 0))) == "take"
    assert responder.answer(double(AHEAD, length=5, scores=(3, 4))) == "drop"
    assert responder.answer(change(double(BEHIND, length=5, scores=(3, 4)), 32, -1)) == "take"
    assert responder.answer(change(double(BEHIND, length=5, scores=(4, 3)), 32, -1)) == "drop"
    assert responder.answer(change(double(AHEAD), 40, 0)) == "roll"
    assert Responder(simple_bot(HEURISTIC, SHORT), SHORT).answer(double(AHEAD)) == "take"


MALFORMED = [
    (b"", "a request begins with board:"),
    (b"garbage", "a request begins with board:"),
    (b"\xff\xfe\xfd", "a line must be text in UTF-8"),
    (b"bo\0ard:", "a line holds no NUL"),
    (b"board:", "a board has 53 fields, this one 2"),
    (BOARD.rpartition(":")[0].encode(), "a board has 53 fields, this one 52"),
    (b"board" + b":x" * 52, "field 3 of the board is no whole number"),
    (change(BOARD, 20, "").encode(), "field 20 of the board is no whole number"),
    (change(BOARD, 20, "1e3").encode(), "field 20 of the board is no whole number"),
    (change(BOARD, 20, "１").encode(), "field 20 of the board is no whole number"),
    (change(BOARD, 20, 10**9).encode(), "field 20 of the board is no whole number"),
    (change(BOARD, 32, 0).encode(), "field 32 of the board is 1 if it is the turn of player 1"),
    (change(BOARD, 33, 7).encode(), "dice are two whole numbers from 1 to 6, not (7, 1)"),
    (change(BOARD, 33, 0).encode(), "dice are two whole numbers from 1 to 6, not (0, 1)"),
    (change(BOARD, 33, -3).encode(), "dice are two whole numbers from 1 to 6, not (-3, 1)"),
    (change(BOARD, 9, 1).encode(), "player 1 has 16 checkers and 0 off, not 15 in all"),
    (change(BOARD, 45, 1).encode(), "player 1 has 15 checkers and 1 off, not 15 in all"),
    (change(BOARD, 46, -1).encode(), "player 0 has 15 checkers and -1 off, not 15 in all"),
    (change(BOARD, 6, 1).encode(), "point 25 of the board is the bar of player 1"),
    (change(BOARD, 31, -1).encode(), "point 25 of the board is the bar of player 1"),
    (change(BOARD, 41, -1).encode(), "only boards seen from player 1"),
    (change(BOARD, 40, 1).encode(), "field 40 of the board is 1 if a double is pending"),
    (change(BOARD, 37, 0).encode(), "field 37 of the board is the value of the cube"),
    (fibs_board_text(Position.from_points({1: 3}, {"off": 15}), (3, 1)).encode(), "the game is finished"),
    (b"x" * (LIMIT + 1), f"a line has at most {LIMIT} bytes"),
]


@contextmanager
def serving(bot):
    with Server(Responder(bot, SHORT), "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def server():
    with serving(pip_bot(SHORT)) as server:
        yield server


@contextmanager
def client(server):
    """A function that sends bytes and gives the line that comes back."""
    with socket.create_connection(server.server_address, timeout=30) as connection, connection.makefile("rb") as file:

        def ask(sent: bytes) -> str:
            connection.sendall(sent)
            return file.readline().decode()

        yield ask


def test_malformed_requests_get_an_error_line_and_the_next_is_answered(server):
    good = Responder(pip_bot(SHORT), SHORT).answer(BOARD)
    with client(server) as ask:
        for request, error in MALFORMED:
            reply = ask(request + b"\n")
            assert reply.startswith(f"Error: {error}"), (request[:60], reply)
            assert reply.strip().isprintable()
            assert ask(f"\0{BOARD}\n".encode()) == f"{good}\n"
        assert ask(f"fibsboard {BOARD}\r\n".encode()) == f"{good}\n"
        assert ask(change(BOARD, 1, "a:b").encode() + b"\n") == f"{good}\n"  # a name may hold a colon


def test_ten_megabytes_without_an_end_are_one_error(server):
    with client(server) as ask:
        reply = ask(b"y" * 10 * 2**20)
        assert reply.startswith("Error: a line has at most")
        assert ask(b"\n" + BOARD.encode() + b"\n").startswith("8/5 6/5")


def test_random_bytes_never_end_the_server(server):
    rng = Random(3)
    for _ in range(30):
        with client(server) as ask:
            assert ask(rng.randbytes(rng.randint(1, 500)).replace(b"\n", b"") + b"\n").startswith("Error: ")
    for _ in range(500):
        line = BOARD
        for _ in range(rng.randint(1, 3)):
            line = change(line, rng.randint(3, 52), rng.choice([-100, -2, -1, 0, 1, 2, 7, 15, 16, 127, 128, 99999]))
        try:
            board = parse_fibs_board(line)
        except ValueError:
            continue
        assert board.position.array.sum(axis=1).tolist() == [15, 15]


def test_a_client_that_goes_does_not_end_the_server_nor_hold_up_another(server):
    with client(server) as first:
        for _ in range(3):
            with socket.create_connection(server.server_address) as rude:
                rude.sendall(b"board:half a li")
        with client(server) as second:  # both at once: gnubg with two external players has two connections
            assert second(BOARD.encode() + b"\n") == first(BOARD.encode() + b"\n")


def test_only_so_many_clients_are_served_at_once():
    with serving(simple_bot(RANDOM, SHORT)) as server:
        waiting = [socket.create_connection(server.server_address) for _ in range(MOST_CLIENTS)]
        time.sleep(0.5)
        with client(server) as ask:
            assert "clients are connected already" in ask(b"")
        for connection in waiting:
            connection.close()
        for _ in range(50):
            with client(server) as ask:
                if "/" in ask(BOARD.encode() + b"\n"):
                    return
            time.sleep(0.1)
        raise AssertionError("the places of clients that have gone are not free again")


def test_an_address_in_use_is_one_line(server):
    with pytest.raises(ValueError, match=r"cannot listen at 127.0.0.1:\d+: Address already in use"):
        Server(server.responder, "127.0.0.1", server.port)


def command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", f"nardy_rl.protocols.{module}", *arguments]


def test_the_command_listens_at_the_loopback_until_it_is_stopped():
    asked = command("gnubg_external", "heuristic", "--port", "0")
    with subprocess.Popen(asked, stderr=subprocess.PIPE, text=True) as process:
        try:
            said = process.stderr.readline()
            host, _, port = said.split()[-1].rpartition(":")
            assert (said.startswith("heuristic listens at "), host) == (True, "127.0.0.1")
            for _ in range(2):
                with socket.create_connection((host, int(port))) as connection, connection.makefile("rb") as file:
                    connection.sendall(BOARD.encode() + b"\n")
                    assert file.readline() == b"8/5 6/5\n"
            process.send_signal(signal.SIGINT)
            assert (process.wait(30), process.stderr.read()) == (130, "stopped\n")
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["heuristic"], "the following arguments are required: --port"),
        (["heuristic", "--port", "70000"], "a port is a number from 0 to 65535, not '70000'"),
        (["heuristic", "--port", "-1"], "a port is a number from 0 to 65535, not '-1'"),
        (["heuristic", "--port", "0", "--host", "256.1.1.1"], "cannot listen at 256.1.1.1:0: "),
        (["nobody", "--port", "0"], "unknown bot 'nobody'"),
    ],
)
def test_a_fault_of_the_command_line_is_one_line_and_exit_code_2(arguments, error):
    done = subprocess.run(command("gnubg_external", *arguments), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("error: ")
    assert error in done.stderr


def test_other_variants_are_refused():
    long = variant("long")
    with pytest.raises(ValueError, match="GNU Backgammon plays variant short by its preset rules only, not long"):
        Responder(simple_bot(HEURISTIC, long), long)
    with pytest.raises(ValueError, match="not long"):
        GnubgServer(long, "127.0.0.1", 1)


def fake_gnubg(answers):
    """A server that answers one line for each board, whatever `answers` makes of it; yields its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def talk():
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as lines:
            for line in lines:
                reply = answers(line.decode().strip())
                if reply is None:
                    return
                connection.sendall(reply.encode())

    threading.Thread(target=talk, daemon=True).start()
    return listener, listener.getsockname()[1]


def test_a_gnubg_that_listens_is_a_player_of_matches():
    """Numbers for bar and off, stars and blanks are understood; the match is that of the bot it stands for."""
    heuristic = simple_bot(HEURISTIC, SHORT)
    responder = Responder(heuristic, SHORT)
    listener, port = fake_gnubg(
        lambda line: responder.answer(line).replace("/off", "/0").replace("bar/", "25/").replace(" ", "* ") + " \n"
    )
    with listener:
        outside = GnubgServer(SHORT, "127.0.0.1", port)
        result = play_match(SHORT, outside, simple_bot(RANDOM, SHORT), 4, seed=3, workers=1)
        outside.close()
    assert result.points_per_game == play_match(SHORT, heuristic, simple_bot(RANDOM, SHORT), 4, seed=3).points_per_game


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("24/1 \n", r"answers '24/1' on X=24:2,13:5,8:3,6:5; O=24:2,13:5,8:3,6:5 with \d-\d: not legal"),
        ("Error: syntax error\n", "answers 'Error: syntax error' on .*: not legal"),
        ("\n", "answers '' on .*: not legal"),
        (None, "hangs up without an answer"),
    ],
)
def test_what_is_no_play_of_gnubgs_ends_the_match_with_a_word(reply, error):
    listener, port = fake_gnubg(lambda line: reply)
    with listener, pytest.raises(ValueError, match=error):
        play_match(SHORT, GnubgServer(SHORT, "127.0.0.1", port), simple_bot(RANDOM, SHORT), 4, seed=1, workers=1)


def test_where_nobody_listens_is_said():
    with pytest.raises(ValueError, match=r"gnubg at 127.0.0.1:1 cannot be asked: Connection refused"):
        play_match(SHORT, GnubgServer(SHORT, "127.0.0.1", 1), simple_bot(RANDOM, SHORT), 4, seed=1, workers=1)


class Witness(Responder):
    """Counts answers, and those after which the next board is not one that they can have led to."""

    def __init__(self, bot):
        super().__init__(bot, SHORT)
        self.answers = self.rejected = 0
        self.expected = None

    def answer(self, request: str) -> str:
        board, answer = parse_fibs_board(request), super().answer(request)
        self.answers += 1
        if board.dice is None:
            return answer
        if self.expected is not None and not self._follows(board.position):
            self.rejected += 1
        self.expected = the_play(board.position, board.dice, answer).after
        return answer

    def _follows(self, position: Position) -> bool:
        """Whether gnubg has played once since, or a new game has begun, with a play of its own or ours to come."""
        over = self.expected.array[0, OFF] == SHORT.checkers
        return (
            position == START or leads_to(START, position) or (not over and leads_to(self.expected.swapped(), position))
        )


@needs_gnubg
@pytest.mark.parametrize("settings", ["set cube use off\n", "set cube use on\n"], ids=["cubeless", "cube"])
@pytest.mark.parametrize("seat", [0, 1])
def test_whole_games_in_gnubg(protocol_games, protocol_bot, settings, seat, capsys):
    """No answer is rejected, which gnubg does not tell of: an illegal move is to it a pass."""
    games = max(1, protocol_games // 4)
    witness = Witness(protocol_bot)
    with serving(simple_bot(RANDOM, SHORT)) as server:
        server.responder = witness
        started = time.perf_counter()
        points, printed = play_games(server.port, games, settings, seat)
        seconds = time.perf_counter() - started
    assert len(points) == games, printed[-2000:]
    assert witness.rejected == 0
    with capsys.disabled():
        print(
            f"\n{games} games in gnubg, {settings.strip()}, as player {seat}: {sum(points):+d} points, "
            f"{sum(won > 0 for won in points)} won, {witness.answers} answers, 0 rejected, {seconds:.0f} s"
        )


@needs_gnubg
def test_a_match_against_a_gnubg_that_listens(protocol_games, protocol_bot, capsys):
    games = max(4, protocol_games // 2 * 2)
    with listening_gnubg() as port:
        gnubg = GnubgServer(SHORT, "127.0.0.1", port)
        result = play_match(SHORT, protocol_bot, gnubg, games, seed=1, workers=1)
        gnubg.close()
        asked = command("gnubg_client", "heuristic", "--port", str(port), "--games", "4")
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"heuristic (A) against gnubg at 127.0.0.1:{port} (B), variant short" in done.stdout
    with capsys.disabled():
        print(f"\n{games} games against a gnubg that listens: {result.points_per_game:+.3f} points per game")
