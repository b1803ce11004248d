"""A match's result for people, as a table, and for programs, as a JSON file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from rich.table import Table

from nardy_rl.evaluation.sequential import OPEN, SequentialResult
from nardy_rl.evaluation.statistics import Z_95, MatchResult
from nardy_rl.files import replacing
from nardy_rl.rules.variant import Variant

_ADJUSTED = "the same, luck of the dice taken off"


def match_table(result: MatchResult, variant: Variant, a: str, b: str) -> Table:
    """The result as a table; a and b are the players' names."""
    win_low, win_high = result.win_interval
    rows = {"points per game for A ± standard error": _points_text(result.points_per_game, result.standard_error)}
    if result.adjusted_points_per_game is not None:
        rows[_ADJUSTED] = _points_text(*result.best_estimate)
    rows |= {
        "games won by A": f"{result.win_rate:.2%}, 95 % interval {win_low:.2%} … {win_high:.2%}",
        **_rest(result),
    }
    return _table(rows, variant, a, b)


def sequential_table(stopped: SequentialResult, variant: Variant, a: str, b: str) -> Table:
    """The result of a match that stopped when it was clear of a bound."""
    result, plain = stopped.result, "points per game for A"
    verdict = "above or below" if stopped.verdict == OPEN else stopped.verdict
    rows = {
        "verdict": f"A is {verdict} {stopped.bound:g} points per game",
        "stopped after": f"{result.games:,} of {stopped.most_games:,} games",
        plain: f"{result.points_per_game:+.4f}",
    }
    best = plain if result.adjusted_points_per_game is None else _ADJUSTED  # that of which the interval is
    rows[best] = f"{result.best_estimate[0]:+.4f}, {_interval_text(stopped.interval)} whenever one stops"
    rows |= {
        "games won by A": f"{result.win_rate:.2%}",
        **_rest(result),
    }
    return _table(rows, variant, a, b)


def _rest(result: MatchResult) -> dict[str, str]:
    """The rows about the games themselves."""
    return {
        "A won": _class_text(result.classes_a),
        "B won": _class_text(result.classes_b),
        "games": f"{result.games:,}, each pair with the same dice from both seats; seed {result.seed}",
        "turns per game": f"{result.mean_turns:.1f}, of which {result.pass_rate:.2%} passed",
        "won by the first mover": f"{result.first_mover_win_rate:.2%}",
        "speed": f"{result.games_per_second:,.0f} games/s",
    }


def _table(rows: dict[str, str], variant: Variant, a: str, b: str) -> Table:
    table = Table(title=f"{a} (A) against {b} (B), variant {variant.name}", title_justify="left", show_header=False)
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def result_sheet(result: MatchResult, variant: Variant, a: str, b: str) -> dict[str, Any]:
    """Everything about a match in types that JSON knows: who played by which rules, and the result's fields."""
    return {"a": a, "b": b, "variant": variant.to_dict(), **result.to_dict()}


def sequential_sheet(stopped: SequentialResult, variant: Variant, a: str, b: str) -> dict[str, Any]:
    """As `result_sheet`, without the intervals that a match of a fixed length would have."""
    sheet = result_sheet(stopped.result, variant, a, b)
    del sheet["points_interval"], sheet["win_interval"]
    return sheet | {
        "bound": stopped.bound,
        "interval": list(stopped.interval),
        "verdict": stopped.verdict,
        "most_games": stopped.most_games,
    }


def check_writable(path: Path) -> None:
    """Raise ValueError saying why `path` cannot be written, before a long match is played for it."""
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder, a file's name is needed")
    if not path.parent.is_dir():
        raise ValueError(f"cannot write {path}: there is no folder {path.parent}")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror}") from None


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write `content` so that `path` holds either its old content or all of the new. Raises OSError."""
    with replacing(path) as file:
        file.write(to_json(content))


def to_json(content: dict[str, Any]) -> bytes:
    """`content` as it stands in a file."""
    return json.dumps(content, indent=2).encode() + b"\n"


def _class_text(classes: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in classes.items())


def _points_text(points: float, error: float) -> str:
    return f"{points:+.4f} ± {error:.4f}, {_interval_text((points - Z_95 * error, points + Z_95 * error))}"


def _interval_text(interval: tuple[float, float]) -> str:
    return f"95 % interval {interval[0]:+.4f} … {interval[1]:+.4f}"
