"""The rules of a turn once more, slow and obvious: plain tuples, every order of the dice, no code of the package.

A side is a tuple of 26 counts in its owner's own numbering: index 0 borne off, 1…24 the points of his path, 25 the bar.
A variant is anything with the options of a rule sheet as attributes. Numbers in docstrings are sections of the rules.
"""

from functools import lru_cache
from typing import NamedTuple

OFF, HEAD, BAR = 0, 24, 25
HOME = range(1, 7)
OUTSIDE = range(7, 26)
UNLIMITED = 99


class State(NamedTuple):
    """The middle of a turn: both sides, the dice still to play, and how many checkers may still leave the head."""

    own: tuple
    opp: tuple
    dice: tuple
    head_left: int


def other_side(direction, point):
    """What the other player calls my point (1)."""
    if direction == "contrary":
        return 25 - point
    return point + 12 if point <= 12 else point - 12


def is_open(variant, opp, point):
    """Whether I may land on my point (3.1, 4.3)."""
    enemies = opp[other_side(variant.direction, point)]
    return enemies == 0 or (enemies == 1 and variant.hit)


def all_home(own):
    """Whether nothing is left outside my home or on the bar (2.8)."""
    return not any(own[point] for point in OUTSIDE)


def may_bear_off(variant, own, source, die):
    """Whether this die takes a checker off from `source` (2.8, 4.7, A13, A14)."""
    if not all_home(own):
        return False
    if source == die:
        return True
    if variant.bearoff == "exact_only":
        return False
    if source < die:
        return not any(own[point] for point in HOME if point > source)
    return variant.bearoff_from_higher and own[die] == 0


def may_move_inside_home(variant, own):
    """Whether a checker that stands in my home may move on inside it (A13)."""
    if variant.bearoff == "standard":
        return True
    return variant.bearoff_ban == "all_home" and not all_home(own)


def targets(variant, own, opp, source, die):
    """Where the checker on `source` may go with this die, head and prime rules aside."""
    if own[source] == 0 or (own[BAR] > 0 and source != BAR):
        return []
    found = []
    if source > die and is_open(variant, opp, source - die) and (source > 6 or may_move_inside_home(variant, own)):
        found.append(source - die)
    if source <= 6 and may_bear_off(variant, own, source, die):
        found.append(OFF)
    return found


def step(variant, own, opp, source, target):
    """One checker goes from `source` to `target`: (own, opp, whether a blot was hit) (4.4)."""
    own, opp = list(own), list(opp)
    own[source] -= 1
    own[target] += 1
    hit = False
    if target != OFF:
        there = other_side(variant.direction, target)
        hit = opp[there] > 0
        opp[BAR] += opp[there]
        opp[there] = 0
    return tuple(own), tuple(opp), hit


def illegal_block(variant, own, opp):
    """Whether my six points in a row may not stand as they are (3.4, A6, A8)."""
    return _illegal_block(variant.prime_rule, variant.prime_edge, variant.direction, own, opp)


@lru_cache(maxsize=1 << 16)
def _illegal_block(rule, edge, direction, own, opp):
    if rule == "off":
        return False
    # The points I hold, as he counts them.
    held = {other_side(direction, point) for point in range(1, 25) if own[point]}
    for front in range(1, 20):
        if all(front + ahead in held for ahead in range(6)):
            if rule == "forbid":
                return True
            passed = range(front) if rule == "ahead" else range(7)
            if not any(opp[point] for point in passed):
                return True
    if edge == "closed" and opp[OFF] == 0:
        for first in range(20, 25):
            around_his_edge = [first, *range(first + 1, 25), *range(1, first - 18)]
            if held.issuperset(around_his_edge):
                return True
    return False


def successors(variant, state, budget):
    """All (source, target, state after) of the steps that are legal at this moment, with any of the dice."""
    steps = []
    for die in sorted(set(state.dice)):
        left = list(state.dice)
        left.remove(die)
        for source in range(25, 0, -1):
            from_head = source == HEAD and variant.head > 0
            if from_head and state.head_left == 0:
                continue
            for target in targets(variant, state.own, state.opp, source, die):
                own, opp, _ = step(variant, state.own, state.opp, source, target)
                if variant.prime_check == "each_step" and illegal_block(variant, own, opp):
                    continue
                steps.append((source, target, State(own, opp, tuple(left), state.head_left - from_head)))
    # The checker that only the exception lets go waits until nothing else can be moved (A5).
    if variant.head_exception_mode == "last_resort" and budget > variant.head > 0 and state.head_left == 1:
        return [each for each in steps if each[0] != HEAD] or steps
    return steps


