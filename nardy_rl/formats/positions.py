"""A position in whatever text a user has of it."""

from __future__ import annotations

import re
from typing import NamedTuple

from nardy_rl.formats.gnu import from_match_id, from_position_id
from nardy_rl.formats.xgid import PREFIX, parse_xgid
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.position import Position, check_position
from nardy_rl.rules.variant import Variant

_GNU_ID = re.compile(r"([A-Za-z0-9+/]{14})(?::([A-Za-z0-9+/]{12}))?")
_XG_POINTS = re.compile(r"[-A-Pa-p]{26}:.*")


class Reading(NamedTuple):
    """A position, row 0 the player on roll, and the dice that its text names, None where it names none."""

    position: Position
    dice: tuple[int, int] | None


def read_position(variant: Variant, text: str) -> Reading:
    """The position of `X=24:15; O=24:15`, a GNU position ID, one with a match ID after a colon, or an XGID.

    Raises ValueError if the text cannot be read, or the position cannot stand in `variant`.
    """
    text = text.strip()
    gnu = _GNU_ID.fullmatch(text)
    xgid = text.startswith(PREFIX) or _XG_POINTS.fullmatch(text)
    if not gnu and not xgid:
        return Reading(parse_position(variant, text), None)
    if not variant.hit or variant.direction != "contrary":
        raise ValueError(f"{'a GNU ID' if gnu else 'an XGID'} is of short nardy, not of variant {variant.name}")
    if gnu:
        position, dice = from_position_id(gnu[1]), from_match_id(gnu[2]).dice if gnu[2] else None
    else:
        read = parse_xgid(text)
        position, dice = read.position, read.dice
    check_position(variant, position)
    return Reading(position, dice)
