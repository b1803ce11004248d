"""Bots by name: a word, `gnubg:` with a search depth, or the path of a checkpoint or bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardy_rl.bundle import is_bundle, read_bundle
from nardy_rl.players.bot import HEURISTIC, RANDOM, Bot, network_bot, simple_bot
from nardy_rl.players.gnubg import Gnubg, Pubeval
from nardy_rl.rules.kernel import Plays
from nardy_rl.rules.likeness import check_same_rules
from nardy_rl.rules.variant import Variant
from nardy_rl.search.lookahead import MAX_PLIES
from nardy_rl.spelling import nearest

_SIMPLE = {"random": RANDOM, "heuristic": HEURISTIC}
_DEPTHS = {"gnubg:0": 0, "gnubg:1": 1, "gnubg:2": 2}
_CHECKPOINT = ".pt"
_PLIES = tuple(str(plies) for plies in range(MAX_PLIES + 1))

BOT_NAMES: tuple[str, ...] = (*_SIMPLE, *_DEPTHS, "pubeval")
"""What a bot may be called; a path that ends in `.pt` names a checkpoint besides, and a folder a bundle."""


class OutsidePlayer(Protocol):
    """A player that Python has to ask for each decision. It is sent to other processes, so it must pickle."""

    def choose(self, board: NDArray[np.int8], plays: Plays, size: int, dice: tuple[int, int]) -> int:
        """The index of its play among the `size` plays that `generate` made.

        board: int8[2, 26], row 0 the mover, before the play. dice: two numbers from 1 to 6 in any order.
        """


Player: TypeAlias = Bot | OutsidePlayer


def load_player(name: str, variant: Variant) -> Player:
    """The bot called `name` (see BOT_NAMES), or that of the checkpoint or bundle at this path, for games of `variant`.

    Raises ValueError for an unknown name, a bot that does not play this variant, an unreadable checkpoint, a damaged
    bundle, and for gnubg and pubeval where gnubg-nn is not installed.
    """
    if name in _SIMPLE:
        return simple_bot(_SIMPLE[name], variant)
    if name in _DEPTHS:
        return Gnubg(variant, _DEPTHS[name])
    if name == "pubeval":
        return Pubeval(variant)
    path, plies = _plies(name)
    if Path(path).suffix == _CHECKPOINT:
        from nardy_rl.network.checkpoint import load_checkpoint  # the other bots play without torch

        return network_bot(load_checkpoint(path, variant).net, variant, plies)
    if is_bundle(path):
        bundle = read_bundle(path)
        check_same_rules(path, bundle.variant, variant)
        return network_bot(bundle, variant, plies)
    raise _unknown(name)


def trained_variant(name: str) -> Variant | None:
    """The variant for which the bot of the checkpoint or bundle at this path was trained, None for one of BOT_NAMES.

    Raises ValueError for a file that does not say, and for a name that is unknown.
    """
    path, _ = _plies(name)
    if Path(path).suffix == _CHECKPOINT:
        from nardy_rl.network.checkpoint import load_checkpoint

        return load_checkpoint(path).variant
    if is_bundle(path):
        return read_bundle(path).variant
    if name not in BOT_NAMES:
        raise _unknown(name)
    return None


def _unknown(name: str) -> ValueError:
    known = (
        f"known are {', '.join(BOT_NAMES)}, checkpoints by their path (*{_CHECKPOINT}) and bundles by their folder, "
        f"with look-ahead PATH@1 … @{MAX_PLIES}"
    )
    return ValueError(f"unknown bot {name!r}; {known}{nearest(name, BOT_NAMES)}")


def _plies(name: str) -> tuple[str, int]:
    """A bot's path and how far it is to look ahead: `path.pt@2`, or `path.pt` for the bare network."""
    path, at, plies = name.rpartition("@")
    if at and not is_bundle(name) and (Path(path).suffix == _CHECKPOINT or is_bundle(path)):
        if plies not in _PLIES:
            raise ValueError(f"a bot looks {', '.join(_PLIES)} plies ahead, not {plies!r}: {name}")
        return path, int(plies)
    return name, 0
