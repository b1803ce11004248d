"""Positions under study, round robins and decisions: for people, as tables, and for programs, as plain types."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from nardy_rl.evaluation.quality import Quality
from nardy_rl.evaluation.round_robin import RoundRobin
from nardy_rl.evaluation.statistics import Z_95
from nardy_rl.evaluation.study import Line
from nardy_rl.rules.variant import Variant

_NESTED = "chances in percent; what is worth more points counts among what is worth fewer, too"


def outcome_names(variant: Variant) -> list[str]:
    """What a player may expect, as `variant` calls it: win, win_gammon, …, lose, lose_gammon, …"""
    points = variant.single, variant.mars, variant.home_mars, variant.koks
    by_points = dict(zip(reversed(points), reversed(variant.class_names), strict=True))
    higher = [by_points[level] for level in variant.levels[1:]]
    return [*chain(["win"], (f"win_{name}" for name in higher)), *chain(["lose"], (f"lose_{name}" for name in higher))]


def study_table(lines: list[Line], variant: Variant, title: str) -> Table:
    """One row for each line, chances in percent, standard errors below them."""
    table = Table(title=title, title_justify="left", caption=_NESTED, caption_justify="left")
    table.add_column("play")
    for name in ("equity", "behind", *outcome_names(variant)):
        table.add_column(name.replace("_", "\n"), justify="right", no_wrap=True)
    table.add_column("judged by")
    for line in lines:
        figures = [f"{line.equity:+.4f}", f"{line.behind:.4f}" if line.behind else ""]
        figures += [f"{100 * outcome:.1f}" for outcome in _chances(line)]
        if line.probability_errors is not None:
            errors = [f"±{line.equity_error:.4f}", f"±{line.behind_error:.4f}" if line.behind else ""]
            errors += [f"±{100 * error:.1f}" for error in _errors(line.probability_errors)]
            figures = [f"{figure}\n{error}" for figure, error in zip(figures, errors, strict=True)]
        table.add_row(line.text, *figures, line.judged_by)
    return table


def line_sheet(line: Line, variant: Variant) -> dict[str, Any]:
    """A line in types that JSON knows."""
    names, nested = outcome_names(variant), line.probability_errors
    return {
        "play": line.text,
        "judged_by": line.judged_by,
        "equity": line.equity,
        "equity_error": line.equity_error,
        "behind": line.behind,
        "behind_error": line.behind_error,
        "probabilities": dict(zip(names, _chances(line), strict=True)),
        "probability_errors": None if nested is None else dict(zip(names, _errors(nested), strict=True)),
    }


def _chances(line: Line) -> list[float]:
    """One for each of `outcome_names`."""
    return _with_losing(line.probabilities, 1 - line.probabilities[0])


def _errors(nested: NDArray[np.float64]) -> list[float]:
    """One for each of `outcome_names`: that of losing is that of winning."""
    return _with_losing(nested, nested[0])


def _with_losing(nested: NDArray[np.floating[Any]], lose: float) -> list[float]:
    levels = (len(nested) + 1) // 2
    return [float(value) for value in (*nested[:levels], lose, *nested[levels:])]


def round_robin_table(played: RoundRobin, variant: Variant, games: int, seed: int) -> Table:
    """Players by rating, each with what he won from every other."""
    order = played.order()
    title = f"variant {variant.name}, {games:,} games a pairing, the same dice in all; seed {seed}"
    note = (
        "rating: points per game won from the average of these bots, by least squares; ± is half a 95 % interval\n"
        f"in the columns, points per game ± standard error; chi-squared of the ratings {played.misfit:.1f} "
        f"by {played.degrees} degrees of freedom"
    )
    table = Table(title=title, title_justify="left", caption=note, caption_justify="left")
    for name in ("", "bot", "rating", "Elo", *(str(place) for place in range(1, len(order) + 1))):
        table.add_column(name, justify="left" if name == "bot" else "right")
    for place, player in enumerate(order, 1):
        rating, elo = played.ratings, played.elo
        table.add_row(
            str(place),
            played.names[player],
            f"{rating.values[player]:+.3f} ± {Z_95 * rating.errors[player]:.3f}",
            f"{elo.values[player]:+.0f} ± {Z_95 * elo.errors[player]:.0f}",
            *("" if other == player else _points_text(played, player, other) for other in order),
        )
    return table


def _points_text(played: RoundRobin, player: int, other: int) -> str:
    return f"{played.points[player, other]:+.3f} ± {played.errors[player, other]:.3f}"


def quality_table(quality: Quality, bot: str, name: str) -> Table:
    """A player's quality; `name` is that of the decisions."""
    table = Table(title=f"{bot} on the decisions {name}", title_justify="left", show_header=False)
    rows = {
        "points lost a decision": f"{quality.points_lost:.4f} ± {quality.error:.4f} (standard error)",
        "where it is hard": f"{quality.hard_points_lost:.4f} ± {quality.hard_error:.4f}",
        "best play found": f"{quality.best_rate:.1%}",
        "plays only glanced at": f"{quality.rough_rate:.1%}, whose loss is rough",
        "decisions": f"{quality.decisions:,}, of which {quality.hard_decisions:,} are hard",
        "judge": quality.judge,
    }
    for row, value in rows.items():
        table.add_row(row, value)
    return table
