"""The bear-off tables of a variant: whether it has any, and where they are kept once they are computed."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
from pathlib import Path

import numpy as np

from nardy_rl.compiled import cache_folder
from nardy_rl.files import replacing
from nardy_rl.rules.compact import PRIME_RULES, Rules
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.position import OFF, POINTS
from nardy_rl.rules.variant import Variant
from nardy_rl.search.bearoff import TURNS, Endings
from nardy_rl.search.bearoff_build import HOME, Tables, build, home_places

_PACKAGE = Path(__file__).parents[1]
_SOURCES = (
    *(f"rules/{name}.py" for name in ("chain", "compact", "kernel", "protocol", "steps", "words")),
    *(f"search/{name}.py" for name in ("bearoff", "bearoff_build")),
)
# What cannot matter once both sides are home; whatever else is in `Rules` names the tables.
_NEUTRAL = {
    "contrary": 0, "hit": 0, "head": 0, "head_exception": 0, "last_resort": 0, "prime": PRIME_RULES.index("off"),
    "prime_turn_end": 0, "prime_closed_edge": 0, "lottery_opening": 0, "single": 0, "mars": 0, "home_mars": 0,
    "koks": 0, "koks_head_only": 0, "koks_needs_none_off": 0, "pass_when": 0, "head_whole_turn": 0, "chain_break": 0,
    "chain_head": 0, "chain_grace_turns": 0,
}  # fmt: skip


def obstacle(variant: Variant) -> str | None:
    """Why `variant` can have no bear-off tables; None if it has them.

    What a player at home may play must depend on nothing but his own checkers and dice, and none of these may be left
    over while he has checkers, lest they be passed on. So standard bear-off always is, as long as no block is
    forbidden: one at home is nowhere ahead of an opponent who is home himself.
    """
    if variant.bearoff != "standard":
        return f"bearoff {variant.bearoff} leaves dice unplayed"
    if variant.prime_rule == "forbid":
        return "prime_rule forbid bans blocks at home, too"
    if variant.chain_moves and variant.chain_grace_turns:
        # In the first turns doubles do not chain. Both must be past them when both are home.
        to_home = 2 * sum(max(point - HOME, 0) * count for point, count in variant.start_points.items())
        rolls = 2 * variant.chain_grace_turns - 1  # the most in which somebody has a turn of grace to come
        if rolls * HOME * max(variant.doubles_moves, 2) >= to_home:
            return f"chain_grace_turns {variant.chain_grace_turns} may still run when both sides are home"
    return None


def tables_path(variant: Variant) -> Path:
    """Where the tables of `variant` are kept, next to the machine code; named after the rules and sources behind them.

    The file is a .npz with the SHA-256 of it all at its end.
    """
    return _path(_tables_rules(variant))


@functools.cache
def endings(variant: Variant) -> Endings:
    """The tables of `variant`: from the disk, or else computed in some seconds and kept there if that is possible.

    Without rows where the variant has none (`obstacle`).
    """
    return no_endings(variant) if obstacle(variant) else _endings(variant, _tables(_tables_rules(variant)))


def no_endings(variant: Variant) -> Endings:
    """What stands for the tables where there are none, or where nobody asks for them."""
    none = np.zeros((0, TURNS), np.float32)
    return _endings(variant, Tables(none, none, np.zeros((0, 0), np.float32), np.zeros((7, 0), np.int32)))


def _endings(variant: Variant, tables: Tables) -> Endings:
    loser = np.zeros((2, POINTS), np.int8)
    loser[:, HOME] = variant.checkers
    loser[0, HOME], loser[0, OFF] = variant.checkers - 1, 1
    points = [points_won(row, variant.rules) for row in loser]
    return Endings(*tables, home_places(), np.array(variant.levels, np.int64), np.array(points, np.int64))


def _tables_rules(variant: Variant) -> Rules:
    return variant.rules._replace(**_NEUTRAL)


@functools.cache
def _tables(rules: Rules) -> Tables:
    path = _path(rules)
    try:
        return _read(path)
    except (OSError, ValueError):
        tables = build(rules)
    with contextlib.suppress(OSError):  # an unwritable cache only costs time
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, tables)
    return tables


def _path(rules: Rules) -> Path:
    digest = hashlib.sha256(repr(rules).encode())
    for source in _SOURCES:
        digest.update((_PACKAGE / source).read_bytes())
    return cache_folder().parent / "bearoff" / f"{digest.hexdigest()[:16]}.npz"


def _read(path: Path) -> Tables:
    """Raises OSError if the file cannot be read, ValueError if it is not as it was written."""
    content = path.read_bytes()
    size = hashlib.sha256().digest_size
    if hashlib.sha256(content[:-size]).digest() != content[-size:]:
        raise ValueError(f"{path} is damaged")
    with np.load(io.BytesIO(content[:-size]), allow_pickle=False) as arrays:
        return Tables(*(arrays[name] for name in Tables._fields))


def _write(path: Path, tables: Tables) -> None:
    content = io.BytesIO()
    np.savez(content, **tables._asdict())
    with replacing(path) as file:
        file.write(content.getbuffer())
        file.write(hashlib.sha256(content.getbuffer()).digest())
