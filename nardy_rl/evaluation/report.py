"""A match's result for people, as a table, and for programs, as a JSON file."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from rich.table import Table

from nardy_rl.evaluation.statistics import MatchResult
from nardy_rl.files import replacing
from nardy_rl.rules.variant import Variant


def match_table(result: MatchResult, variant: Variant, a: str, b: str) -> Table:
    """The result as a table; a and b are the players' names."""
    table = Table(title=f"{a} (A) against {b} (B), variant {variant.name}", title_justify="left", show_header=False)
    low, high = result.points_interval
    win_low, win_high = result.win_interval
    rows = {
        "points per game for A": f"{result.points_per_game:+.4f} ± {result.standard_error:.4f} (standard error)",
        **_adjusted(result),
        "95 % interval": f"{low:+.4f} … {high:+.4f}",
        "games won by A": f"{result.win_rate:.2%}, 95 % interval {win_low:.2%} … {win_high:.2%}",
        "A won": _class_text(result.classes_a),
        "B won": _class_text(result.classes_b),
        "games": f"{result.games:,}, each pair with the same dice from both seats; seed {result.seed}",
        "turns per game": f"{result.mean_turns:.1f}, of which {result.pass_rate:.2%} passed",
        "won by the first mover": f"{result.first_mover_win_rate:.2%}",
        "speed": f"{result.games_per_second:,.0f} games/s",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def result_sheet(result: MatchResult, variant: Variant, a: str, b: str) -> dict[str, Any]:
    """Everything about a match in types that JSON knows: who played by which rules, and the result's fields."""
    return {"a": a, "b": b, "variant": variant.to_dict(), **result.to_dict()}


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
        file.write(json.dumps(content, indent=2).encode() + b"\n")


def _class_text(classes: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in classes.items())


def _adjusted(result: MatchResult) -> dict[str, str]:
    if result.adjusted_points_per_game is None:
        return {}
    text = f"{result.adjusted_points_per_game:+.4f} ± {result.adjusted_standard_error:.4f}"
    return {"the same, luck of the dice taken off": text}
