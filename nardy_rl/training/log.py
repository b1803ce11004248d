"""A run in TensorBoard: curves, sanity bands, and the board with the bot's opening plays."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from torch.utils.tensorboard import SummaryWriter

from nardy_rl.envs.drawing import draw_board
from nardy_rl.evaluation.bands import bands_of
from nardy_rl.players.analysis import best_opening, first_rolls
from nardy_rl.players.bot import Bot
from nardy_rl.rules.notation import play_text, roll_name
from nardy_rl.rules.variant import Variant

_EDGES = ("_low", "_high")


class RunLog:
    """Writes scalars in the families `train/ selfplay/ eval/ speed/`; the step is the number of games played."""

    def __init__(self, folder: Path, variant: Variant, games: int, config: dict[str, Any] | None) -> None:
        """games: where the run stands. config: its options, if it begins here."""
        # Steps beyond `games` are left over from a run that was killed after its last checkpoint.
        self._writer = SummaryWriter(str(folder), purge_step=games + 1)
        self._variant = variant
        self._bands = bands_of(variant)
        if config is not None:
            self._writer.add_text("config", f"```yaml\n{yaml.safe_dump(config, sort_keys=False)}```", games)
            curves = {name: [f"selfplay/{name}{end}" for end in ("", *_EDGES)] for name in self._bands}
            charts = {name: ["Margin", tags] for name, tags in curves.items()}
            self._writer.add_custom_scalars({"self-play beside its sanity bands": charts})

    def scalars(self, family: str, values: dict[str, float], games: int) -> None:
        """Add one point to each curve `family`/name."""
        for name, value in values.items():
            self._writer.add_scalar(f"{family}/{name}", value, games)

    def selfplay(self, statistics: dict[str, float], games: int) -> None:
        """Add self-play statistics and the bands they belong into."""
        for name, band in self._bands.items():
            statistics |= {f"{name}{end}": edge for end, edge in zip(_EDGES, band, strict=True)}
        self.scalars("selfplay", statistics, games)

    def openings(self, bot: Bot, games: int) -> None:
        """Add the table of the bot's best play for each first roll, and the board after its favourite."""
        rows = [(dice, best_opening(bot, self._variant, dice)) for dice in first_rolls(self._variant)]
        lines = ["| roll | name | best play | equity |", "|---|---|---|---|"]
        for dice, rated in rows:
            name = roll_name(dice).identifier
            lines.append(f"| {dice[0]}-{dice[1]} | {name} | {play_text(rated.play)} | {rated.equity:+.3f} |")
        self._writer.add_text("openings", "\n".join(lines), games)
        dice, rated = max(rows, key=lambda row: row[1].equity)
        caption = f"best opening after {games} games: {dice[0]}-{dice[1]} {play_text(rated.play)} ({rated.equity:+.3f})"
        image = draw_board(self._variant, rated.play.after, dice=dice, caption=caption)
        self._writer.add_image("openings/board", image, games, dataformats="HWC")

    def flush(self) -> None:
        """Write out what is buffered. Raises OSError naming the folder if the disk is full."""
        try:
            self._writer.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._writer.log_dir) from None

    def close(self) -> None:
        """Release the file; what could not be written out is lost."""
        with suppress(OSError):
            self._writer.close()