def segment(variant, own, opp, dice, budget, head_left=None):
    """The afterstates of the longest legal sequences, and the dice these leave: (set of (own, opp), unused).

    head_left: how many checkers may still leave the head, where some of the budget was spent on earlier dice.
    """
    layer = {State(own, opp, tuple(sorted(dice)), budget if head_left is None else head_left)}
    endings = layer
    while layer:
        layer = {after for state in layer for _, _, after in successors(variant, state, budget)}
        # A longer sequence always wins (2.5), unless it ends in a block that is only judged now (A7).
        endings = {state for state in layer if not illegal_block(variant, state.own, state.opp)} or endings
    # One of two dice: the larger is played, the smaller is left (2.6).
    unused = min(state.dice for state in endings)
    return {(state.own, state.opp) for state in endings if state.dice == unused}, unused


def numbers(variant, dice):
    """The steps of a roll (2.3, 3.6)."""
    return dice if dice[0] != dice[1] else (dice[0],) * variant.doubles_moves


def head_budget(variant, own, opp, dice, first_turn):
    """How many checkers may leave the head this turn (3.3)."""
    if variant.head == 0:
        return UNLIMITED
    if first_turn is None:
        return variant.head
    roll = tuple(sorted(dice))
    double = roll[0] == roll[1]
    listed = {
        "blocked": True,
        "seed_list": roll in [(3, 3), (4, 4), (6, 6)] or (first_turn == "second" and roll in [(5, 5), (2, 6)]),
        "d346": roll in [(3, 3), (4, 4), (6, 6)],
        "d46": roll in [(4, 4), (6, 6)],
        "any_double": double,
        "none": False,
    }[variant.head_exception]
    if listed and variant.head_exception in ("blocked", "seed_list"):
        _, unused = segment(variant, own, opp, numbers(variant, dice), variant.head)
        listed = unused != ()
    return variant.head + listed


def head_after(variant, budget, left, before, after):
    """The head budget of the next value of a chain, and how much of it is left (7.7)."""
    if variant.chain_head == "group" and variant.head:
        return variant.head, variant.head
    return budget, left - (before[HEAD] - after[HEAD])


@lru_cache(maxsize=1 << 18)
def longest(variant, own, opp, groups, budget, left):
    """How many steps of a chain, a group for each value, can be made before one cannot be finished (7.1, 7.3)."""
    if not groups:
        return 0
    most, all_later = 0, sum(map(len, groups[1:]))
    endings, unused = segment(variant, own, opp, groups[0], budget, left)
    if any(mine[OFF] == variant.checkers for mine, _ in endings):  # he wins and has nothing left to play (2.9, 7.6)
        return len(groups[0]) + all_later
    if unused:
        return len(groups[0]) - len(unused)
    for mine, his in endings:
        if most < all_later:
            most = max(most, longest(variant, mine, his, groups[1:], *head_after(variant, budget, left, own, mine)))
    return len(groups[0]) + most


def chain(variant, own, opp, groups, budget, left):
    """The plays of the first group of a chain, as `segment` gives them, by the scope of the maximum (7.2, A23)."""
    endings, unused = segment(variant, own, opp, groups[0], budget, left)
    if variant.chain_max_scope == "group" or unused:
        return endings, unused
    lengths = {}
    for mine, his in endings:
        after = head_after(variant, budget, left, own, mine)
        lengths[mine, his] = longest(variant, mine, his, groups[1:], *after)
    most = max(lengths.values())
    return {ending for ending in endings if lengths[ending] == most}, unused


def plays(variant, own, opp, dice, first_turn=None):
    """The afterstates of a roll and the dice left over: (set of (own, opp), unused, ascending).

    Of a chain of doubles (7) these are the plays of its first value; all values count as left over once it breaks.
    """
    budget = head_budget(variant, own, opp, dice, first_turn)
    in_grace = first_turn is not None and variant.chain_grace_turns > 0
    if dice[0] != dice[1] or variant.chain_moves == 0 or in_grace:
        return segment(variant, own, opp, numbers(variant, dice), budget)
    if variant.chain_head == "free":
        budget = UNLIMITED
    groups = tuple((value,) * variant.chain_moves for value in range(dice[0], 7))
    afterstates, unused = chain(variant, own, opp, groups, budget, budget)
    if unused and variant.chain_break != "skip":
        unused += tuple(value for value in range(dice[0] + 1, 7) for _ in range(variant.chain_moves))
    return afterstates, unused
