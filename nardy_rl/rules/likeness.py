"""Whether a trained bot and a game are of the same rules."""

from __future__ import annotations

from pathlib import Path

from nardy_rl.rules.variant import Variant


def check_same_rules(path: str | Path, trained: Variant, wanted: Variant) -> None:
    """Raise ValueError, saying where they differ, unless the bot in `path` was trained for just the rules wanted."""
    if trained.name != wanted.name:
        raise ValueError(f"{path} was trained for variant {trained.name}, not {wanted.name}")
    ours, theirs = trained.to_dict(), wanted.to_dict()
    options = [f"{option}={ours[option]} (not {theirs[option]})" for option in ours if ours[option] != theirs[option]]
    if options:
        raise ValueError(f"{path} was trained for variant {trained.name} with {', '.join(options)}")
