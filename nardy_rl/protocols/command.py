"""The command lines of the protocols: `--option value` as other servers have it, and every fault one line."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from nardy_rl.cli import BAD_INPUT, one_line

LOOPBACK = "127.0.0.1"
BOT_HELP = "a bundle's folder, a checkpoint, a bot in the box by its name, each also as BOT@1 … BOT@3, or heuristic"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _fail(message)


def parser(module: str, description: str) -> argparse.ArgumentParser:
    """A parser for `python -m nardy_rl.protocols.<module> BOT`, that tells of faults in one line with exit code 2."""
    made = _Parser(prog=f"python -m nardy_rl.protocols.{module}", description=description, allow_abbrev=False)
    made.add_argument("bot", metavar="BOT", help=BOT_HELP)
    return made


def add_address(options: argparse.ArgumentParser, whose: str) -> None:
    """Add the options `--port` and `--host`, which is the loopback unless told otherwise."""
    options.add_argument("--port", type=_port, required=True, help=f"the TCP port {whose}")
    options.add_argument("--host", default=LOOPBACK, help=f"the address {whose}, {LOOPBACK} by default")


def run(main: Callable[[], None]) -> None:
    """Call `main`; a ValueError or OSError ends the process with one line on stderr, Ctrl-C with the word stopped."""
    try:
        main()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        raise SystemExit(128 + signal.SIGINT) from None
    except (ValueError, OSError) as error:
        _fail(one_line(error))


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:6]) < 2**16):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535, not {text!r}")
    return int(text)


def _fail(line: str) -> NoReturn:
    print(f"error: {line}", file=sys.stderr)
    raise SystemExit(BAD_INPUT)
