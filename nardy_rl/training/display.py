"""What a run shows on the terminal: a progress bar, and a line for each evaluation."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from nardy_rl.training.evaluations import Evaluation

_BAR_PARTS = 1000


class Display:
    """A progress bar where there is a terminal; elsewhere evaluations alone are printed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=12), console=console, transient=True
        )
        self._task = self._progress.add_task("starting", total=_BAR_PARTS)
        self._latest = ""
        self._loss = float("nan")

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def batch(self, games: int, games_per_second: float, losses: list[float], seconds_left: float) -> None:
        """Show the state after a batch."""
        elapsed = self._progress.tasks[0].elapsed or 0.0
        done = _BAR_PARTS * elapsed / (elapsed + seconds_left + 1e-9)
        if losses:
            self._loss = losses[-1]
        text = (
            f"{games:,} games · {games_per_second:,.0f}/s · loss {self._loss:.4f} · "
            f"{int(seconds_left) // 60}:{int(seconds_left) % 60:02} left{self._latest}"
        )
        self._progress.update(self._task, completed=done, description=text)

    def evaluation(self, games: int, result: Evaluation) -> None:
        """Print an evaluation and keep it in the bar."""
        self._latest = f" · heuristic {result.heuristic.win_rate:.1%}"
        self.line(f"{games:>10,} games  {result}{' → new best' if result.is_best else ''}")

    def line(self, text: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(text, highlight=False, soft_wrap=True)
