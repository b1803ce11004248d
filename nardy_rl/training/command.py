"""What train.py does: start or resume a run, obey signals, say at the end what came of it."""

from __future__ import annotations

import signal
import sys
import threading
import time
from pathlib import Path
from typing import NoReturn

from hydra.core.hydra_config import HydraConfig
from rich.console import Console

from nardy_rl.network.value_net import new_net
from nardy_rl.players.analysis import best_opening
from nardy_rl.players.bot import network_bot
from nardy_rl.players.box import BEST
from nardy_rl.rules.variant import Variant
from nardy_rl.selfplay.batch import SelfPlay
from nardy_rl.training.display import Display
from nardy_rl.training.evaluations import evaluate
from nardy_rl.training.learner import DivergedError, choose_device, new_learner
from nardy_rl.training.options import Options
from nardy_rl.training.trainer import Trainer

_DIVERGED = 1
_TRIAL_GAMES = 4


def main(variant: Variant, options: Options) -> None:
    """Train as `options` say; ends the process with 128 + signal where SIGINT or SIGTERM stopped it."""
    console = Console()
    _refuse_other_options(options)
    threading.excepthook = _ignore_write_error
    stop = _StopSignal()
    with Display(console) as display:
        if options.resume is None:
            trainer = Trainer(variant, options, Path(options.folder), display)
        else:
            trainer = Trainer.resume(Path(options.resume), display, options.device)
        _compile(trainer.variant, trainer.options.device, display)
        display.line(f"{trainer.variant.name} in {trainer.folder} · tensorboard --logdir {trainer.folder}")
        try:
            finished = trainer.run(stop)
        except DivergedError as error:
            _end(f"error: {error}", _DIVERGED)
    if not finished:
        _end(f"stopped and saved; go on with: python train.py resume={trainer.folder}", 128 + stop.received)
    result = trainer.final()
    place = trainer.place
    console.print(
        f"best net: {trainer.folder / BEST}, after {place.best_games:,} of {place.games:,} games", soft_wrap=True
    )
    console.print(f"it wins against {result}", highlight=False, soft_wrap=True)


def _refuse_other_options(options: Options) -> None:
    """Raise ValueError if a run is to be resumed with options that it would not heed."""
    given = HydraConfig.get().overrides.task
    others = [text for text in given if not text.startswith(("resume=", "device="))]
    if options.resume is not None and others:
        raise ValueError(f"resume= takes everything from the run; leave out {' '.join(others)}")


def _ignore_write_error(failure: threading.ExceptHookArgs) -> None:
    """Keep TensorBoard's writer thread from printing a traceback; the next flush raises the same error here."""
    if not isinstance(failure.exc_value, OSError):
        threading.__excepthook__(failure)


class _StopSignal:
    """Remembers SIGINT and SIGTERM; a second one ends the process at once."""

    def __init__(self) -> None:
        self.received = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def _handle(self, number: int, frame: object) -> None:
        self.received = number
        signal.signal(number, signal.SIG_DFL)

    def __call__(self) -> bool:
        return self.received != 0


def _compile(variant: Variant, device: str, display: Display) -> None:
    """Compile what a run needs, and say so where it takes a while: the machine code of an earlier run is kept."""
    began = time.monotonic()
    notice = threading.Timer(2.0, display.line, ["compiling the game engine (once on this machine) …"])
    notice.start()
    try:
        net = new_net([1], variant, 0)
        bot = network_bot(net, variant)
        batch = SelfPlay(variant, seed=0, workers=1).play(bot, 0, _TRIAL_GAMES, trace=0.0)
        new_learner(net, choose_device(device), minibatch=1024).learn(batch, 1e-3, seed=0)
        evaluate(variant, bot, bot, 4, 4, seed=0)
        best_opening(bot, variant, (2, 1))
    finally:
        told = not notice.is_alive()
        notice.cancel()
    if told:
        display.line(f"compiled in {time.monotonic() - began:.0f} s")


def _end(line: str, code: int) -> NoReturn:
    print(line, file=sys.stderr)
    raise SystemExit(code)
