"""The logistic function, spelt out so that a loop over it runs in vector registers."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from nardy_rl.compiled import inlined


@intrinsic
def _float_of_bits(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.FloatType())

    return types.float32(types.int32), generate


@inlined
def sigmoid(x: np.float32) -> np.float32:
    """1 / (1 + exp(-x)) to about 2e-7, without a call, so that a loop over it runs in vector registers."""
    # exp(-x) = 2^whole · e^rest with |rest| ≤ ln(2) / 2, where six terms of the series are enough.
    power = np.float32(-1.44269504) * min(max(x, np.float32(-80.0)), np.float32(80.0))
    whole = np.floor(power + np.float32(0.5))
    rest = (power - whole) * np.float32(0.693147181)
    series = np.float32(1 / 720)
    series = series * rest + np.float32(1 / 120)
    series = series * rest + np.float32(1 / 24)
    series = series * rest + np.float32(1 / 6)
    series = series * rest + np.float32(0.5)
    series = series * rest + np.float32(1.0)
    series = series * rest + np.float32(1.0)
    scale = _float_of_bits(np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)))
    return np.float32(1.0) / (np.float32(1.0) + series * scale)
