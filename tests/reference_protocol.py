"""The turn protocol once more, slow and obvious: who plays which dice, and who rolls next. No code of the package.

Written from sections 6 and 7 of the rules on top of `reference`, which knows how a group of dice is played. A group is
a tuple of dice: the two of a roll, the equal ones of a double, or those of one value in a chain of doubles.
"""

from typing import NamedTuple

import reference
from reference import HEAD, OFF, UNLIMITED


class Turn(NamedTuple):
    """Where a game stands, the board aside."""

    player: int  # who acts, 0 or 1
    starter: int
    rolls: tuple = (0, 0)  # how often each player has rolled
    groups: tuple = ()  # what he has to play, group after group; nothing: he is about to roll
    own: bool = True  # these are of his own roll, else they were handed to him
    double: bool = False  # what kind of roll they are from
    chain: bool = False
    unplayed: tuple = ()  # groups of this roll that could not be played
    budget: int = 0  # checkers that may leave the head with this roll, or with what was handed to him …
    left: int | None = None  # … and how many of them still may; before a roll what is left of his turn, None: all


def begin(variant, starter):
    """A game in which `starter` is about to roll."""
    return rolling(variant, Turn(1 - starter, starter), starter)


def rolling(variant, turn, player):
    """`player` is about to roll: his turn begins, or goes on after dice that were handed to him or a full double."""
    # The head budget is that of a roll, or is not renewed within a turn (A19).
    goes_on = player == turn.player and variant.head_budget_scope == "whole_turn"
    return Turn(player, turn.starter, turn.rolls, left=turn.left if goes_on else None)


def roll(variant, turn, own, opp, dice):
    """The player rolls these dice."""
    player, double = turn.player, dice[0] == dice[1]
    rolled_before = turn.rolls[player]
    # In his first turns a double is a plain one (7.8).
    chain = double and variant.chain_moves > 0 and rolled_before >= variant.chain_grace_turns
    groups = (tuple(reference.numbers(variant, dice)),)
    if chain:  # all doubles from this one up to 6-6 (7.1)
        groups = tuple((value,) * variant.chain_moves for value in range(dice[0], 7))

    first_turn = None
    if rolled_before == 0:
        first_turn = "starter" if player == turn.starter else "second"
    budget = reference.head_budget(variant, own, opp, dice, first_turn)
    left = budget
    if turn.left is not None:  # handed dice cannot use up the exception: it is one more for the turn, too (6)
        left = min(budget, turn.left + (budget > variant.head > 0))
    if chain and variant.chain_head == "free":
        budget = left = UNLIMITED

    rolls = (turn.rolls[0] + (player == 0), turn.rolls[1] + (player == 1))
    return Turn(player, turn.starter, rolls, groups, True, double, chain, (), budget, left)


def plays(variant, turn, own, opp):
    """The afterstates of the group to be played now, and the dice it leaves."""
    if turn.chain:  # his own; what was handed over is played group by group, each as far as possible (7.4)
        return reference.chain(variant, own, opp, turn.groups, turn.budget, turn.left)
    return reference.segment(variant, own, opp, turn.groups[0], turn.budget, turn.left)


def after(variant, turn, before, own, unused):
    """How the game stands after a play that left `own` of the player's side `before`, and the dice `unused`."""
    gone = before[HEAD] - own[HEAD]
    turn = turn._replace(left=turn.left - gone, groups=turn.groups[1:])
    if not turn.own:  # what was handed over is played as far as it goes, then comes the roll (6.1, 6.3, 7.4)
        return turn if turn.groups else rolling(variant, turn, turn.player)

    if unused:
        turn = turn._replace(unplayed=(*turn.unplayed, unused))
        if variant.chain_break != "skip":  # the chain ends here for the roller (7.3)
            turn = turn._replace(unplayed=turn.unplayed + turn.groups, groups=())
    if turn.groups:
        if variant.chain_head == "group" and variant.head:  # a new budget for each value (7.7)
            return turn._replace(budget=variant.head, left=variant.head)
        return turn

    other = 1 - turn.player
    if not turn.unplayed:
        # A double that is plain only because chains come later has no extra roll (7.8).
        plain_again = turn.double and variant.extra_roll and variant.chain_moves == 0
        again = variant.chain_extra_roll if turn.chain else plain_again
        return rolling(variant, turn, turn.player if again else other)
    passes = variant.pass_when == "any_roll" or (variant.pass_when == "doubles_only" and turn.double)
    if turn.chain and variant.chain_break == "lose_rest":
        passes = False
    if not passes:
        return rolling(variant, turn, other)
    budget = variant.head or UNLIMITED
    return Turn(other, turn.starter, turn.rolls, turn.unplayed, own=False, budget=budget, left=budget)


class End(NamedTuple):
    """One way in which a player has played all that he had to play."""

    own: tuple
    opp: tuple
    unplayed: tuple  # dice, in order: passed on or lost
    turn: Turn | None  # None: he has won


def ends(variant, turn, own, opp, unplayed=()):
    """All ways in which the player who acts can play what he has to play, group after group: {End}."""
    found = set()
    afterstates, unused = plays(variant, turn, own, opp)
    for own_after, opp_after in afterstates:
        if own_after[OFF] == variant.checkers:  # he wins at once, nothing passes (2.9, 7.6)
            found.add(End(own_after, opp_after, (), None))
            continue
        following = after(variant, turn, own, own_after, unused)
        if following.groups and following.player == turn.player:
            found |= ends(variant, following, own_after, opp_after, unplayed + unused)
        else:
            rest = sum(turn.groups[1:], ()) if unused else ()
            found.add(End(own_after, opp_after, unplayed + unused + rest, following))
    return found
