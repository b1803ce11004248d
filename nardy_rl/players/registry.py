"""Bots by name: a word, `gnubg:` with a search depth, a bot in the box, or the path of a checkpoint or bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nardy_rl.bundle import is_bundle, read_bundle
from nardy_rl.players.bot import HEURISTIC, RANDOM, Bot, network_bot, simple_bot
from nardy_rl.players.box import boxed
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
"""What a bot may be called, if not by its name in the box (`box.boxed`), its checkpoint or its bundle's folder."""


class OutsidePlayer(Protocol):
    """A player that Python has to ask for each decision. It is sent to other processes, so it must pickle."""

    def choose(self, board: NDArray[np.int8], plays: Plays, size: int, dice: tuple[int, int]) -> int:
        """The index of its play among the `size` plays that `list_plays` gave.

        board: int8[2, 26], row 0 the mover, before the play. dice: two numbers from 1 to 6 in any order.
        """


Player: TypeAlias = Bot | OutsidePlayer


def load_player(name: str, variant: Variant) -> Player:
    """The bot called `name` (see BOT_NAMES), or that of the checkpoint or bundle of this name, for games of `variant`.

    Raises ValueError for an unknown name, a bot that does not play this variant, an unreadable checkpoint, a damaged
    bundle, and for gnubg and pubeval where gnubg-nn is not installed.
    """
    if name in _SIMPLE:
        return simple_bot(_SIMPLE[name], variant)
    if name in _DEPTHS:
        return Gnubg(variant, _DEPTHS[name])
    if name == "pubeval":
        return Pubeval(variant)
    path, plies = locate(name)
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
    path, _ = locate(name)
    if Path(path).suffix == _CHECKPOINT:
        from nardy_rl.network.checkpoint import load_checkpoint

        return load_checkpoint(path).variant
    if is_bundle(path):
        return read_bundle(path).variant
    if name not in BOT_NAMES:
        raise _unknown(name)
    return None


def _unknown(name: str) -> ValueError:
    trained = boxed()
    known = (
        f"known are {', '.join(BOT_NAMES)}; of trained ones {''.join(f'{bot}, ' for bot in trained)}checkpoints by "
        f"their path (*{_CHECKPOINT}) and bundles by their folder, all with look-ahead NAME@1 … @{MAX_PLIES}"
    )
    return ValueError(f"unknown bot {name!r}; {known}{nearest(name, [*BOT_NAMES, *trained])}")


def locate(name: str) -> tuple[str, int]:
    """Where the trained bot called `name` lies and how far it looks ahead: `best.pt@2` and `short@2`, or without.

    Other names come back as they are. Raises ValueError for a depth that there is not.
    """
    path, at, plies = name.rpartition("@")
    box = boxed()
    if not at or is_bundle(name) or not (Path(path).suffix == _CHECKPOINT or is_bundle(path) or path in box):
        return str(box.get(name, name)), 0
    if plies not in _PLIES:
        raise ValueError(f"a bot looks {', '.join(_PLIES)} plies ahead, not {plies!r}: {name}")
    return str(box.get(path, path)), int(plies)
