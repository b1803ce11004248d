"""What a network says of positions, computed in the plainest way, in double precision: the measure of all readers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.network.features import BAR_SCALE, INPUTS, OFF_SCALE, PENDING_SCALE, REST_SCALE
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.variant import Variant


class Values:
    """A network by its weights [out, in] and biases [out]."""

    def __init__(self, weights: list[NDArray[Any]], biases: list[NDArray[Any]], variant: Variant) -> None:
        self._layers = [(w.astype(np.float64), b.astype(np.float64)) for w, b in zip(weights, biases, strict=True)]
        self._equity = equity_weights(variant).astype(np.float64)
        self._has_pending = variant.has_pending

    def probabilities(self, positions: NDArray[np.int8], pending: NDArray[np.int8]) -> NDArray[np.float64]:
        """Nested, for the player who acts, row 0: float64[N, outputs] of int8[N, 2, 26] and int8[N, 7]."""
        x = _sides(positions)
        if self._has_pending:
            x = np.concatenate([x, pending * np.array([PENDING_SCALE] * 6 + [1])], axis=1)
        for layer, (weight, bias) in enumerate(self._layers):
            # Not @: for batches this small the threads of a fast library wait for each other longer than they work.
            x = np.einsum("ni,oi->no", x if layer == 0 else np.maximum(x, 0), weight) + bias
        return np.asarray(1 / (1 + np.exp(-x)))

    def equities(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """In points, for the player whose probabilities float64[N, outputs] they are: float64[N]."""
        return np.asarray(probabilities @ self._equity[:-1] + self._equity[-1])

    @property
    def sensitivity(self) -> float:
        """How far an equity can be off, at most, for each unit that its probabilities are."""
        return float(np.abs(self._equity[:-1]).sum())


def _sides(positions: NDArray[np.int8]) -> NDArray[np.float64]:
    """float64[N, 196] of int8[N, 2, 26] (see `network.features`)."""
    counts = positions.astype(np.float64)
    n = counts[:, :, 1:25]
    units = np.stack([n >= 1, n >= 2, n >= 3, np.maximum(n - 3, 0) * REST_SCALE], axis=3).reshape(len(n), 2, 96)
    bar, off = counts[:, :, 25:] * BAR_SCALE, counts[:, :, :1] * OFF_SCALE
    return np.concatenate([units, bar, off], axis=2).reshape(len(n), INPUTS)
