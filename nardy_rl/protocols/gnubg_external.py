"""A bot as GNU Backgammon's external player: gnubg connects to us, sends boards, and is told moves and cube answers.

    python -m nardy_rl.protocols.gnubg_external BOT --port 4321

docs/protocols.md says how gnubg is told to connect.
"""

from __future__ import annotations

import socketserver
import sys
import threading

from nardy_rl.cli import one_line
from nardy_rl.players.registry import Player
from nardy_rl.protocols.boards import FibsBoard, check_short, moves_text, parse_fibs_board
from nardy_rl.protocols.command import add_address, parser, run
from nardy_rl.protocols.lines import read_lines, text_of
from nardy_rl.protocols.mind import Mind, load_bot
from nardy_rl.rules.game import Game
from nardy_rl.rules.variant import Variant

MOST_CLIENTS = 32
"""How many may be connected at once: gnubg connects once for each external player of a game."""

_BOARD = "fibsboard "  # may stand before a board


class Responder:
    """What is answered to each request; for any number of threads. Raises ValueError unless the variant is short."""

    def __init__(self, player: Player, rules: Variant) -> None:
        check_short(rules, "GNU Backgammon")
        self._mind = Mind(player, rules)
        self._lock = threading.Lock()

    def warm_up(self) -> None:
        """Have everything compiled before a client comes."""
        self._mind.warm_up()

    def answer(self, request: str) -> str:
        """The answer to a board: a move, empty if there is none, `roll`, `take` or `drop`; the bot never doubles.

        Raises ValueError saying what is wrong with the request.
        """
        board = parse_fibs_board(request.removeprefix(_BOARD))
        with self._lock:
            if board.dice is not None:
                game = Game.from_position(self._mind.variant, board.position, 0, dice=board.dice)
                return moves_text(self._mind.turn(game))
            return self._cube_answer(board)

    def _cube_answer(self, board: FibsBoard) -> str:
        Game.from_position(self._mind.variant, board.position, 0, dice=(2, 1))  # raises if nobody can roll
        if not board.doubled:
            return "roll"
        # Where a drop would lose the match, there is nothing to lose by taking.
        last_chance = 0 < board.match_length <= board.score + board.cube
        return "take" if last_chance or self._mind.takes(board.position) else "drop"


class Server(socketserver.ThreadingTCPServer):
    """Serves a bot at an address; each client has a thread. Raises ValueError if the address cannot be had."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, responder: Responder, host: str, port: int) -> None:
        self.responder = responder
        self.places = threading.BoundedSemaphore(MOST_CLIENTS)
        try:
            super().__init__((host, port), _Client)
        except OSError as error:
            raise ValueError(f"cannot listen at {host}:{port}: {one_line(error)}") from None

    @property
    def port(self) -> int:
        """The port: the system's choice if none was named."""
        return int(self.server_address[1])


class _Client(socketserver.BaseRequestHandler):
    server: Server

    def handle(self) -> None:
        """Answer all lines of a client until he goes, whatever they are."""
        if not self.server.places.acquire(blocking=False):
            self.request.sendall(f"Error: {MOST_CLIENTS} clients are connected already\n".encode())
            return
        try:
            for line in read_lines(self.request.recv):
                if line != b"\0":  # what is left of a last message
                    self.request.sendall(f"{self._reply(line)}\n".encode())
        except OSError as error:
            print(f"a client is gone: {one_line(error)}", file=sys.stderr)
        finally:
            self.server.places.release()

    def _reply(self, line: bytes | None) -> str:
        try:
            # gnubg ends its messages with newline and NUL: the NUL comes to stand before the next line.
            return self.server.responder.answer(text_of(line and line.lstrip(b"\0")))
        except ValueError as error:
            return f"Error: {one_line(error)}"


def _main() -> None:
    options = parser("gnubg_external", "Serve a bot as an external player of GNU Backgammon.")
    add_address(options, "to listen at")
    given = options.parse_args()
    responder = Responder(*load_bot(given.bot))
    responder.warm_up()
    with Server(responder, given.host, given.port) as server:
        print(f"{given.bot} listens at {given.host}:{server.port}", file=sys.stderr, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    run(_main)
