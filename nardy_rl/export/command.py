"""What `python -m nardy_rl.export` does: from a checkpoint to a bundle that has proven itself."""

from __future__ import annotations

import hashlib
import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from omegaconf import MISSING

from nardy_rl.bundle import CARD, FILES, GOLDEN, POLICY, README, SMALL_POLICY, read_bundle
from nardy_rl.evaluation.match import check_match
from nardy_rl.evaluation.results import to_json
from nardy_rl.export import card as cards
from nardy_rl.export.check import check, compiled_reader, onnxruntime_reader, torch_reader
from nardy_rl.export.golden import summary, to_lines
from nardy_rl.export.graph import policy
from nardy_rl.export.nodes import onnx_modules
from nardy_rl.export.readme import readme
from nardy_rl.export.selection import CASES, golden_cases
from nardy_rl.export.small import Network, loss, small_network
from nardy_rl.export.strength import read_strength
from nardy_rl.export.values import Values
from nardy_rl.files import replacing


@dataclass
class Options:
    """The options of `configs/export.yaml`, where they are explained."""

    checkpoint: str = MISSING
    out: str = MISSING
    name: str | None = None
    version: str = "1"
    strength: list[str] = field(default_factory=list)
    int8: bool = True
    int8_games: int = 2000
    cases: int = CASES
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.cases < 1:
            raise ValueError(f"option cases must be a whole number from 1; got {self.cases}")
        if self.int8_games and (self.int8_games < 4 or self.int8_games % 2):
            raise ValueError(f"option int8_games must be 0 or an even number from 4; got {self.int8_games}")
        check_match(4, 0, self.workers)


def export(options: Options) -> None:
    """Write the bundle and say what it holds. Raises ValueError or OSError; then an earlier bundle is as it was."""
    from nardy_rl.network.checkpoint import load_checkpoint  # the rest of this floor needs no torch

    onnx_modules()
    folder = Path(options.out)
    _check_folder(folder)
    checkpoint = load_checkpoint(options.checkpoint)
    variant = checkpoint.variant
    strength = [read_strength(path, options.checkpoint, variant) for path in options.strength]
    network = Network(*checkpoint.net.parameters_as_arrays())
    values = Values(*network, variant)
    cases = golden_cases(variant, values, options.cases)
    content = {POLICY: policy(*network, variant), GOLDEN: to_lines(cases)}
    readers = {
        "torch": torch_reader(checkpoint.net, variant),
        "onnxruntime": onnxruntime_reader(content[POLICY]),
        "the compiled network": compiled_reader(*network, variant),
    }
    difference = check(readers, variant, cases)
    small = None
    if options.int8:
        folded = small_network(network)
        content[SMALL_POLICY] = policy(folded.weights, folded.biases, variant, folded.scales)
        small = loss(network, folded, variant, cases, options.int8_games, options.workers)

    def card(listed: dict[str, bytes]) -> dict[str, object]:
        name = options.name or cards.bot_name(variant, network)
        told = cards.training(options.checkpoint, checkpoint.run, checkpoint.games, network, variant)
        digests = {name: hashlib.sha256(listed[name]).hexdigest() for name in FILES if name in listed}
        return cards.make_card(name, options.version, variant, told, strength, small, summary(cases, variant), digests)

    sizes = {name: len(file) for name, file in content.items()}
    content[README] = readme(card(content), variant, sizes).encode()
    _write(folder, content, card(content))
    read_bundle(folder)
    files = ", ".join(f"{name} {len(file):,}" for name, file in content.items())
    print(f"{folder}: {files} bytes")
    print(f"{', '.join(readers)}: the same plays in {len(cases)} golden cases, probabilities within {difference:.1e}")
    if small and "games" in small:
        print(f"int8: {small['points_per_game']:+.4f} ± {small['standard_error']:.4f} points per game")


def _check_folder(folder: Path) -> None:
    """Raise ValueError if something would be lost or mixed up there."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"cannot write {folder}: it is no folder")
    there = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    others = [name for name in there if name not in (*FILES, CARD) and not name.endswith(".draft")]
    if others:
        raise ValueError(f"cannot write {folder}: it holds other things than a bundle, such as {others[0]}")


def _write(folder: Path, content: dict[str, bytes], card: dict[str, object]) -> None:
    """Write all files, and only then put them into their places.

    Whoever is killed between two of them leaves files that are not those of the card, which `read_bundle` refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as places:  # taken from the last to the first: the card's is the last
        for name, file in {CARD: to_json(card), **content}.items():
            draft = places.enter_context(replacing(folder / name))
            draft.write(file)
            draft.flush()
            os.fsync(draft.fileno())
    for name in set(FILES) - content.keys():
        (folder / name).unlink(missing_ok=True)
