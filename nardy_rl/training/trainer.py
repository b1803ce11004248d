"""The training loop: play a batch, learn from it, now and then evaluate, keep the best, save."""

from __future__ import annotations

import copy
import dataclasses
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from nardy_rl.files import replacing
from nardy_rl.network.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from nardy_rl.network.value_net import ValueNet, grown, new_net
from nardy_rl.players.bot import Bot, network_bot
from nardy_rl.players.box import BEST, CONFIG, HISTORY
from nardy_rl.rules.dice import stream
from nardy_rl.rules.variant import Variant
from nardy_rl.selfplay.batch import Batch, SelfPlay
from nardy_rl.training.display import Display
from nardy_rl.training.evaluations import Evaluation, evaluate
from nardy_rl.training.learner import DivergedError, choose_device, new_learner
from nardy_rl.training.log import RunLog
from nardy_rl.training.options import Options, Phase
from nardy_rl.training.place import Place
from nardy_rl.training.replay import Replay
from nardy_rl.training.sanity import game_statistics

LAST = "last.pt"  # in a run's folder, besides BEST, HISTORY and CONFIG
_SAVE_SECONDS = 20.0  # a killed run loses no more than this, one stretch and one evaluation
_FINAL_SEED = 2**62  # no number of games, so that the last match has dice of its own
_SEED_BITS = 2**31 - 1  # the seeds that a run may have
_STRETCH = 8  # batches between two chances to evaluate, save or stop; they make one point of a curve


