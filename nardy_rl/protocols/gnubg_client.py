"""GNU Backgammon as an opponent by its own socket: gnubg listens, we ask it for the moves of its side.

    python -m nardy_rl.protocols.gnubg_client BOT --port 4321 --games 100

docs/protocols.md says how gnubg is told to listen. It has one client at a time. It is asked about legal positions only:
a board that it cannot read it answers with its answer to the last one.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from nardy_rl.cli import one_line
from nardy_rl.evaluation.match import judge_of, play_match
from nardy_rl.evaluation.results import match_table
from nardy_rl.players.registry import load_player
from nardy_rl.protocols.boards import check_short, fibs_board_text, parse_moves, position_after
from nardy_rl.protocols.command import add_address, parser, run
from nardy_rl.protocols.lines import read_lines, shown, text_of
from nardy_rl.rules.kernel import Plays
from nardy_rl.rules.notation import position_text
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import Variant, variant

_PATIENCE = 120.0  # seconds for an answer, then gnubg is taken to have stopped


class GnubgServer:
    """The gnubg that listens at an address, as a player of matches (`registry.OutsidePlayer`).

    It connects when it is first asked. Raises ValueError unless the variant is short, and, as soon as it is asked, if
    there is no gnubg or it does not answer with a legal play.
    """

    def __init__(self, rules: Variant, host: str, port: int) -> None:
        check_short(rules, "GNU Backgammon")
        self.variant, self.host, self.port = rules, host, port
        self._socket: socket.socket | None = None
        self._lines: Iterator[bytes | None] = iter(())

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_socket": None, "_lines": iter(())}

    def choose(self, board: NDArray[np.int8], plays: Plays, size: int, dice: tuple[int, int]) -> int:
        """The index of gnubg's play: see `registry.OutsidePlayer`."""
        if size == 1:
            return 0
        position = Position(board)
        answer = self._ask(fibs_board_text(position, dice))
        try:
            wanted = position_after(position, parse_moves(answer))
            return [play.after for play in legal_plays(self.variant, position, dice)].index(wanted)
        except ValueError:
            where = f"on {position_text(position)} with {dice[0]}-{dice[1]}"
            raise ValueError(f"gnubg at {self.host}:{self.port} answers {shown(answer)} {where}: not legal") from None

    def close(self) -> None:
        """Disconnect, so that gnubg has time for the next client."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._lines = None, iter(())

    def _ask(self, line: str) -> str:
        where = f"gnubg at {self.host}:{self.port}"
        try:
            if self._socket is None:
                self._socket = socket.create_connection((self.host, self.port), _PATIENCE)
                self._lines = read_lines(self._socket.recv)
            self._socket.sendall(f"{line}\n".encode())
            for answer in self._lines:
                return text_of(answer)
        except OSError as error:
            self.close()
            raise ValueError(f"{where} cannot be asked: {one_line(error)}") from None
        raise ValueError(f"{where} hangs up without an answer")


def _main() -> None:
    options = parser("gnubg_client", "Play a match between a bot and a GNU Backgammon that listens.")
    add_address(options, "at which gnubg listens")
    options.add_argument("--games", type=int, default=100, help="how many games, an even number from 4")
    options.add_argument("--seed", type=int, default=1, help="of the dice")
    given = options.parse_args()
    rules = variant("short")
    bot, gnubg = load_player(given.bot, rules), GnubgServer(rules, given.host, given.port)
    # gnubg has one client at a time, so one process plays.
    judge = judge_of(bot, gnubg)
    result = play_match(rules, bot, gnubg, given.games, given.seed, workers=1, judge=judge)
    Console().print(match_table(result, rules, given.bot, f"gnubg at {given.host}:{given.port}"))


if __name__ == "__main__":
    run(_main)
