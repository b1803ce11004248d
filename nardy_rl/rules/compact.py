"""A variant as the compiled core reads it: plain integers."""

from __future__ import annotations

from typing import NamedTuple

PRIME_RULES = ("off", "ahead", "home", "forbid")
HEAD_EXCEPTIONS = ("blocked", "seed_list", "d346", "d46", "any_double", "none")
PASS_WHEN = ("never", "any_roll", "doubles_only")
CHAIN_BREAKS = ("pass_rest", "skip", "lose_rest")
MAX_SCOPES = ("group", "chain")
CHAIN_HEADS = ("roll", "group", "free")


class Rules(NamedTuple):
    """What the compiled core needs of a variant: plain integers, switches as 0 or 1."""

    checkers: int
    contrary: int
    hit: int
    head: int
    head_exception: int  # index into HEAD_EXCEPTIONS
    last_resort: int
    prime: int  # index into PRIME_RULES
    prime_turn_end: int
    prime_closed_edge: int
    doubles_moves: int
    exact_bearoff: int  # 0 standard; 1 exact dice, no inner move once all are home; 2 nor before
    from_higher: int
    any_order: int  # the order of equal dice matters, so that no canonical order may be assumed
    lottery_opening: int
    single: int
    mars: int
    home_mars: int
    koks: int
    koks_head_only: int
    koks_needs_none_off: int
    pass_when: int  # index into PASS_WHEN
    head_whole_turn: int
    extra_roll: int
    chain_moves: int
    chain_break: int  # index into CHAIN_BREAKS
    chain_max_scope: int  # index into MAX_SCOPES
    chain_head: int  # index into CHAIN_HEADS
    chain_grace_turns: int
    chain_extra_roll: int
