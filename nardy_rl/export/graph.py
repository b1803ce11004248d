"""The network as an ONNX graph that takes raw positions: inputs, layers, probabilities and equity are all inside.

=============  ======================  =============================================================================
name           type                    meaning
=============  ======================  =============================================================================
positions      int8[N, 2, 26]          row 0 the player who acts, row 1 the other, each in his own numbering
pending        int8[N, 7]              only if the variant has it: steps of 1…6 to play, then 1 if of his own roll
probabilities  float32[N, outputs]     nested, for the player who acts (see `rules.outcome.equity_weights`)
equity         float32[N]              their weighted sum, in points
=============  ======================  =============================================================================

Inputs are those of `network.features`, and the graph computes them in whole numbers, so that every reader has the same.
The int8 form keeps the weights of each input as whole numbers of one scale, and unfolds them where it is loaded: it is
small, its ratings depend on nothing but the position, and any reader of the float32 form reads it too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.bundle import BIAS, WEIGHT, policy_metadata
from nardy_rl.network.features import (
    BAR_SCALE,
    INPUTS,
    OFF_SCALE,
    PENDING_INPUTS,
    PENDING_SCALE,
    REST_SCALE,
    SIDE_INPUTS,
    UNITS,
)
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.variant import Variant

OPSET, IR_VERSION = 17, 8
POSITIONS, PENDING, PROBABILITIES, EQUITY = "positions", "pending", "probabilities", "equity"
_MOST = 15 - (UNITS - 1)  # what the last unit of a point can count


def onnx_modules() -> Any:
    """The package `onnx`. Raises ValueError saying how to get it where it is missing."""
    try:
        import onnx
    except ImportError:
        raise ValueError("to write a bundle takes onnx and onnxruntime: pip install 'nardy_rl[export]'") from None
    return onnx


class _Graph:
    """Nodes and constants, in the order in which they are added."""

    def __init__(self) -> None:
        self.onnx = onnx_modules()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: Any, kind: Any = np.float32) -> str:
        array = np.ascontiguousarray(value, dtype=kind)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def node(self, operation: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self.nodes.append(self.onnx.helper.make_node(operation, inputs, [output], name=output, **attributes))
        return output

    def nodes_of(self, operation: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        self.nodes.append(self.onnx.helper.make_node(operation, inputs, outputs, name=outputs[0], **attributes))


def policy(
    weights: list[NDArray[Any]], biases: list[NDArray[np.float32]], variant: Variant,
    scales: list[NDArray[np.float32]] | None = None,
) -> bytes:  # fmt: skip
    """The ONNX file of a network: weights [out, in] and biases [out] of each layer.

    With `scales`, float32[in] of each layer, the weights are int8 and count those.
    """
    graph = _Graph()
    helper, kinds = graph.onnx.helper, graph.onnx.TensorProto
    x = _inputs(graph, variant)
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        last = layer == len(weights) - 1
        stored = _stored(graph, layer, weight, None if scales is None else scales[layer])
        product = graph.node("MatMul", [x, stored], f"layers.{layer}.product")
        logits = graph.node("Add", [product, graph.constant(BIAS.format(layer), bias)], f"layers.{layer}.sum")
        x = graph.node("Sigmoid" if last else "Relu", [logits], PROBABILITIES if last else f"layers.{layer}")
    _equity(graph, variant)
    inputs = [helper.make_tensor_value_info(POSITIONS, kinds.INT8, ["N", 2, 26])]
    if variant.has_pending:
        inputs.append(helper.make_tensor_value_info(PENDING, kinds.INT8, ["N", PENDING_INPUTS]))
    outputs = [
        helper.make_tensor_value_info(PROBABILITIES, kinds.FLOAT, ["N", variant.outputs]),
        helper.make_tensor_value_info(EQUITY, kinds.FLOAT, ["N"]),
    ]
    whole = helper.make_graph(graph.nodes, "policy", inputs, outputs, graph.constants)
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(whole, ir_version=IR_VERSION, opset_imports=[opset], producer_name="nardy_rl")
    helper.set_model_props(model, policy_metadata(variant))
    graph.onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def _stored(graph: _Graph, layer: int, weight: NDArray[Any], scale: NDArray[np.float32] | None) -> str:
    """The weights [in, out] of a layer as a constant, unfolded if they are whole numbers of a scale."""
    name = WEIGHT.format(layer)
    if scale is None:
        return graph.constant(name, weight.T)
    parts = [
        graph.constant(f"{name}.int8", weight.T, np.int8),
        graph.constant(f"{name}.scale", scale),
        graph.constant(f"{name}.zero", np.zeros(len(scale)), np.int8),
    ]
    return graph.node("DequantizeLinear", parts, name, axis=0)


def _inputs(graph: _Graph, variant: Variant) -> str:
    """From raw positions to float32[N, inputs]."""
    whole = np.int64
    counts = graph.node("Cast", [POSITIONS], "counts", to=graph.onnx.TensorProto.FLOAT)
    split = graph.constant("split", [1, 24, 1], whole)
    graph.nodes_of("Split", [counts, split], ["off", "points", "bar"], axis=2)
    # Of n checkers: is there one, are there two, are there three, and how many more.
    each = graph.node("Unsqueeze", ["points", graph.constant("last", [3], whole)], "points.each")
    beyond = graph.node("Sub", [each, graph.constant("units.before", range(UNITS))], "units.beyond")
    some = graph.node("Relu", [beyond], "units.some")
    capped = graph.node("Min", [some, graph.constant("units.most", [1] * (UNITS - 1) + [_MOST])], "units.capped")
    units = graph.node("Mul", [capped, graph.constant("units.scale", [1] * (UNITS - 1) + [REST_SCALE])], "units")
    points = graph.node("Reshape", [units, graph.constant("units.shape", [0, 2, 24 * UNITS], whole)], "points.inputs")
    bar = graph.node("Mul", ["bar", graph.constant("bar.scale", BAR_SCALE)], "bar.input")
    off = graph.node("Mul", ["off", graph.constant("off.scale", OFF_SCALE)], "off.input")
    sides = graph.node("Concat", [points, bar, off], "sides", axis=2)
    inputs = graph.node("Reshape", [sides, graph.constant("inputs.shape", [0, 2 * SIDE_INPUTS], whole)], "inputs")
    assert 2 * SIDE_INPUTS == INPUTS
    if not variant.has_pending:
        return inputs
    steps = graph.node("Cast", [PENDING], "steps", to=graph.onnx.TensorProto.FLOAT)
    scale = graph.constant("steps.scale", [PENDING_SCALE] * (PENDING_INPUTS - 1) + [1])
    scaled = graph.node("Mul", [steps, scale], "pending.inputs")
    return graph.node("Concat", [inputs, scaled], "all.inputs", axis=1)


def _equity(graph: _Graph, variant: Variant) -> None:
    weights = equity_weights(variant)
    product = graph.node("MatMul", [PROBABILITIES, graph.constant("equity.weight", weights[:-1, None])], "equity.sum")
    equity = graph.node("Add", [product, graph.constant("equity.bias", weights[-1:])], "equity.column")
    graph.node("Squeeze", [equity, graph.constant("equity.axis", [1], np.int64)], EQUITY)
