"""The proof before a bundle is written: every reader gives the golden values and chooses the golden plays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardy_rl.export.golden import TOLERANCE, case_plays, pending_codes
from nardy_rl.network.fast_net import fast_net, new_scratch
from nardy_rl.network.inference import rate
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.variant import Variant

if TYPE_CHECKING:
    from nardy_rl.network.value_net import ValueNet

Reader: TypeAlias = Callable[[NDArray[np.int8], NDArray[np.int8]], tuple[NDArray[Any], NDArray[Any]]]
"""Probabilities [N, outputs] and equities [N] of positions int8[N, 2, 26] and what is pending int8[N, 7]."""


def check(readers: dict[str, Reader], variant: Variant, cases: list[dict[str, Any]]) -> float:
    """How far the readers' probabilities are from the golden ones at most.

    Raises ValueError if that is more than TOLERANCE, or if one of them chooses another play.
    """
    largest = 0.0
    for name, reader in readers.items():
        for case in cases:
            boards, pending, open_plays, sign = case_plays(case, variant)
            probabilities, equities = reader(boards, pending)
            difference = np.abs(probabilities - np.array(case["probabilities"]))[open_plays].max(initial=0)
            choice = int(np.where(open_plays, sign * equities, case["equities"]).argmax())
            if not difference <= TOLERANCE or choice != case["choice"]:
                raise ValueError(f"{name} does not reproduce the network: it differs by {difference:.1e}")
            largest = max(largest, float(difference))
    return largest


def onnxruntime_reader(policy: bytes) -> Reader:
    """An ONNX file as onnxruntime plays it. Raises ValueError saying how to get onnxruntime where it is missing."""
    try:
        import onnxruntime
    except ImportError:
        raise ValueError("to write a bundle takes onnx and onnxruntime: pip install 'nardy_rl[export]'") from None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(policy, options, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]

    def read(positions: NDArray[np.int8], pending: NDArray[np.int8]) -> tuple[NDArray[Any], NDArray[Any]]:
        probabilities, equities = session.run(None, dict(zip(names, (positions, pending), strict=False)))
        return probabilities, equities

    return read


def torch_reader(net: ValueNet, variant: Variant) -> Reader:
    """The network that was trained."""
    import torch

    weights = equity_weights(variant)

    def read(positions: NDArray[np.int8], pending: NDArray[np.int8]) -> tuple[NDArray[Any], NDArray[Any]]:
        with torch.no_grad():
            probabilities = net(torch.from_numpy(positions), torch.from_numpy(pending_codes(pending))).numpy()
        return probabilities, probabilities @ weights[:-1] + weights[-1]

    return read


def compiled_reader(weights: list[NDArray[np.float32]], biases: list[NDArray[np.float32]], variant: Variant) -> Reader:
    """The compiled twin, by which nardy_rl plays a bundle."""
    net = fast_net(weights, biases, variant)
    scratch = new_scratch(net)

    def read(positions: NDArray[np.int8], pending: NDArray[np.int8]) -> tuple[NDArray[Any], NDArray[Any]]:
        probabilities = np.empty((len(positions), variant.outputs), np.float32)
        codes = pending_codes(pending)
        rated = zip(positions, codes, probabilities, strict=True)
        equities = [rate(net, board, code, scratch, row) for board, code, row in rated]
        return probabilities, np.array(equities)

    return read
