"""The network with int8 weights: a third of the size, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.evaluation.match import play_match
from nardy_rl.export.golden import case_plays
from nardy_rl.export.values import Values
from nardy_rl.players.bot import network_bot
from nardy_rl.rules.variant import Variant

_LARGEST = 127
_SEED = 1


class Network(NamedTuple):
    """Weights and biases of all layers: float32[out, in] and float32[out] of the first, of the others [stages, …]."""

    weights: list[NDArray[np.float32]]
    biases: list[NDArray[np.float32]]

    def parameters_as_arrays(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Both, as `inference.fast_net` takes them."""
        return self.weights, self.biases


@dataclass(frozen=True)
class SmallNetwork:
    """A network whose weights are whole numbers from -127 to 127, a scale for all that listen to the same input.

    Inputs differ by far more than units do in how much they say: a scale for each unit costs four times as much.
    """

    weights: list[NDArray[np.int8]]  # [out, in], and [stages, out, in]
    scales: list[NDArray[np.float32]]  # [in], and [stages, in]
    biases: list[NDArray[np.float32]]  # as of the whole network

    def unfolded(self) -> Network:
        """The same network in float32, exactly as an ONNX reader unfolds it."""
        parts = zip(self.weights, self.scales, strict=True)
        return Network([weight.astype(np.float32) * scale[..., None, :] for weight, scale in parts], self.biases)


def small_network(network: Network) -> SmallNetwork:
    """The nearest network of int8 weights, input by input."""
    weights, scales = [], []
    for weight in network.weights:
        largest = np.abs(weight).max(axis=-2)
        scale = np.where(largest > 0, largest / _LARGEST, 1).astype(np.float32)
        weights.append(np.round(weight / scale[..., None, :]).astype(np.int8))
        scales.append(scale)
    return SmallNetwork(weights, scales, network.biases)


def loss(
    network: Network, small: SmallNetwork, variant: Variant, cases: list[dict[str, Any]], games: int,
    workers: int | None,
) -> dict[str, Any]:  # fmt: skip
    """What the int8 weights change: probabilities and choices in the golden cases, and the points in a match.

    The match is the small network against the whole one, with the luck of the dice taken off; 0 games: none.
    """
    unfolded = small.unfolded()
    whole_values, small_values = (Values(*each.parameters_as_arrays(), variant) for each in (network, unfolded))
    differences, changed = [], 0
    for case in cases:
        boards, pending, open_plays, sign = case_plays(case, variant)
        probabilities = small_values.probabilities(boards, pending)
        differences.append(np.abs(probabilities - whole_values.probabilities(boards, pending))[open_plays])
        equities = np.where(open_plays, sign * small_values.equities(probabilities), case["equities"])
        changed += int(equities.argmax()) != case["choice"]
    difference = np.concatenate(differences)
    found = {
        "mean_probability_difference": round(float(difference.mean()), 6),
        "largest_probability_difference": round(float(difference.max()), 6),
        "golden_choices_changed": changed,
        "golden_cases": len(cases),
    }
    if games:
        ours, theirs = (network_bot(each, variant) for each in (unfolded, network))
        result = play_match(variant, ours, theirs, games, _SEED, workers, judge=theirs.rater)
        found |= {
            "games": games,
            "seed": _SEED,
            "points_per_game": round(float(result.adjusted_points_per_game or 0.0), 5),
            "standard_error": round(float(result.adjusted_standard_error or 0.0), 5),
        }
    return found
