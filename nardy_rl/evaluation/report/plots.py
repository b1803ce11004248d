"""The figures of a report card, as SVG."""

from __future__ import annotations

import io
from typing import Any

from nardy_rl.evaluation.report.measure import Earlier, Report
from nardy_rl.evaluation.statistics import Z_95

FIGURES = ("curve", "openings")
"""The names of the figures."""

_PAPER, _INK, _PALE, _LINE, _BAR = "#fffdf8", "#2b2420", "#8a7f76", "#9c3f1f", "#2f6f7e"
_STYLE = {
    "svg.hashsalt": "nardy_rl",
    "font.size": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _PALE,
    "axes.labelcolor": _INK,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "figure.facecolor": _PAPER,
    "axes.facecolor": _PAPER,
}


def draw(report: Report) -> dict[str, bytes]:
    """The files by their names in FIGURES; no curve for a bot without earlier nets. Raises ValueError where matplotlib
    is not installed."""
    drawn = {"openings": _openings(report)}
    return {"curve": _curve(report), **drawn} if report.earlier else drawn


def check_drawing() -> None:
    """Raise ValueError unless figures can be drawn."""
    _pyplot()


def _pyplot() -> Any:
    try:
        import matplotlib as mpl
    except ImportError:
        raise ValueError("a report is drawn with matplotlib: pip install matplotlib") from None
    mpl.use("agg")
    from matplotlib import pyplot

    return pyplot


def _file(figure: Any) -> bytes:
    """A figure as SVG, the same whenever it is drawn."""
    file = io.BytesIO()
    figure.savefig(file, format="svg", bbox_inches="tight", pad_inches=0.2, metadata={"Date": None})
    return file.getvalue()


def _curve(report: Report) -> bytes:
    """How far each net of the run is behind the bot of the report, and where known opponents stand."""
    pyplot = _pyplot()
    from matplotlib import ticker

    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=(7.6, 4.3))
        minutes = [*(earlier.seconds / 60 for earlier in report.earlier), report.subject.seconds / 60]
        points = [*(-earlier.bout.result.best_estimate[0] for earlier in report.earlier), 0.0]
        errors = [*(Z_95 * earlier.bout.result.best_estimate[1] for earlier in report.earlier), 0.0]
        axes.errorbar(minutes, points, errors, color=_LINE, marker="o", markersize=5, linewidth=2, capsize=3)
        for earlier in report.earlier:
            _mark_games(axes, earlier)
        axes.annotate(
            f"{report.subject.name}\n{_games(report.subject.games)}", (minutes[-1], 0.0), (10, 0), va="center",
            textcoords="offset points", color=_LINE, fontweight="bold",
        )  # fmt: skip
        low = min(points)
        for bout in report.bouts:
            level = -bout.result.best_estimate[0]
            if bout.a == report.subject.name and level > 1.5 * low:
                axes.axhline(level, color=_PALE, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
                axes.annotate(bout.b, (minutes[0], level), (0, 4), textcoords="offset points", color=_PALE)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.margins(x=0.12, y=0.18)
        axes.set_xlabel("minutes of training")
        axes.set_ylabel("points per game")
        axes.set_title(f"The nets of its run against `{report.subject.name}` as it is now", pad=14)
        axes.grid(axis="y", color=_PALE, alpha=0.18)
        file = _file(figure)
        pyplot.close(figure)
    return file


def _mark_games(axes: Any, earlier: Earlier) -> None:
    place = (earlier.seconds / 60, -earlier.bout.result.best_estimate[0])
    axes.annotate(_games(earlier.games), place, (8, -13), textcoords="offset points", color=_INK, fontsize=9)


def _games(number: int) -> str:
    return f"{number / 1e6:.2f} million games" if number >= 1e6 else f"{number:,} games"


def _openings(report: Report) -> bytes:
    """The equity of each first roll with its play, the best roll on top."""
    pyplot = _pyplot()
    openings = sorted(report.openings, key=lambda opening: opening.equity)
    with pyplot.rc_context(_STYLE):
        figure, axes = pyplot.subplots(figsize=(7.6, 0.29 * len(openings) + 1.1))
        rows = range(len(openings))
        equities = [opening.equity for opening in openings]
        axes.barh(rows, equities, color=[_BAR if equity >= 0 else _LINE for equity in equities], height=0.62)
        axes.axvline(0, color=_INK, linewidth=1)
        reach = max(map(abs, equities))
        for row, opening in zip(rows, openings, strict=True):
            right = opening.equity >= 0
            axes.annotate(
                opening.play, (opening.equity, row), (6 if right else -6, 0), textcoords="offset points",
                ha="left" if right else "right", va="center", color=_INK, fontsize=9.5,
            )  # fmt: skip
        axes.set_yticks(list(rows), [f"{opening.dice[0]}-{opening.dice[1]}" for opening in openings])
        axes.set_xlim(min(0, *equities) - 0.55 * reach * (min(equities) < 0), max(0, *equities) + 0.75 * reach)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("equity of the starter, in points")
        axes.set_title("The first roll: what it is worth, and how it is played", pad=12)
        axes.grid(axis="x", color=_PALE, alpha=0.18)
        file = _file(figure)
        pyplot.close(figure)
    return file
