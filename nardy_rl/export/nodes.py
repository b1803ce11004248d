"""The nodes and constants of an ONNX graph, as it is put together."""

from __future__ import annotations

from typing import Any

import numpy as np


def onnx_modules() -> Any:
    """The package `onnx`. Raises ValueError saying how to get it where it is missing."""
    try:
        import onnx
    except ImportError:
        raise ValueError("to write a bundle takes onnx and onnxruntime: pip install 'nardy_rl[export]'") from None
    return onnx


class Graph:
    """Nodes and constants, in the order in which they are added."""

    def __init__(self) -> None:
        self.onnx = onnx_modules()
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, value: Any, kind: Any = np.float32) -> str:
        """Add a constant; returns its name."""
        array = np.ascontiguousarray(value, dtype=kind)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def node(self, operation: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add a node with one output, of which it bears the name; returns that."""
        self.nodes.append(self.onnx.helper.make_node(operation, inputs, [output], name=output, **attributes))
        return output

    def nodes_of(self, operation: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        """Add a node with several outputs."""
        self.nodes.append(self.onnx.helper.make_node(operation, inputs, outputs, name=outputs[0], **attributes))
