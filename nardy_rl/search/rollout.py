"""Rollouts: a position is played to its end many times, the network choosing for both sides, and the results averaged.

The luck of the dice is taken off each trial: how much better a roll's best play is than that of the average roll, in
the network's eyes. On average over the rolls this is 0 whatever the network thinks, so that means stay unbiased, and of
the noise only what the network does not foresee is left (White, "Variance reduction", 1999; GNU Backgammon's manual,
"Rollouts"). Luck is counted in each of the nested probabilities, and so in the equity, a weighted sum of them.

The trials' first roll goes through all 36 in turn, and after each of them the second does, so that 36 or 1,296 trials
are spread evenly; later rolls are random. Everything follows from the seed and a trial's number.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import cores
from nardy_rl.rules.dice import below, stream
from nardy_rl.rules.position import OFF
from nardy_rl.rules.protocol import Standing
from nardy_rl.rules.variant import Variant
from nardy_rl.search.lookahead import MAX_PLIES
from nardy_rl.search.rater import Rater
from nardy_rl.search.trials import FACES, LONGEST, LOTTERY_FACES, TO_THE_END, Plan, new_desk, play_trials

_CHUNK = 36  # trials that a thread plays at a time


@dataclass(frozen=True)
class Rollout:
    """What a rollout found, for the player who acts in the position.

    Errors are standard errors of the means. Without the luck of the dice a mean can lie a little outside 0…1.
    """

    probabilities: NDArray[np.float64]  # [outputs], nested as a network's
    probability_errors: NDArray[np.float64]  # [outputs]
    equity: float
    equity_error: float
    equities: NDArray[np.float64]  # [trials]; equal numbers of two rollouts with one seed had the same dice

    def turned(self) -> Rollout:
        """The same for the other player."""
        levels = (len(self.probabilities) + 1) // 2
        order = [0, *range(levels, 2 * levels - 1), *range(1, levels)]
        probabilities, errors = self.probabilities[order], self.probability_errors[order]
        probabilities[0] = 1 - probabilities[0]
        return Rollout(probabilities, errors, -self.equity, self.equity_error, -self.equities)


def roll_out(
    variant: Variant,
    rater: Rater,
    board: NDArray[np.int8],
    standing: Standing,
    trials: int,
    seed: int,
    *,
    plies: int = 0,
    half_turns: int | None = None,
    reduce: bool = True,
    workers: int | None = None,
) -> Rollout:
    """Play a position out `trials` times, from 2, and average.

    board: int8[2, 26], row 0 the player who acts as `standing` says: he is about to roll, or has dice to play. plies:
    from 0, the bare network, to MAX_PLIES. half_turns: after so many rolls a trial ends with the rating of the last
    one's play, with 0 at once; None plays on to the end, or to where the bear-off tables know it. reduce: whether luck
    is taken off, for some 20 times the work. workers: threads, None for one for each core; the result does not depend
    on it. Raises ValueError for arguments out of range, and for a variant of which a game does not end.
    """
    check_rollout(trials, half_turns)
    if not 0 <= plies <= MAX_PLIES:
        raise ValueError(f"plies must be from 0 to {MAX_PLIES}; got {plies}")
    if variant.checkers in board[:, OFF]:
        raise ValueError("the game is finished: all checkers of one side are off")
    lottery = variant.rules.lottery_opening and standing.rolls_0 + standing.rolls_1 == 0
    faces = LOTTERY_FACES if lottery else FACES
    plan = Plan(plies, TO_THE_END if half_turns is None else half_turns, reduce, seed, _orders(seed, faces))
    start, outcomes = board.copy(), np.zeros((trials, variant.outputs))

    def play(first: int) -> bool:
        chunk = outcomes[first : first + _CHUNK]
        return play_trials(rater, start, standing, plan, first, variant.rules, new_desk(rater), chunk)

    chunks = range(0, trials, _CHUNK)
    with ThreadPoolExecutor(min(workers or cores(), len(chunks))) as pool:
        if not all(pool.map(play, chunks)):
            raise ValueError(f"a game of variant {variant.name} passed {LONGEST} decisions: its rules may never end")
    weights = rater.net.equity.astype(np.float64)
    equities = outcomes @ weights[:-1] + weights[-1]
    return Rollout(
        outcomes.mean(axis=0), stratified_error(outcomes, faces), float(equities.mean()),
        float(stratified_error(equities, faces)), equities,
    )  # fmt: skip


def check_rollout(trials: int, half_turns: int | None) -> None:
    """Raise ValueError unless these arguments of `roll_out` are in range."""
    if trials < 2:
        raise ValueError(f"a rollout needs a whole number of trials from 2; got {trials}")
    if half_turns is not None and half_turns < 0:
        raise ValueError(f"half_turns must be a whole number from 0, or null to play to the end; got {half_turns}")


def stratified_error(values: NDArray[np.float64], strata: int) -> Any:
    """The standard error of the mean of [trials, …], trials that went through `strata` first rolls in turn.

    What the first rolls differ by is no error, unless there are too few trials to tell it apart.
    """
    trials = len(values)
    if trials < 2 * strata:
        return values.std(axis=0, ddof=1) / math.sqrt(trials)
    within = sum(group.var(axis=0) * len(group) for group in (values[first::strata] for first in range(strata)))
    return np.sqrt(within / (trials - strata) / trials)


def _orders(seed: int, faces: int) -> NDArray[np.int64]:
    """Random orders of the first `faces` rolls, and of the 36 that follow each: see `trials.Plan`."""
    key, counter = stream(seed, -1), 0
    orders = np.zeros((1 + faces, FACES), np.int64)
    for row, size in enumerate([faces] + [FACES] * faces):
        order = list(range(size))
        for place in range(size - 1, 0, -1):
            other = below(key, counter, place + 1)
            order[place], order[other] = order[other], order[place]
            counter += 1
        orders[row, :size] = order
    return orders
