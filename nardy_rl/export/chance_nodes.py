"""The chances of the next roll (see `network.features`) as nodes of an ONNX graph.

Sets of points are float32[N, 2, 26] of 0 and 1; `first` and what follows have an axis for the die, 1…6, before the
points, and pairs of dice two. A move is a product with a matrix that carries each point as many pips on.
"""

from __future__ import annotations

import numpy as np

from nardy_rl.export.nodes import Graph
from nardy_rl.network.features import (
    CHECKERS_SCALE,
    PIPS_SCALE,
    REACH_SCALE,
    ROLLS_SCALE,
    Sight,
)

_WHOLE = np.int64
_POINTS = np.array([0, *[1] * 24, 0])
_PAIRS = [(larger, smaller) for larger in range(2, 7) for smaller in range(1, larger)]


def chance_nodes(graph: Graph, sight: Sight) -> str:
    """The name of float32[N, 2, 9]; `counts`, float32[N, 2, 26], and `bar`, float32[N, 2, 1], are there."""
    return _Chances(graph, sight).all()


class _Chances:
    def __init__(self, graph: Graph, sight: Sight) -> None:
        self._graph = graph
        self._hitting = sight.least > 1
        self._parts = 0
        points = self._constant(_POINTS)
        self.there = self._make("Mul", self._make("Min", "counts", self._constant(1)), self._constant([0, *[1] * 25]))
        enough = self._make("Sub", "counts", self._constant(sight.least - 1))
        self.held = self._make("Mul", self._clipped(enough), points)
        order = [25 - point if sight.contrary else (point + 11) % 24 + 1 for point in range(26)]
        self._order = self._constant(order, _WHOLE)
        self.reachable = self._make("Sub", points, self._across(self.held))
        self.on_bar = self._make("Min", "bar", self._constant(1))
        off_bar = self._make("Mul", self.there, self._make("Sub", self._constant(1), self.on_bar))
        from_bar = self._make("Mul", self.on_bar, self._constant([*[0] * 25, 1]))
        starts = self._make("Add", off_bar, from_bar)
        self._moves = self._constant(np.concatenate([_carry(die) for die in range(1, 7)], axis=1))
        self.first = self._moved(starts, [0, 2, 6, 26])
        self.entered = self._make("Mul", self.first, self._with_axes(self.reachable, 2))

    def all(self) -> str:
        parts = [*self._hits(), self._reach()]
        counted = self._make("ReduceSum", self.entered, self._constant([3], _WHOLE), keepdims=0)
        parts.append(self._scaled(counted, CHECKERS_SCALE))
        return self._graph.node("Concat", parts, "chances", axis=2)

    # Words of the graph

    def _make(self, operation: str, *inputs: str, **attributes: object) -> str:
        self._parts += 1
        return self._graph.node(operation, list(inputs), f"chances.{self._parts}", **attributes)

    def _constant(self, value: object, kind: type = np.float32) -> str:
        self._parts += 1
        return self._graph.constant(f"chances.{self._parts}", value, kind)

    def _scaled(self, name: str, scale: float) -> str:
        return self._make("Mul", name, self._constant(scale))

    def _clipped(self, name: str) -> str:
        return self._make("Clip", name, self._constant(0), self._constant(1))

    def _with_axes(self, name: str, *axes: int) -> str:
        return self._make("Unsqueeze", name, self._constant(axes, _WHOLE))

    def _most(self, name: str, axis: int, keep: int = 0) -> str:
        return self._make("ReduceMax", name, axes=[axis], keepdims=keep)

    def _moved(self, name: str, shape: list[int]) -> str:
        """These points carried on by each die."""
        carried = self._make("MatMul", name, self._moves)
        return self._make("Reshape", carried, self._constant(shape, _WHOLE))

    def _across(self, name: str) -> str:
        """The other side's points in a side's own numbering."""
        other = self._make("Gather", name, self._constant([1, 0], _WHOLE), axis=1)
        return self._make("Mul", self._make("Gather", other, self._order, axis=2), self._constant(_POINTS))

    # The chances

    def _hits(self) -> list[str]:
        if not self._hitting:
            return [self._make("Mul", "bar", self._constant([0, 0]))]
        others = self._make("Mul", self.there, self._constant(_POINTS))
        blots = self._across(self._make("Sub", others, self.held))
        waiting = self._make("Mul", self._with_axes(others, 2), self._most(self.entered, 3, keep=1))
        numbers = self._constant(range(26))
        sums = []
        for found, axes, weight in (
            (self._pairs(waiting), (2, 3), 1 - np.eye(6)),
            (self._doubles(waiting), (2,), np.ones(6)),
        ):
            hits = self._make("Mul", found, self._with_axes(blots, *axes))
            ranked = hits, self._make("Mul", hits, numbers)
            sums.append([self._sum(self._most(each, len(axes) + 2), weight) for each in ranked])
        told = zip(*sums, (ROLLS_SCALE, PIPS_SCALE), strict=True)
        return [self._with_axes(self._scaled(self._make("Add", one, other), scale), 2) for one, other, scale in told]

    def _pairs(self, waiting: str) -> str:
        """The points that two different dice reach, [N, 2, 6, 6, 26]."""
        one = self._constant(1)
        alone = self._clipped(self._make("Sub", one, self._make("Abs", self._make("Sub", "bar", one))))
        after = self._make("Max", self.entered, self._make("Mul", waiting, self._with_axes(alone, 3)))
        most_one = self._clipped(self._make("Sub", self._constant(2), "bar"))
        second = self._make("Mul", self._moved(after, [0, 2, 6, 6, 26]), self._with_axes(most_one, 3, 4))
        swapped = self._make("Transpose", second, perm=[0, 1, 3, 2, 4])
        return self._make("Max", self._with_axes(self.first, 3), self._with_axes(self.first, 2), second, swapped)

    def _doubles(self, waiting: str) -> str:
        """Those that doubles reach, [N, 2, 6, 26]."""
        same = self._constant(np.stack([_carry(die) for die in range(1, 7)]))
        used = self._make("Max", "bar", self._constant(1))  # steps that bring checkers in, or the first one
        stand = self._make("Max", self.entered, self._make("Mul", waiting, self._with_axes(self.on_bar, 3)))
        found = self.first
        for step in range(1, 4):
            allowed = self._clipped(self._make("Sub", self._constant(5 - step), used))
            moved = self._make("MatMul", self._with_axes(stand, 3), same)
            moved = self._make("Squeeze", moved, self._constant([3], _WHOLE))
            moved = self._make("Mul", moved, self._with_axes(allowed, 3))
            found = self._make("Max", found, moved)
            stand = self._make("Mul", moved, self._with_axes(self.reachable, 2))
        return found

    def _sum(self, name: str, weight: np.ndarray) -> str:
        """The weighted sum over all dice: [N, 2]."""
        axes = self._constant(range(2, 2 + weight.ndim), _WHOLE)
        return self._make("ReduceSum", self._make("Mul", name, self._constant(weight)), axes, keepdims=0)

    def _reach(self) -> str:
        rear = self._most(self._make("Mul", self.there, self._constant(range(26))), 2, keep=1)
        place = self._make("Relu", self._make("Sub", rear, self._constant(range(25))))  # after 0, 1, … 24 pips
        index = self._make("Cast", place, to=self._graph.onnx.TensorProto.INT64)
        onward = self._make("Add", self.reachable, self._constant([1, *[0] * 25]))  # and off the board all is open
        self._open = self._make("GatherElements", onward, index, axis=2)
        dice = np.array(_PAIRS).T
        larger, smaller, both = (self._after(pips) for pips in (*dice, dice.sum(axis=0)))
        whole = self._make("Mul", self._make("Max", larger, smaller), both)
        not_larger, not_whole = (self._make("Sub", self._constant(1), each) for each in (larger, whole))
        by_larger = self._make("Mul", larger, self._constant(dice[0]))
        by_smaller = self._make("Mul", self._make("Mul", smaller, not_larger), self._constant(dice[1]))
        single = self._make("Mul", self._make("Add", by_larger, by_smaller), not_whole)
        pips = self._make("Add", self._make("Mul", whole, self._constant(dice.sum(axis=0))), single)
        free, doubles = self._constant([1] * 6), []
        for step in range(1, 5):
            free = self._make("Mul", free, self._after(step * np.arange(1, 7)))
            doubles.append(free)
        played = self._make("Mul", self._make("Sum", *doubles), self._constant(range(1, 7)))
        axis = self._constant([2], _WHOLE)
        total = self._make(
            "Add", self._make("ReduceSum", self._scaled(pips, 2), axis), self._make("ReduceSum", played, axis)
        )
        return self._scaled(total, REACH_SCALE)

    def _after(self, pips: np.ndarray) -> str:
        """Whether the point so many pips before the rearmost checker is open: [N, 2, …]."""
        return self._make("Gather", self._open, self._constant(pips, _WHOLE), axis=2)


def _carry(pips: int) -> np.ndarray:
    """What carries a set of points so many pips on: [26, 26]."""
    return np.eye(26, k=-pips)
