"""Bundles: a trained bot in a folder that anybody can play, `policy.onnx` with what has to be known of it.

Written by `python -m nardy_rl.export`. Here one is read and verified, without torch and without onnx: what is wanted of
`policy.onnx` are its weights, and they lie in it as plain records of Protocol Buffers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardy_rl.network.features import INPUTS, PENDING_INPUTS, STAGES
from nardy_rl.rules.variant import Variant, variant_from_dict

FORMAT = 2
CARD, POLICY, SMALL_POLICY, GOLDEN, README = "card.json", "policy.onnx", "policy.int8.onnx", "golden.jsonl", "README.md"
FILES = (POLICY, SMALL_POLICY, GOLDEN, README)
"""What a card can vouch for."""

WEIGHT, BIAS = "layers.{}.weight", "layers.{}.bias"
"""The names in `policy.onnx` of a layer's weights float32[in, out] and biases float32[out]; for layers after the first
float32[stages, in, out] and float32[stages, 1, out]."""

_METADATA = "nardy_rl"  # under which a policy tells its variant and format


@dataclass(frozen=True)
class Bundle:
    """A bundle that is what its card says."""

    folder: Path
    card: dict[str, Any]
    variant: Variant
    weights: list[NDArray[np.float32]]  # [out, inputs], then [stages, out, in] of each layer
    biases: list[NDArray[np.float32]]  # [out], then [stages, out]

    def parameters_as_arrays(self) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
        """Weights and biases of all layers, as `inference.fast_net` takes them."""
        return self.weights, self.biases


def is_bundle(path: str | Path) -> bool:
    """Whether somebody who names `path` means a bundle: a folder, whatever is in it."""
    return path != "" and Path(path).is_dir()


def read_bundle(folder: str | Path) -> Bundle:
    """The bundle in `folder`. Raises ValueError saying in one line which file is missing, damaged or not its own."""
    folder = Path(folder)
    card = read_card(folder)
    content = {name: _read(folder, name) for name in card["files"]}
    for name, digest in card["files"].items():
        if hashlib.sha256(content[name]).hexdigest() != digest:
            raise ValueError(f"{folder / name} is damaged: it is not the file of which {CARD} has the SHA-256")
    variant = variant_from_dict(card["variant"], source=str(folder / CARD))
    no_network = f"{folder / POLICY} holds no network that nardy_rl can play"
    try:
        metadata, arrays = read_policy(content[POLICY])
    except (KeyError, ValueError, IndexError, TypeError):  # of bytes that are no text, too
        raise ValueError(no_network) from None
    told = card["has_pending"], len(card["outputs"])
    if metadata and (metadata != policy_metadata(variant) or told != (variant.has_pending, variant.outputs)):
        raise ValueError(f"{folder / CARD} and {POLICY} are of different variants or formats")
    try:
        weights, biases = _layers(arrays, variant)
    except (KeyError, ValueError):
        raise ValueError(no_network) from None
    return Bundle(folder, card, variant, weights, biases)


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a bundle, whose files are not looked at. Raises ValueError as `read_bundle` does."""
    text = _read(folder, CARD)
    try:
        card = json.loads(text)
        if not isinstance(card, dict):
            raise ValueError
    except ValueError:  # of bytes that are no text, too
        raise ValueError(f"{folder / CARD} is truncated or no card of a bundle") from None
    if card.get("format") != FORMAT:
        raise ValueError(f"{folder / CARD} has bundle format {card.get('format')}; this version reads format {FORMAT}")
    if card.get("sha256") != card_digest(card):
        raise ValueError(f"{folder / CARD} is damaged: it is not what was written")
    listed = {"name", "variant", "outputs", "has_pending", "files"} <= card.keys() and isinstance(card["files"], dict)
    if not listed or POLICY not in card["files"] or not set(card["files"]) <= set(FILES):
        raise ValueError(f"{folder / CARD} is no card of a bundle: it does not list a bundle's files")
    return card


