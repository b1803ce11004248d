"""What a training run can be asked for; Hydra fills these in from `configs/`."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

from omegaconf import MISSING

from nardy_rl.network.value_net import check_growth

_WIDEST = 8192


@dataclass
class Phase:
    """A stretch of a schedule, as long as `games` or `minutes` say; a pair moves linearly from its first value to its
    second while the phase lasts."""

    trace: list[float] = MISSING  # λ of the TD(λ) returns
    learning_rate: list[float] = MISSING  # of Adam
    hidden: list[int] | None = None  # the network grows to these widths as the phase begins
    all_rolls: bool = False  # targets over all 21 rolls instead of the one thrown: 20 times the work
    passes: int = 1  # how often each position is learnt, on average, mixed with those of other batches
    games: int | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        lengths = [length for length in (self.games, self.minutes) if length is not None]
        if len(lengths) != 1 or not (lengths[0] > 0 and math.isfinite(lengths[0])):
            raise ValueError(
                f"a phase needs either games or minutes above 0; got games={self.games} minutes={self.minutes}"
            )
        if self.trace != MISSING:
            _check_pair("trace", self.trace, 0.0, 1.0)
        if self.learning_rate != MISSING:
            _check_pair("learning_rate", self.learning_rate, 0.0, 1.0)
        _check_at_least("passes of a phase", self.passes, 1)


@dataclass
class Schedule:
    """How long, with what λ and learning rate, and how often to look at the result."""

    phases: list[Phase] = MISSING
    batch_games: int = 512  # games played with one set of weights, then learnt from once
    minibatch: int = 1024  # positions in one step of Adam
    evaluations: int = 10  # at most so many in each phase, evenly spread, the last at its end
    evaluation_games: int = 2000  # against random and against the heuristic, each
    gate_games: int = 400  # against the best net so far, with the luck taken off
    final_gate_games: int = 2000  # the same at the end of the schedule, where the nets are closest

    def __post_init__(self) -> None:
        if self.phases != MISSING and not self.phases:
            raise ValueError("option schedule.phases must list at least one phase")
        for name in ("batch_games", "minibatch"):
            _check_at_least(f"schedule.{name}", getattr(self, name), 1)
        _check_at_least("schedule.evaluations", self.evaluations, 1)
        for name in ("evaluation_games", "gate_games", "final_gate_games"):
            value = getattr(self, name)
            if value < 4 or value % 2:
                raise ValueError(f"option schedule.{name} must be an even number from 4; got {value}")


@dataclass
class Network:
    """The shape of the value network."""

    hidden: list[int] = MISSING  # widths of the hidden layers; a wide first one is cheap, a wide second one is not

    def __post_init__(self) -> None:
        if self.hidden != MISSING and not (self.hidden and all(1 <= width <= _WIDEST for width in self.hidden)):
            raise ValueError(
                f"option network.hidden must list layer widths from 1 to {_WIDEST}; got {list(self.hidden)}"
            )


@dataclass
class Options:
    """Everything that train.py understands besides `variant`."""

    network: Network = field(default_factory=Network)
    schedule: Schedule = field(default_factory=Schedule)
    seed: int = 1
    device: str = "auto"  # where the network learns; self-play always runs on the CPU
    folder: str = MISSING  # where the run is kept
    start: str | None = None  # a checkpoint whose net the run begins with, instead of an untrained one
    resume: str | None = None  # the folder of a run to go on with; everything else is then taken from it

    def __post_init__(self) -> None:
        if self.device not in ("auto", "cpu", "cuda"):
            raise ValueError(f"option device must be auto, cpu or cuda; got {self.device!r}")
        if not self.folder:
            raise ValueError("option folder must name a folder; got an empty text")
        if self.start == "":
            raise ValueError("option start must name a checkpoint; got an empty text")
        if self.resume == "":
            raise ValueError("option resume must name the folder of a run; got an empty text")
        self._check_growth()
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"option seed must be from 0 to {2**31 - 1}; got {self.seed}")

    def _check_growth(self) -> None:
        if MISSING in (self.network.hidden, self.schedule.phases):
            return
        hidden = self.network.hidden
        for phase in self.schedule.phases:
            if phase.hidden:
                check_growth(hidden, phase.hidden)
                hidden = phase.hidden

    def to_dict(self) -> dict[str, Any]:
        """The options in plain types, as `from_dict` takes them."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Options:
        """The options of a checkpoint."""
        schedule = dict(values["schedule"])
        schedule["phases"] = [Phase(**phase) for phase in schedule["phases"]]
        return cls(**(values | {"network": Network(**values["network"]), "schedule": Schedule(**schedule)}))


def _check_pair(name: str, pair: list[float], low: float, high: float) -> None:
    if len(pair) != 2 or not all(low <= value <= high for value in pair):
        raise ValueError(f"option {name} of a phase is two numbers from {low:g} to {high:g}; got {list(pair)}")


def _check_at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"option {name} must be at least {least}; got {value}")
