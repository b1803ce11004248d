"""Small bundles and the independent client, for the tests of both."""

import importlib.util
import sys
from functools import cache
from pathlib import Path

import numpy as np
from nets import opinionated_net

from nardy_rl.export.command import Options, export
from nardy_rl.network.checkpoint import Checkpoint, save_checkpoint
from nardy_rl.rules.variant import VARIANTS, Variant, load_variant, variant

HIDDEN = (24, 8)
ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "clients" / "python" / "nardy_client.py"
WHOLE_CHAIN = {"chain_max_scope": "chain", "checkers": 6, "start": "24:6"}
# The variants in the box, and sheets with what these do not use.
SHEETS: dict[str, Variant] = {name: variant(name) for name in VARIANTS} | {
    "nackgammon": load_variant(ROOT / "docs" / "nackgammon.yaml"),
    "fevga": load_variant(ROOT / "docs" / "fevga.yaml"),
    "exact": variant("long", bearoff="exact_only", koks=4, head_exception_mode="last_resort", jacoby=True),
    "higher": variant("short", bearoff_from_higher=True, doubles_moves=3, prime_rule="home", prime_check="turn_end"),
    "two": variant("gulbar", head=2, head_budget_scope="whole_turn", prime_edge="closed", pass_when="doubles_only"),
    "skip": variant("mad_gulbar_b", chain_break="skip", chain_head="group", chain_grace_turns=1, home_mars=4),
    "lost": variant("mad_gulbar_a", chain_break="lose_rest", chain_head="free", chain_extra_roll=True),
    "whole": variant("mad_gulbar_b", **WHOLE_CHAIN),
    "hits": variant("short", chain_moves=3, pass_when="any_roll", extra_roll=True, chain_grace_turns=2),
}


def write_bundle(folder: Path, rules: Variant, **options) -> Path:
    """The bundle of an opinionated net for `rules`, in a folder of `folder`, next to its checkpoint net.pt."""
    folder.mkdir(exist_ok=True)
    checkpoint = folder / "net.pt"
    save_checkpoint(checkpoint, Checkpoint(rules, opinionated_net(rules, HIDDEN), games=1234))
    export(Options(checkpoint=str(checkpoint), out=str(folder / "bot"), **({"cases": 96, "int8_games": 0} | options)))
    return folder / "bot"


@cache
def client():
    """The module clients/python/nardy_client.py."""
    spec = importlib.util.spec_from_file_location("nardy_client", CLIENT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["nardy_client"] = module
    spec.loader.exec_module(module)
    return module


def random_inputs(number: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Positions int8[N, 2, 26] of 15 checkers a side that need not be possible, and what is pending, int8[N, 7]."""
    rng = np.random.default_rng(seed)
    positions = np.zeros((number, 2, 26), np.int8)
    for side in positions.reshape(-1, 26):
        np.add.at(side, rng.integers(0, 26, 15), 1)
    pending = rng.integers(0, 5, (number, 7)).astype(np.int8)
    pending[:, 6] = rng.integers(0, 2, number)
    pending[rng.random(number) < 0.3] = 0
    return positions, pending
