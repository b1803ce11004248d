"""Timing of several works in turn, so that a slow minute of the machine falls on all of them alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """Something to time. `prepare(repetition)` gives what is timed: a function that returns how many units it did."""

    name: str
    prepare: Callable[[int], Callable[[], int]]


@dataclass(frozen=True)
class Rates:
    """Units a second of one work in each repetition, of CPU time and of wall time."""

    cpu: tuple[float, ...]
    wall: tuple[float, ...]


@dataclass(frozen=True)
class Spread:
    """The median of some figures, with the least and the greatest."""

    median: float
    low: float
    high: float


def spread(figures: Sequence[float]) -> Spread:
    """What to report of repeated figures."""
    return Spread(statistics.median(figures), min(figures), max(figures))


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """The spread of the ratios, repetition by repetition."""
    return spread([mine / other for mine, other in zip(ours, theirs, strict=True)])


def interleaved(works: Sequence[Work], repetitions: int) -> dict[str, Rates]:
    """Time all works one after another, again and again, on one thread; a first round only warms up."""
    samples: dict[str, list[tuple[float, float]]] = {work.name: [] for work in works}
    for repetition in range(repetitions + 1):
        for work in works:
            run = work.prepare(repetition)
            cpu, wall = time.process_time(), time.perf_counter()
            done = run()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            if repetition:
                samples[work.name].append((done / cpu, done / wall))
    return {name: Rates(*zip(*rates, strict=True)) for name, rates in samples.items()}
