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
The layers after the first are computed for all stages of the game, [stages, N, …], and the right one is picked out.
The int8 form keeps the weights of each input as whole numbers of one scale, and unfolds them where it is loaded: it is
small, its ratings depend on nothing but the position, and any reader of the float32 form reads it too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.bundle import BIAS, WEIGHT, policy_metadata
from nardy_rl.export.chance_nodes import chance_nodes
from nardy_rl.export.nodes import Graph
from nardy_rl.network.features import (
    BAR_SCALE,
    ENTRY,
    INPUTS,
    MIDDLE,
    OFF_SCALE,
    PENDING_INPUTS,
    PENDING_SCALE,
    QUARTERS,
    REST_SCALE,
    SETS,
    SIDE_INPUTS,
    UNITS,
    sight_of,
)
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.variant import Variant

OPSET, IR_VERSION = 17, 8
POSITIONS, PENDING, PROBABILITIES, EQUITY = "positions", "pending", "probabilities", "equity"
_MOST = 15 - (UNITS - 1)  # what the last unit of a point can count


def policy(
    weights: list[NDArray[Any]], biases: list[NDArray[np.float32]], variant: Variant,
    scales: list[NDArray[np.float32]] | None = None,
) -> bytes:  # fmt: skip
    """The ONNX file of a network, given by its weights and biases as `inference.fast_net` takes them.

    With `scales`, float32[in] of the first layer and [stages, in] of the others, the weights are int8 and count those.
    """
    graph = Graph()
    helper, kinds = graph.onnx.helper, graph.onnx.TensorProto
    x = _inputs(graph, variant)
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        last = layer == len(weights) - 1
        stored = _stored(graph, layer, weight, None if scales is None else scales[layer])
        product = graph.node("MatMul", [x, stored], f"layers.{layer}.product")
        shift = graph.constant(BIAS.format(layer), bias if layer == 0 else bias[:, None])
        logits = graph.node("Add", [product, shift], f"layers.{layer}.sum")
        if last:
            graph.node("Sigmoid", [_picked(graph, logits, variant)], PROBABILITIES)
        else:
            x = graph.node("Relu", [logits], f"layers.{layer}")
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


def _stored(graph: Graph, layer: int, weight: NDArray[Any], scale: NDArray[np.float32] | None) -> str:
    """The weights [in, out] of a layer as a constant, unfolded if they are whole numbers of a scale."""
    name, rows = WEIGHT.format(layer), np.swapaxes(weight, -1, -2)
    if scale is None:
        return graph.constant(name, rows)
    parts = [
        graph.constant(f"{name}.int8", rows.reshape(-1, rows.shape[-1]), np.int8),
        graph.constant(f"{name}.scale", scale.ravel()),
        graph.constant(f"{name}.zero", np.zeros(scale.size), np.int8),
    ]
    unfolded = graph.node("DequantizeLinear", parts, f"{name}.rows", axis=0)
    return graph.node("Reshape", [unfolded, graph.constant(f"{name}.shape", rows.shape, np.int64)], name)


def _picked(graph: Graph, logits: str, variant: Variant) -> str:
    """Of the log-odds [stages, N, outputs] those of each position's stage."""
    whole = np.int64
    reached = graph.node(
        "Unsqueeze", [_stages(graph, variant), graph.constant("stage.axes", [0, 2], whole)], "stage.rows"
    )
    each = graph.node("Expand", [reached, graph.constant("stage.shape", [1, 1, variant.outputs], whole)], "stage.index")
    found = graph.node("GatherElements", [logits, each], "stage.logits", axis=0)
    return graph.node("Squeeze", [found, graph.constant("stage.axis", [0], whole)], "logits")


def _stages(graph: Graph, variant: Variant) -> str:
    """The stage of each position, int64[N]."""
    whole, number_type = np.int64, graph.onnx.TensorProto.INT64
    there = graph.node("Min", ["counts", graph.constant("rear.one", 1)], "rear.there")
    places = graph.node("Mul", [there, graph.constant("rear.places", range(26))], "rear.places.held")
    rear = graph.node("ReduceMax", [places], "rear", axes=[2], keepdims=0)
    if sight_of(variant).contrary:
        most = graph.node("ReduceSum", [rear, graph.constant("rear.axis", [1], whole)], "rear.most", keepdims=0)
    else:
        most = graph.node("ReduceMax", [rear], "rear.most", axes=[1], keepdims=0)
    limit = graph.constant("passed.limit", 25 if sight_of(variant).contrary else MIDDLE)
    contact = graph.node("Cast", [graph.node("Greater", [most, limit], "contact")], "contact.number", to=number_type)
    entering = graph.node("Greater", [rear, graph.constant("entry.limit", ENTRY)], "entering")
    sides = graph.node("Cast", [entering], "entering.numbers", to=number_type)
    marks = graph.node("Mul", [sides, graph.constant("entering.marks", [1, 2], whole)], "entering.marks.set")
    mark = graph.node("ReduceSum", [marks, graph.constant("entering.axis", [1], whole)], "entering.mark", keepdims=0)
    number = graph.node("Add", [mark, graph.constant("stage.first", 1, whole)], "stage.contact")
    return graph.node("Mul", [number, contact], "stage")


def _inputs(graph: Graph, variant: Variant) -> str:
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
    each_side = [points, bar, off, _sets(graph, variant), chance_nodes(graph, sight_of(variant))]
    sides = graph.node("Concat", each_side, "sides", axis=2)
    inputs = graph.node("Reshape", [sides, graph.constant("inputs.shape", [0, 2 * SIDE_INPUTS], whole)], "inputs")
    assert 2 * SIDE_INPUTS == INPUTS
    if not variant.has_pending:
        return inputs
    steps = graph.node("Cast", [PENDING], "steps", to=graph.onnx.TensorProto.FLOAT)
    scale = graph.constant("steps.scale", [PENDING_SCALE] * (PENDING_INPUTS - 1) + [1])
    scaled = graph.node("Mul", [steps, scale], "pending.inputs")
    return graph.node("Concat", [inputs, scaled], "all.inputs", axis=1)


def _sets(graph: Graph, variant: Variant) -> str:
    """The inputs for the sets of held points, float32[N, 2, 252]."""
    whole, least = np.int64, sight_of(variant).least
    short = graph.node("Sub", ["points", graph.constant("sets.short", least - 1)], "sets.enough")
    held = graph.node("Clip", [short, graph.constant("sets.no", 0), graph.constant("sets.yes", 1)], "sets.held")
    quarters = graph.node("Reshape", [held, graph.constant("sets.quarters", [0, 2, QUARTERS, 6], whole)], "sets.points")
    numbers = graph.node(
        "MatMul", [quarters, graph.constant("sets.bits", [[1 << bit] for bit in range(6)])], "sets.number"
    )
    # Of the numbers of all sets but the empty one: is it this?
    found = graph.node("Equal", [numbers, graph.constant("sets.all", range(1, SETS))], "sets.found")
    flags = graph.node("Cast", [found], "sets.flags", to=graph.onnx.TensorProto.FLOAT)
    return graph.node("Reshape", [flags, graph.constant("sets.shape", [0, 2, QUARTERS * (SETS - 1)], whole)], "sets")


def _equity(graph: Graph, variant: Variant) -> None:
    weights = equity_weights(variant)
    product = graph.node("MatMul", [PROBABILITIES, graph.constant("equity.weight", weights[:-1, None])], "equity.sum")
    equity = graph.node("Add", [product, graph.constant("equity.bias", weights[-1:])], "equity.column")
    graph.node("Squeeze", [equity, graph.constant("equity.axis", [1], np.int64)], EQUITY)