def card_digest(card: dict[str, Any]) -> str:
    """The SHA-256 of a card's content without the key that holds it, so that a slip of the disk or pen is noticed."""
    rest = {key: value for key, value in card.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def policy_metadata(variant: Variant) -> dict[str, str]:
    """What a policy says of itself, so that it can be told apart without its card."""
    return {_METADATA: json.dumps({"format": FORMAT, "variant": variant.to_dict()}, sort_keys=True)}


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{folder} is no whole bundle: it has no {name}") from None
    except OSError as error:
        raise ValueError(f"cannot read {folder / name}: {error.strerror}") from None


def _layers(
    arrays: dict[str, NDArray[Any]], variant: Variant
) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]]]:
    """Weights and biases of the network. Raises ValueError or KeyError unless it fits the variant."""
    number = sum(name.startswith("layers.") and name.endswith(".weight") for name in arrays)
    weights = [np.ascontiguousarray(arrays[WEIGHT.format(layer)].swapaxes(-1, -2)) for layer in range(number)]
    biases = [arrays[BIAS.format(layer)] for layer in range(number)]
    biases[1:] = [bias.reshape(STAGES, -1) for bias in biases[1:]]
    stages: tuple[int, ...] = ()
    width = INPUTS + PENDING_INPUTS * variant.has_pending
    for weight, bias in zip(weights, biases, strict=True):
        size = bias.shape[-1]
        if weight.dtype != np.float32 or bias.dtype != np.float32 or bias.shape != (*stages, size):
            raise ValueError
        if weight.shape != (*stages, size, width):
            raise ValueError
        width, stages = size, (STAGES,)
    if number < 2 or width != variant.outputs or not all(np.isfinite(part).all() for part in weights + biases):
        raise ValueError
    return weights, biases


# An ONNX file, as far as weights are concerned (onnx.proto): a record is (number << 3 | kind), then the value.

_Value: TypeAlias = "int | memoryview"
_WHOLE, _LONG, _PART, _SHORT = 0, 1, 2, 5  # kinds of records
_GRAPH, _PROPERTIES = 7, 14  # of a model
_INITIALIZER = 5  # of a graph
_DIMS, _TYPE, _NAME, _RAW = 1, 2, 8, 9  # of a tensor
_TYPES: dict[int, np.dtype[Any]] = {1: np.dtype("<f4"), 3: np.dtype("i1"), 7: np.dtype("<i8")}


def read_policy(file: bytes) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    """The metadata and the weights by name of an ONNX file. Raises ValueError or IndexError if it is damaged."""
    metadata: dict[str, str] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for number, value in _records(memoryview(file)):
        if number == _PROPERTIES:
            pair = {key: bytes(_part(text)).decode() for key, text in _records(_part(value))}
            metadata[pair[1]] = pair[2]
        if number == _GRAPH:
            tensors = (_part(inner) for field, inner in _records(_part(value)) if field == _INITIALIZER)
            arrays |= dict(map(_tensor, tensors))
    return metadata, arrays


def _tensor(record: memoryview) -> tuple[str, NDArray[Any]]:
    shape: list[int] = []
    name, kind, raw = "", 0, memoryview(b"")
    for number, value in _records(record):
        if number == _DIMS:
            shape += [value] if isinstance(value, int) else _whole_numbers(value)
        elif number == _TYPE and isinstance(value, int):
            kind = value
        elif number == _NAME:
            name = bytes(_part(value)).decode()
        elif number == _RAW:
            raw = _part(value)
    if kind not in _TYPES:
        raise ValueError(f"tensor {name} is of a type that is not read here")
    return name, np.frombuffer(raw, _TYPES[kind]).reshape(shape)


def _records(data: memoryview) -> Iterator[tuple[int, _Value]]:
    """The (number, value) of each record: a whole number, or a part of `data`."""
    place = 0
    while place < len(data):
        tag, place = _whole_number(data, place)
        kind = tag & 7
        if kind == _WHOLE:
            value, place = _whole_number(data, place)
            yield tag >> 3, value
            continue
        if kind == _PART:
            size, place = _whole_number(data, place)
        elif kind in (_LONG, _SHORT):
            size = 8 if kind == _LONG else 4
        else:
            raise ValueError(f"no record is of kind {kind}")
        if place + size > len(data):
            raise ValueError("a record ends behind its file")
        yield tag >> 3, data[place : place + size]
        place += size


def _part(value: _Value) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number stands where a record should")
    return value


def _whole_numbers(data: memoryview) -> list[int]:
    numbers, place = [], 0
    while place < len(data):
        number, place = _whole_number(data, place)
        numbers.append(number)
    return numbers


def _whole_number(data: memoryview, place: int) -> tuple[int, int]:
    """The number that begins at `place`, 7 bits a byte, the lowest first, and where it ends."""
    number, shift = 0, 0
    while True:
        byte = data[place]
        place += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, place
