"""The trained bots in the box: those of `checkpoints/`, each in a folder of its name, as a training run leaves it."""

from __future__ import annotations

from pathlib import Path

BEST, HISTORY = "best.pt", "history"
"""In the folder of a run: its best net, and a folder with the nets of its evaluations, by games played."""

BOX = Path(__file__).parents[2] / "checkpoints"


def boxed() -> dict[str, Path]:
    """The checkpoints in the box by the names of their bots; an installation without the repository has none."""
    return {path.parent.name: path for path in sorted(BOX.glob(f"*/{BEST}"))}
