"""A report card as a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nardy_rl.evaluation.bands import STATISTICS, bands_of
from nardy_rl.evaluation.report.measure import Bout, Earlier, Report, Subject, duration
from nardy_rl.evaluation.statistics import Z_95
from nardy_rl.rules.variant import VARIANTS, Variant, variant


def page(report: Report, figures: dict[str, str]) -> str:
    """The text. figures: the file names of `plots.FIGURES`, as seen from the page."""
    parts = [
        *_head(report.subject),
        *_curve(report, figures["curve"]),
        *_strength(report),
        *_earlier(report),
        *_self_play(report),
        *_quality(report),
        *_openings(report, figures["openings"]),
    ]
    return "\n\n".join(parts) + "\n"


def _head(subject: Subject) -> Iterator[str]:
    yield f"# The bot `{subject.name}`"
    shape = " and ".join(map(str, subject.hidden))
    start = subject.options.get("start")
    beginning = f"from the net `{start}` on" if start else "from zero"
    yield (
        f"Plays {subject.variant.name}. Layers of {shape}, {subject.parameters:,} weights, trained {beginning}: "
        f"{subject.games:,} games against itself in {duration(subject.seconds)} in all."
    )
    command = _command(subject)
    if command:
        yield f"```\n{command}\n```"


def _command(subject: Subject) -> str:
    """What repeats the run; empty if its options are not known."""
    options = subject.options
    if "schedule" not in options:
        return ""
    schedule = dict(options["schedule"])
    phases = ", ".join(_phase(phase) for phase in schedule.pop("phases"))
    words = [
        _rules(subject.variant),
        f"network.hidden={_word(options['network']['hidden'])}",
        f"'schedule.phases=[{phases}]'",
        *(f"schedule.{key}={value}" for key, value in schedule.items()),
        f"seed={options['seed']}",
    ]
    if options.get("start"):
        words.insert(1, f"start={options['start']}")
    return "python train.py " + " ".join(words)


def _rules(rules: Variant) -> str:
    """The options that name a variant: `variant=short` and what is not as in the box; or a sheet of one's own."""
    if rules.name not in VARIANTS:
        return "variant=SHEET.yaml"
    usual = variant(rules.name).to_dict()
    changed = (f"variant.{key}={_word(value)}" for key, value in rules.to_dict().items() if value != usual[key])
    return " ".join([f"variant={rules.name}", *changed])


def _phase(phase: dict[str, Any]) -> str:
    told = {key: value for key, value in phase.items() if value not in (None, False) and (key, value) != ("passes", 1)}
    return "{" + ", ".join(f"{key}: {_word(value)}" for key, value in told.items()) + "}"


def _word(value: Any) -> str:
    """A value as one types it: [0.7,0.2], true."""
    return "[" + ",".join(map(_word, value)) + "]" if isinstance(value, list) else str(value).lower()


def _curve(report: Report, figure: str) -> Iterator[str]:
    if report.earlier:
        yield f"![The strength of the run's nets by minutes of training]({figure})"


def _strength(report: Report) -> Iterator[str]:
    rules = _rules(report.subject.variant)
    yield "## Strength"
    yield _table(
        ("bot", "against", "games", "won", "points per game", "95 %"), (_bout_row(bout) for bout in report.bouts)
    )
    plain = [f"`{bout.b}`" for bout in report.bouts if bout.result.adjusted_points_per_game is None]
    yield (
        f"Points per game ± standard error, without the luck of the dice except against {' and '.join(plain)}. A row is"
        f" the result of\n`python evaluate.py {rules} a=BOT b=AGAINST games=GAMES seed={report.seed}`."
    )


def _bout_row(bout: Bout) -> tuple[str, ...]:
    points, error = bout.result.best_estimate
    return (
        f"`{bout.a}`", f"`{bout.b}`", f"{bout.result.games:,}", f"{bout.result.win_rate:.2%}",
        f"{signed(points)} ± {error:.4f}",
        f"{signed(points - Z_95 * error)} … {signed(points + Z_95 * error)}",
    )  # fmt: skip


def _earlier(report: Report) -> Iterator[str]:
    if not report.earlier:
        return
    yield "## Against the earlier nets of its run"
    yield _table(
        ("games learnt", "time", "net", "games", "points per game", "95 %"),
        (_earlier_row(earlier) for earlier in report.earlier),
    )


def _earlier_row(earlier: Earlier) -> tuple[str, ...]:
    _, net, games, _, points, interval = _bout_row(earlier.bout)
    return f"{earlier.games:,}", duration(earlier.seconds), net, games, points, interval


def _self_play(report: Report) -> Iterator[str]:
    bands = bands_of(report.subject.variant)
    rows = []
    for name, value in report.self_play.items():
        row = STATISTICS[name], _statistic(name, value)
        if name not in bands:
            rows.append((*row, "", ""))
            continue
        low, high = bands[name]
        verdict = "inside" if low <= value <= high else "**outside**"
        rows.append((*row, f"{_statistic(name, low)} … {_statistic(name, high)}", verdict))
    yield "## Self-play"
    yield _table((f"of {report.self_play_games:,} games", "", "band of healthy play", ""), rows)


def _statistic(name: str, value: float) -> str:
    return f"{value:.1f}" if name == "turns" else f"{value:.1%}"


def _quality(report: Report) -> Iterator[str]:
    quality = report.quality
    if quality is None:
        return
    name = report.subject.variant.name
    yield "## Decisions"
    yield (
        f"On {quality.decisions:,} decisions judged by {quality.judge} it loses **{quality.points_lost:.4f} ± "
        f"{quality.error:.4f}** points a decision and finds the best play in {quality.best_rate:.1%}; on the "
        f"{quality.hard_decisions:,} hard ones it loses {quality.hard_points_lost:.4f} ± {quality.hard_error:.4f}.\n"
        f"`python evaluate.py variant={name} quality={name} bot={report.subject.name}`"
    )


def _openings(report: Report, figure: str) -> Iterator[str]:
    openings = report.openings
    yield "## Opening book"
    yield f"![The equity of each first roll]({figure})"
    if openings[0].engine is None:
        columns: tuple[str, ...] = ("roll", "play", "equity", "next best", "behind")
    else:
        columns = ("roll", "play", "equity", "next best", "behind", "GNU Backgammon, 2 plies", "loses")
    yield _table(
        columns,
        (
            (
                f"{opening.dice[0]}-{opening.dice[1]}", opening.play, signed(opening.equity), opening.second or "",
                f"{opening.behind:.3f}" if opening.second else "", opening.engine or "",
                "" if not opening.lost else f"{opening.lost:.4f}",
            )[: len(columns)]
            for opening in openings
        ),
    )  # fmt: skip
    yield "Equities in points for the starter, seen two rolls ahead."
    if openings[0].engine is not None:
        lost = [opening.lost for opening in openings if opening.lost]
        others = f"; in its eyes the others lose {sum(lost):.4f} points together" if lost else ""
        yield (
            f"{len(openings) - len(lost)} of {len(openings)} plays are those that GNU Backgammon at 2 plies likes best"
            f"{others}."
        )


def _table(head: tuple[str, ...], rows: Any) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def signed(points: float) -> str:
    """A number of points with its sign."""
    return f"{points:+.4f}".replace("-", "−")
