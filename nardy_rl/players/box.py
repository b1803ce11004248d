"""The trained bots in the box: those of `checkpoints/`, each in a folder of its name, as a training run leaves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from nardy_rl.rules.variant import Variant, variant_from_dict

BEST, HISTORY, CONFIG = "best.pt", "history", "config.yaml"
"""In the folder of a run: its best net, a folder with the nets of its evaluations, by games played, and its options."""

BOX = Path(__file__).parents[2] / "checkpoints"


def boxed() -> dict[str, Path]:
    """The checkpoints in the box by the names of their bots; an installation without the repository has none."""
    return {path.parent.name: path for path in sorted(BOX.glob(f"*/{BEST}"))}


def run_options(checkpoint: Path, variant: Variant) -> dict[str, Any]:
    """The options, but for the variant, of the run in whose folder a checkpoint lies; empty if they are not told."""
    try:
        config = yaml.safe_load((checkpoint.parent / CONFIG).read_text(encoding="utf-8"))
        return dict(config) if variant_from_dict(config.pop("variant")) == variant else {}
    except (OSError, ValueError, yaml.YAMLError, AttributeError, KeyError, TypeError):
        return {}
