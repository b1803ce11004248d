"""A position under study: what a bot thinks of it or of the plays of a roll, and what rollouts find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.players.analysis import RatedPlay, rank_plays, rate_position
from nardy_rl.players.bot import Bot
from nardy_rl.rules.notation import play_text
from nardy_rl.rules.plays import standing_before
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.protocol import Standing
from nardy_rl.rules.variant import Variant
from nardy_rl.search.rollout import Rollout, roll_out, stratified_error
from nardy_rl.search.trials import FACES

ROLLED_PLAYS = 5
"""How many plays are rolled out at most …"""
ROLLED_MARGIN = 0.2
"""… and how far, in points, they may be behind the best as the network sees it."""

_TO_ROLL = "about to roll"


@dataclass(frozen=True)
class RolloutOptions:
    """How positions are rolled out: see `search.rollout.roll_out`."""

    trials: int
    half_turns: int | None = None
    seed: int = 1
    workers: int | None = None


@dataclass(frozen=True)
class Line:
    """One play, or a position before the roll, as the player on roll sees it. Errors are None without a rollout."""

    text: str
    judged_by: str
    equity: float
    """In points, cubeless."""
    probabilities: NDArray[np.floating[Any]]
    """[outputs], nested as a network's."""
    behind: float = 0.0
    """Equity missing to the best."""
    equity_error: float | None = None
    """Standard error, as the others."""
    probability_errors: NDArray[np.float64] | None = None
    behind_error: float | None = None
    """Of the difference trial by trial: all plays of a roll are rolled out with the same dice."""


def study_position(
    bot: Bot, variant: Variant, position: Position, first_turn: str | None, rollout: RolloutOptions | None
) -> list[Line]:
    """The position before the roll, rated by a network bot and, if asked, by a rollout too: one or two lines.

    Errors as for `players.analysis.rate_position`, and those of `roll_out`.
    """
    equity, outcome = rate_position(bot, variant, position, first_turn)
    lines = [Line(_TO_ROLL, _by_net(bot.plies), equity, outcome)]
    if rollout is None:
        return lines
    standing = standing_before(first_turn, variant.rules)
    found = _roll_out(bot, variant, position.board(), standing, rollout)
    rolled = Line(
        _TO_ROLL, _by_rollout(rollout), found.equity, found.probabilities,
        equity_error=found.equity_error, probability_errors=found.probability_errors,
    )  # fmt: skip
    return [rolled, *lines]


def study_plays(
    bot: Bot,
    variant: Variant,
    position: Position,
    dice: tuple[int, int],
    first_turn: str | None,
    rollout: RolloutOptions | None,
) -> list[Line]:
    """All plays of a roll, the best first: those rolled out before those that only the network rated.

    Errors as for `players.analysis.rank_plays`, and those of `roll_out`.
    """
    ranked = rank_plays(bot, variant, position, dice, first_turn)
    close = [rated for rated in ranked if rated.equity >= ranked[0].equity - ROLLED_MARGIN][:ROLLED_PLAYS]
    rolled = [] if rollout is None else _rolled_lines(bot, variant, close, rollout)
    others = ranked if rollout is None else [rated for rated in ranked if rated not in close]
    lines = [Line(play_text(rated.play), _by_net(rated.plies), rated.equity, rated.probabilities) for rated in others]
    best = (rolled or lines)[0].equity
    return rolled + [replace(line, behind=best - line.equity) for line in lines]


def _rolled_lines(bot: Bot, variant: Variant, plays: list[RatedPlay], options: RolloutOptions) -> list[Line]:
    """The lines of plays that are rolled out, the best first."""
    found = [(_roll_out_play(bot, variant, rated, options), play_text(rated.play)) for rated in plays]
    found.sort(key=lambda pair: -pair[0].equity)
    best = found[0][0]
    return [
        Line(
            text, _by_rollout(options), rollout.equity, rollout.probabilities, best.equity - rollout.equity,
            rollout.equity_error, rollout.probability_errors, _error_of_difference(best, rollout),
        )
        for rollout, text in found
    ]  # fmt: skip


def _roll_out_play(bot: Bot, variant: Variant, rated: RatedPlay, options: RolloutOptions) -> Rollout:
    """What a play leads to, for the mover, seat 0; of a won game exactly."""
    if rated.play.after.array[0, OFF] == variant.checkers:
        certain = np.zeros(len(rated.probabilities))
        equities = np.full(options.trials, rated.equity)
        return Rollout(rated.probabilities.astype(np.float64), certain, rated.equity, 0.0, equities)
    found = _roll_out(bot, variant, rated.board, rated.coming, options)
    return found.turned() if rated.coming.seat else found


def _roll_out(
    bot: Bot, variant: Variant, board: NDArray[np.int8], standing: Standing, options: RolloutOptions
) -> Rollout:
    return roll_out(
        variant, bot.rater, board, standing, options.trials, options.seed,
        plies=bot.plies, half_turns=options.half_turns, workers=options.workers,
    )  # fmt: skip


def _error_of_difference(one: Rollout, other: Rollout) -> float:
    """The standard error of the difference of two equities that were rolled out with the same dice."""
    return float(stratified_error(one.equities - other.equities, FACES))


def _by_net(plies: int) -> str:
    return f"{plies} plies" if plies > 1 else f"{plies} ply" if plies else "net"


def _by_rollout(options: RolloutOptions) -> str:
    return f"rollout, {options.trials:,}"