@dataclass
class _Stretch:
    """What a stretch of batches leaves behind."""

    games: list[NDArray[np.int64]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    def pace(self) -> float:
        """Games a second."""
        return sum(len(games) for games in self.games) / (time.perf_counter() - self.began)


class Trainer:
    """A run in its folder. `run` trains until the schedule ends or `stop` says so."""

    def __init__(self, variant: Variant, options: Options, folder: Path, display: Display) -> None:
        """A new run. Raises ValueError if `folder` holds one already, or a bot, or if the net of `options.start` cannot
        be read or is no smaller one for these rules; OSError if `folder` cannot be written."""
        if (folder / LAST).exists():
            raise ValueError(f"{folder} holds a run already; go on with it by resume={folder}")
        if (folder / BEST).exists():
            raise ValueError(f"{folder} holds a bot already; begin with its net by start={folder / BEST}")
        choose_device(options.device)  # refuses what is not there before the folder is made
        net, place = _beginning(variant, options)
        folder.mkdir(parents=True, exist_ok=True)
        config = yaml.safe_dump({"variant": variant.to_dict(), **options.to_dict()}, sort_keys=False)
        with replacing(folder / CONFIG) as file:
            file.write(config.encode())
        self._set_up(variant, options, folder, display, net, place)
        if options.start is not None:
            self._take_as_best()
            self._save_best()
        self._save()

    @classmethod
    def resume(cls, folder: Path, display: Display, device: str = "auto") -> Trainer:
        """The run in `folder`, as it was when it was last saved. Raises ValueError if there is none.

        device: as in `Options`; auto leaves it to the run's own options.
        """
        checkpoint = load_checkpoint(folder / LAST)
        if not checkpoint.run:
            raise ValueError(f"{folder / LAST} is a bot without the state of its run: it cannot be resumed")
        trainer = cls.__new__(cls)
        try:
            options = Options.from_dict(checkpoint.run["options"])
            if device != "auto":
                options = dataclasses.replace(options, device=device)
            place = Place(**checkpoint.run["place"])
            trainer._set_up(checkpoint.variant, options, folder, display, checkpoint.net, place)
            trainer._learner.load_state(checkpoint.run["adam"])
            trainer._restore_best(checkpoint.run["best"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{folder / LAST} is damaged: the state of its run lacks or garbles {error}") from None
        return trainer

    def _set_up(
        self, variant: Variant, options: Options, folder: Path, display: Display, net: ValueNet, place: Place
    ) -> None:
        self.variant, self.options, self.folder, self.place = variant, options, folder, place
        self._display = display
        self._learner = new_learner(net, choose_device(options.device), options.schedule.minibatch)
        self._bot = network_bot(net, variant)
        self._best: Bot | None = None
        self._best_net: ValueNet | None = None
        self._selfplay = SelfPlay(variant, options.seed)
        self._replay = Replay()
        begins = place.phase == place.phase_games == 0
        config = {"variant": variant.to_dict(), **options.to_dict()} if begins else None
        self._log = RunLog(folder, variant, place.games, config)
        self._background = ThreadPoolExecutor(1)
        self._saved = time.monotonic()

    def run(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Train to the end of the schedule; returns False if `stop` ended it before.

        Either way the run is saved. Raises DivergedError, the last good checkpoint kept, if the loss is not finite.
        """
        phases, place = self.options.schedule.phases, self.place
        try:
            while place.phase < len(phases) and not stop():
                phase = phases[place.phase]
                if phase.hidden and tuple(phase.hidden) != self._learner.net.hidden:
                    self._grow(phase.hidden)
                if self._evaluations_by_now(phase) > place.evaluated:
                    self._save()
                    self._evaluate(phase)
                    self._save()
                elif place.fraction(phase) >= 1:
                    place.phase, place.phase_games, place.phase_seconds, place.evaluated = place.phase + 1, 0, 0.0, 0
                    self._replay = Replay()  # the targets of another phase may be poorer ones
                else:
                    self._train_stretch(phase)
                if time.monotonic() - self._saved > _SAVE_SECONDS:
                    self._save()
            self._save()
        finally:
            self._log.close()
        return place.phase == len(phases)

    def _evaluations_by_now(self, phase: Phase) -> int:
        return int(self.place.fraction(phase) * self.options.schedule.evaluations)

    def _train_stretch(self, phase: Phase) -> None:
        """Play some batches and learn from each while the next one is played.

        A batch is thus played with weights that have not seen the batch before it. Where a stretch ends everything
        played is learnt, so that a run resumed from there goes on exactly.
        """
        place = self.place
        stretch = _Stretch()
        learning: Future[float] | None = None
        for _ in range(_STRETCH):
            if place.fraction(phase) >= 1:
                break
            began = time.monotonic()
            fraction = place.fraction(phase)
            rate = float(np.interp(fraction, [0, 1], phase.learning_rate))
            trace = float(np.interp(fraction, [0, 1], phase.trace))
            number = self.options.schedule.batch_games
            if phase.games:
                number = min(number, phase.games - place.phase_games)
            batch = self._selfplay.play(self._bot, place.games, number, trace, phase.all_rolls)
            if learning is not None:
                stretch.losses.append(self._learnt(learning))
            key = stream(self.options.seed, place.games)
            learning = self._background.submit(self._learn, batch, phase.passes, rate, key)
            stretch.games.append(batch.games)
            place.games += number
            place.phase_games += number
            place.spend(began)
            self._display.batch(place.games, stretch.pace(), stretch.losses, self._seconds_left())
        if learning is not None:
            began = time.monotonic()
            stretch.losses.append(self._learnt(learning))
            place.spend(began)
            self._write_log(stretch, rate, trace)

    def _learn(self, batch: Batch, passes: int, rate: float, key: int) -> float:
        return self._learner.learn(self._replay.mix(batch, passes, key), rate, key)

    def _learnt(self, learning: Future[float]) -> float:
        """Wait for the learner and let self-play use its weights."""
        try:
            loss = learning.result()
        except DivergedError as error:
            raise DivergedError(
                f"{error} after {self.place.games} games; {self.folder / LAST} is from before; "
                "a lower learning rate may help"
            ) from None
        self._bot = network_bot(self._learner.net, self.variant)
        return loss

    def _write_log(self, stretch: _Stretch, rate: float, trace: float) -> None:
        games = self.place.games
        self._log.selfplay(game_statistics(self.variant, np.concatenate(stretch.games)), games)
        loss = float(np.mean(stretch.losses))
        self._log.scalars("train", {"loss": loss, "learning_rate": rate, "trace": trace}, games)
        self._log.scalars("speed", {"games_per_second": stretch.pace()}, games)

    def _evaluate(self, phase: Phase) -> None:
        place, schedule, began = self.place, self.options.schedule, time.monotonic()
        is_last = place.phase == len(schedule.phases) - 1 and place.fraction(phase) >= 1
        gate_games = schedule.final_gate_games if is_last else schedule.gate_games
        games = schedule.evaluation_games
        result = evaluate(self.variant, self._bot, self._best, games, gate_games, seed=place.games)
        place.evaluated = self._evaluations_by_now(phase)  # what a slow machine was late for is not made up
        if result.is_best:
            self._take_as_best()
            self._save()  # before best.pt, which can be made again from it
            self._save_best()
        self._keep()
        self._log.scalars("eval", result.curves(), place.games)
        self._log.openings(self._bot, place.games)
        self._display.evaluation(place.games, result)
        place.spend(began)  # a phase of two minutes takes two minutes in all

    def final(self) -> Evaluation:
        """The best net of the run against random and the heuristic."""
        assert self._best is not None, "a schedule ends with an evaluation, and the first one has the best net so far"
        games = self.options.schedule.evaluation_games
        return evaluate(self.variant, self._best, None, games, games, seed=_FINAL_SEED)

    def _seconds_left(self) -> float:
        """An estimate from the pace of this phase."""
        place, phases = self.place, self.options.schedule.phases
        pace = (place.phase_seconds + 1e-9) / max(place.phase_games, 1)
        left = 0.0
        for index in range(place.phase, len(phases)):
            phase = phases[index]
            whole = phase.games * pace if phase.games else 60 * (phase.minutes or 0)
            left += whole * (1 - place.fraction(phase)) if index == place.phase else whole
        return left

    def _keep(self) -> None:
        """Keep the net as it is, for whoever asks later how strong the run was by then."""
        history = self.folder / HISTORY
        history.mkdir(exist_ok=True)
        games, seconds = self.place.games, self.place.seconds
        save_checkpoint(history / f"{games}.pt", Checkpoint(self.variant, self._learner.net, games, seconds))

    def _take_as_best(self) -> None:
        """The net as it is becomes the one to beat."""
        self._best, self._best_net = self._bot, copy.deepcopy(self._learner.net).cpu()
        self.place.best_games, self.place.best_seconds = self.place.games, self.place.seconds

    def _save_best(self) -> None:
        assert self._best_net is not None
        place = self.place
        best = Checkpoint(self.variant, self._best_net, place.best_games, place.best_seconds)
        save_checkpoint(self.folder / BEST, best)

    def _restore_best(self, best: dict[str, Any] | None) -> None:
        """Go on with the best net of a checkpoint, and write its file anew: a killed run may have been ahead of it."""
        if best is None:
            return
        self._best_net = ValueNet(best["hidden"], self.variant)
        self._best_net.load_state_dict(best["weights"])
        self._save_best()
        self._best = network_bot(self._best_net, self.variant)

    def _grow(self, hidden: list[int]) -> None:
        """Go on with a larger network and a fresh Adam, which begins with small steps."""
        net = grown(self._learner.net.cpu(), hidden, stream(self.options.seed, self.place.games) & _SEED_BITS)
        self._learner = new_learner(net, choose_device(self.options.device), self.options.schedule.minibatch)
        self._bot = network_bot(net, self.variant)

    def _save(self) -> None:
        run = {
            "options": self.options.to_dict(),
            "place": dataclasses.asdict(self.place),
            "adam": self._learner.state(),
            "best": None if self._best_net is None else _plain(self._best_net),
        }
        last = Checkpoint(self.variant, self._learner.net, self.place.games, self.place.seconds, run)
        save_checkpoint(self.folder / LAST, last)
        self._log.flush()  # else the curves of a run that is killed later would lack what its checkpoint has behind it
        self._saved = time.monotonic()


def _beginning(variant: Variant, options: Options) -> tuple[ValueNet, Place]:
    """What a run begins with: an untrained net; or that of `options.start`, in the shape that is asked for and with the
    games that it has behind it."""
    hidden = options.network.hidden
    if options.start is None:
        return new_net(hidden, variant, options.seed), Place()
    start = load_checkpoint(options.start, variant)
    net = start.net if start.net.hidden == tuple(hidden) else grown(start.net, hidden, options.seed)
    return net, Place(games=start.games, seconds=start.seconds)


def _plain(net: ValueNet) -> dict[str, Any]:
    """A network in plain types."""
    return {"hidden": list(net.hidden), "weights": {name: tensor.clone() for name, tensor in net.state_dict().items()}}
