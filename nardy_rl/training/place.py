"""How far a training run has come."""

from __future__ import annotations

import time
from dataclasses import dataclass

from nardy_rl.training.options import Phase


@dataclass
class Place:
    """A run's state without weights and Adam's memory. Seconds are those of training and evaluation together."""

    games: int = 0
    seconds: float = 0.0
    phase: int = 0
    phase_games: int = 0
    phase_seconds: float = 0.0
    evaluated: int = 0  # evaluations done in this phase
    best_games: int = -1  # games after which best.pt was taken; -1: there is none
    best_seconds: float = 0.0

    def spend(self, began: float) -> None:
        """Count the time since `began`, of `time.monotonic`."""
        spent = time.monotonic() - began
        self.seconds += spent
        self.phase_seconds += spent

    def fraction(self, phase: Phase) -> float:
        """How much of `phase` is done, 0…1."""
        done = self.phase_games / phase.games if phase.games else self.phase_seconds / 60 / (phase.minutes or 1)
        return min(done, 1.0)
