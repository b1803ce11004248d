"""Where a report card is written, and what of it is said on the screen."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from nardy_rl.evaluation.report.measure import Report, Subject
from nardy_rl.evaluation.report.page import page, signed
from nardy_rl.evaluation.report.plots import FIGURES, draw
from nardy_rl.files import replacing
from nardy_rl.players.box import BOX, boxed
from nardy_rl.players.registry import locate

_PAGES = BOX.parent / "docs" / "bots"


def page_path(subject: Subject) -> Path:
    """Where the page of a bot goes by default: among the docs for one in the box, else beside the checkpoint."""
    if subject.name in boxed():
        return _PAGES / f"{subject.name}.md"
    return Path(locate(subject.name)[0]).parent / "report.md"


def write_page(report: Report, path: Path) -> None:
    """Write the figures, and then the page that shows them. Raises OSError; what is written is whole."""
    names = {figure: f"{path.stem}_{figure}.svg" for figure in FIGURES}
    for figure, drawn in draw(report).items():
        with replacing(path.with_name(names[figure])) as file:
            file.write(drawn)
    with replacing(path) as file:
        file.write(page(report, names).encode())


def report_table(report: Report, path: Path) -> Table:
    """The matches, and where the rest stands."""
    table = Table(title=f"{report.subject.name}: {path}", title_justify="left")
    for column in ("bot", "against", "games", "points per game"):
        table.add_column(column, justify="left" if column in ("bot", "against") else "right")
    for bout in [*report.bouts, *(earlier.bout for earlier in report.earlier)]:
        points, error = bout.result.best_estimate
        table.add_row(bout.a, bout.b, f"{bout.result.games:,}", f"{signed(points)} ± {error:.4f}")
    return table
