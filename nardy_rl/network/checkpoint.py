"""Checkpoints: one file with the weights, the variant's whole rule sheet, and what a run needs to go on.

Only plain Python types and tensors are stored, so that a file from a stranger is read with `weights_only=True` and
runs no code.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from nardy_rl.files import replacing
from nardy_rl.network.value_net import ValueNet
from nardy_rl.rules.likeness import check_same_rules
from nardy_rl.rules.variant import Variant, variant_from_dict

FORMAT = 3
_KIND = "nardy_rl checkpoint"
_ZIP = b"PK\x03\x04"


@dataclass
class Checkpoint:
    """A trained network with its variant; `run` holds what the trainer needs to go on (empty in a shipped bot)."""

    variant: Variant
    net: ValueNet
    games: int = 0  # of self-play that it has learnt from …
    seconds: float = 0.0  # … and how long that took, evaluations included
    run: dict[str, Any] = field(default_factory=dict)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint so that `path` holds either the old file or the whole new one, whatever happens.

    Raises OSError if the disk is full or the folder cannot be written; the old file stays.
    """
    content = {
        "kind": _KIND,
        "format": FORMAT,
        "variant": checkpoint.variant.to_dict(),
        "hidden": list(checkpoint.net.hidden),
        "weights": {name: tensor.detach().cpu() for name, tensor in checkpoint.net.state_dict().items()},
        "games": checkpoint.games,
        "seconds": checkpoint.seconds,
        "run": checkpoint.run,
    }
    whole = io.BytesIO()  # written by torch itself, a full disk would come out as a RuntimeError about its zip file
    torch.save(content, whole)
    with replacing(path) as file:
        file.write(whole.getbuffer())


def load_checkpoint(path: str | Path, variant: Variant | None = None) -> Checkpoint:
    """Read a checkpoint, and if `variant` is given demand that it was trained for just these rules.

    Raises ValueError saying in one line what is wrong with the file.
    """
    try:
        file = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"cannot read the checkpoint {path}: {error.strerror}") from None
    try:
        if not file.startswith(_ZIP):
            raise EOFError  # torch would take it for a file of its first years, and warn
        content = torch.load(io.BytesIO(file), map_location="cpu", weights_only=True)
    except Exception:  # what torch raises depends on the byte at which a file is cut or damaged
        raise ValueError(f"cannot read the checkpoint {path}: it is truncated or no checkpoint") from None
    if not isinstance(content, dict) or content.get("kind") != _KIND:
        raise ValueError(f"{path} is no checkpoint of nardy_rl")
    if content.get("format") != FORMAT:
        raise ValueError(f"{path} has checkpoint format {content.get('format')}; this version reads format {FORMAT}")
    trained = variant_from_dict(content.get("variant"), source=str(path))
    try:
        net = ValueNet(content["hidden"], trained)
        net.load_state_dict(content["weights"])
        games, seconds = int(content["games"]), float(content["seconds"])
        checkpoint = Checkpoint(trained, net, games, seconds, content["run"])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"{path} is damaged: {' '.join(str(error).split())[:200]}") from None
    if variant is not None:
        check_same_rules(path, trained, variant)
    return checkpoint
