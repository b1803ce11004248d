"""The card of a bundle: what the bot is, in plain types for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nardy_rl.bundle import FORMAT, card_digest
from nardy_rl.export.small import Network
from nardy_rl.players.box import run_options
from nardy_rl.rules.variant import Variant


def bot_name(variant: Variant, network: Network) -> str:
    """What a bot is called by default: short-256-32."""
    return "-".join([variant.name.replace(" ", "_"), *(str(bias.shape[-1]) for bias in network.biases[:-1])])


def outputs(variant: Variant) -> list[str]:
    """Names of the probabilities: of winning, of winning so many points or more, of losing so many or more."""
    higher = variant.levels[1:]
    return ["win", *(f"win_{level}" for level in higher), *(f"loss_{level}" for level in higher)]


def training(checkpoint: str, run: dict[str, Any], games: int, network: Network, variant: Variant) -> dict[str, Any]:
    """How the network was trained: its shape, and the schedule if the checkpoint or the run around it tells.

    run: the state of the run in the checkpoint, empty if it has none.
    """
    options = run.get("options") or run_options(Path(checkpoint), variant)
    told: dict[str, Any] = {
        "method": f"TD(λ) by self-play from {'another net' if options.get('start') else 'zero'}",
        "games": games,
        "inputs": network.weights[0].shape[1],
        "hidden": [bias.shape[-1] for bias in network.biases[:-1]],
        "parameters": sum(part.size for part in network.weights + network.biases),
    }
    schedule = options.get("schedule", {})
    if schedule.get("phases"):
        told |= {"seed": options.get("seed")} | {key: schedule.get(key) for key in ("batch_games", "minibatch")}
        told["phases"] = [{key: value for key, value in phase.items() if value} for phase in schedule["phases"]]
    if "place" in run:
        told["done"] = _done(schedule["phases"], run["place"])
    return told


def _done(phases: list[dict[str, Any]], place: dict[str, Any]) -> list[float]:
    """How much of each phase lies behind the network, 0…1, by its `training.trainer.Place`."""
    shares = [1.0] * place["phase"] + [0.0] * (len(phases) - place["phase"])
    if place["phase"] < len(phases):
        games, minutes = (phases[place["phase"]].get(key) for key in ("games", "minutes"))
        share = place["phase_games"] / games if games else place["phase_seconds"] / 60 / (minutes or 1)
        shares[place["phase"]] = round(min(share, 1.0), 3)
    return shares


def make_card(
    name: str, version: str, variant: Variant, training: dict[str, Any], strength: list[dict[str, Any]],
    small: dict[str, Any] | None, golden: dict[str, Any], files: dict[str, str],
) -> dict[str, Any]:  # fmt: skip
    """The whole card; files: the SHA-256 of each."""
    card: dict[str, Any] = {
        "format": FORMAT,
        "name": name,
        "version": version,
        "variant": variant.to_dict(),
        "levels": list(variant.levels),
        "outputs": outputs(variant),
        "has_pending": variant.has_pending,
        "training": training,
        "strength": strength,
        "int8": small,
        "golden": golden,
        "files": files,
    }
    return card | {"sha256": card_digest(card)}
