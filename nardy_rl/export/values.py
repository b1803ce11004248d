"""What a network says of positions, computed in the plainest way, in double precision: the measure of all readers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.export.plain_chances import plain_chances
from nardy_rl.network.features import BAR_SCALE, INPUTS, OFF_SCALE, PENDING_SCALE, REST_SCALE, SETS, sight_of
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.variant import Variant


class Values:
    """A network by its weights and biases, as `inference.fast_net` takes them."""

    def __init__(self, weights: list[NDArray[Any]], biases: list[NDArray[Any]], variant: Variant) -> None:
        self._layers = [(w.astype(np.float64), b.astype(np.float64)) for w, b in zip(weights, biases, strict=True)]
        self._equity = equity_weights(variant).astype(np.float64)
        self._has_pending = variant.has_pending
        self._sight = sight_of(variant)

    def probabilities(self, positions: NDArray[np.int8], pending: NDArray[np.int8]) -> NDArray[np.float64]:
        """Nested, for the player who acts, row 0: float64[N, outputs] of int8[N, 2, 26] and int8[N, 7]."""
        x = self._sides(positions)
        if self._has_pending:
            x = np.concatenate([x, pending * np.array([PENDING_SCALE] * 6 + [1])], axis=1)
        (weight, bias), *others = self._layers
        stages = self._stages(positions)
        # Not @: for batches this small the threads of a fast library wait for each other longer than they work.
        x = np.einsum("ni,oi->no", x, weight) + bias
        for weight, bias in others:
            x = np.einsum("ni,noi->no", np.maximum(x, 0), weight[stages]) + bias[stages]
        return np.asarray(1 / (1 + np.exp(-x)))

    def equities(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """In points, for the player whose probabilities float64[N, outputs] they are: float64[N]."""
        return np.asarray(probabilities @ self._equity[:-1] + self._equity[-1])

    @property
    def sensitivity(self) -> float:
        """How far an equity can be off, at most, for each unit that its probabilities are."""
        return float(np.abs(self._equity[:-1]).sum())

    def _sides(self, positions: NDArray[np.int8]) -> NDArray[np.float64]:
        """float64[N, 718] of int8[N, 2, 26] (see `network.features`)."""
        counts = positions.astype(np.float64)
        n = counts[:, :, 1:25]
        units = np.stack([n >= 1, n >= 2, n >= 3, np.maximum(n - 3, 0) * REST_SCALE], axis=3).reshape(len(n), 2, 96)
        bar, off = counts[:, :, 25:] * BAR_SCALE, counts[:, :, :1] * OFF_SCALE
        held = (n >= self._sight.least).reshape(len(n), 2, 4, 6) @ (1 << np.arange(6))
        sets = held[..., None] == np.arange(1, SETS)
        parts = [units, bar, off, sets.reshape(len(n), 2, 4 * (SETS - 1)), plain_chances(positions, self._sight)]
        return np.concatenate(parts, axis=2).reshape(len(n), INPUTS)

    def _stages(self, positions: NDArray[np.int8]) -> NDArray[np.int64]:
        """int64[N] of int8[N, 2, 26] (see `network.features`)."""
        rear = np.array([[max(np.flatnonzero(side), default=0) for side in board] for board in positions], np.int64)
        own, other = rear.reshape(-1, 2).T
        passed = own + other <= 25 if self._sight.contrary else np.maximum(own, other) <= 12
        return np.where(passed, 0, 1 + (own >= 19) + 2 * (other >= 19))
