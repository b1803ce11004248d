"""The real GNU Backgammon, where it is installed, for the tests of both its sockets."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time

import pytest

# Debian has it where the PATH of a service often does not lead.
GNUBG = shutil.which("gnubg", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"]))
needs_gnubg = pytest.mark.skipif(GNUBG is None, reason="GNU Backgammon is not installed (apt-get install gnubg)")

_PLAIN = """
set automatic game off
set display off
set confirm new off
set confirm save off
set threads 1
set jacoby off
set player 0 gnubg
set player 0 chequerplay evaluation plies 0
set player 0 cubedecision evaluation plies 0
"""
_WON = re.compile(r"^(\w+) wins a (?:single game|gammon|backgammon) and (\d+) points?\.$", re.M)
_DROPPED = re.compile(r"^(\w+) refuses the cube and gives up (\d+) points?\.$", re.M)


def run_gnubg(commands: str, seconds: float) -> str:
    """What gnubg prints for these commands."""
    done = subprocess.run(
        [GNUBG, "-t", "-q", "-r"], input=commands, capture_output=True, text=True, timeout=seconds, check=True
    )
    return done.stdout


def play_games(port: int, games: int, settings: str, seat: int = 1, seed: int = 1) -> tuple[list[int], str]:
    """Games of gnubg at 0 plies against its external player at a port: his points in each, and what gnubg printed."""
    commands = _PLAIN.replace("player 0", f"player {1 - seat}") + settings
    commands += f"set player {seat} name bot\nset player {1 - seat} name engine\n"
    commands += f"set player {seat} external 127.0.0.1:{port}\n"
    for game in range(games):
        commands += f"set seed {seed + game}\nnew game\n"
    printed = run_gnubg(commands, seconds=60 + 20 * games)
    points = [int(won) if name == "bot" else -int(won) for name, won in _WON.findall(printed)]
    points += [-int(won) if name == "bot" else int(won) for name, won in _DROPPED.findall(printed)]
    return points, printed


@contextlib.contextmanager
def listening_gnubg(plies: int = 0):
    """A gnubg that listens at the port it yields, for clients that ask it for moves."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = f"set evaluation chequerplay evaluation plies {plies}\nexternal 127.0.0.1:{port}\n"
    command = [GNUBG, "-t", "-q", "-r"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as program:
        try:
            program.stdin.write(settings)
            program.stdin.flush()
            _wait_for(port)
            yield port
        finally:
            program.kill()


def _wait_for(port: int) -> None:
    """Until somebody listens; looked up in the kernel's table, because gnubg would take a connection for a client."""
    wanted = f":{port:04X}"
    for _ in range(200):
        with open("/proc/net/tcp") as table:
            if any(line.split()[1].endswith(wanted) and line.split()[3] == "0A" for line in list(table)[1:]):
                return
        time.sleep(0.1)
    raise TimeoutError(f"gnubg does not listen at port {port}")
