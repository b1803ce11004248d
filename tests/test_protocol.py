"""The turn protocol against the slow reference, option by option, in games of random plays."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
import pytest
import reference_protocol
from reference import HEAD, OFF
from reference_protocol import Turn
from test_generator import CHOICES, fitting
from test_protocol_cases import segment_dice, steps_of

from nardy_rl.rules.compact import CHAIN_BREAKS, CHAIN_HEADS, MAX_SCOPES, PASS_WHEN
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.plays import FIRST_TURNS
from nardy_rl.rules.position import Position
from nardy_rl.rules.protocol import Standing, after_play, before_roll, begin, list_plays, pending_steps, take_dice
from nardy_rl.rules.variant import VARIANTS, Variant, variant
from nardy_rl.rules.words import unpack

DECISIONS = 12  # of a walk that does not begin with the game
LAST_RESORT = {"head_exception": "any_double", "head_exception_mode": "last_resort"}
FEW = {"checkers": 6, "start": "24:6"}  # so that the reference can play a chain of doubles to its end in all ways
# (preset, options under which the option matters, option, all its values). Each value is one test: its walks have to
# come to a decision that differs under every other value, so that an ignored option cannot pass.
OPTIONS = [
    ("gulbar", {}, "pass_when", PASS_WHEN),
    ("short", {"extra_roll": True}, "pass_when", PASS_WHEN),
    ("mad_gulbar_b", {"chain_break": "skip"}, "pass_when", PASS_WHEN),
    ("gulbar", {}, "extra_roll", [True, False]),
    ("long", {"doubles_moves": 3}, "extra_roll", [True, False]),
    ("gulbar", {}, "head_budget_scope", ["segment", "whole_turn"]),
    ("gulbar", LAST_RESORT, "head_budget_scope", ["segment", "whole_turn"]),
    ("gulbar", {"head": 2, "head_exception": "any_double"}, "head_budget_scope", ["segment", "whole_turn"]),
    ("mad_gulbar_a", {"chain_extra_roll": True}, "head_budget_scope", ["segment", "whole_turn"]),
    ("mad_gulbar_b", {"chain_head": "group", "chain_extra_roll": True}, "head_budget_scope", ["segment", "whole_turn"]),
    ("mad_gulbar_a", {}, "chain_moves", [2, 4, 0, 1, 3]),
    ("mad_gulbar_b", {"doubles_moves": 2, "chain_grace_turns": 1}, "chain_moves", [4, 2]),
    ("mad_gulbar_b", {}, "chain_break", CHAIN_BREAKS),
    ("mad_gulbar_a", {"prime_rule": "forbid", "chain_extra_roll": True}, "chain_break", CHAIN_BREAKS),
    ("mad_gulbar_a", FEW, "chain_max_scope", MAX_SCOPES),
    ("mad_gulbar_b", FEW | {"chain_head": "group", "prime_rule": "forbid"}, "chain_max_scope", MAX_SCOPES),
    ("mad_gulbar_b", FEW | LAST_RESORT | {"prime_check": "turn_end"}, "chain_max_scope", MAX_SCOPES),
    ("mad_gulbar_a", FEW | {"chain_head": "free", "chain_break": "lose_rest"}, "chain_max_scope", MAX_SCOPES),
    ("mad_gulbar_b", FEW | {"bearoff": "exact_only"}, "chain_max_scope", MAX_SCOPES),
    ("short", FEW | {"chain_moves": 3}, "chain_max_scope", MAX_SCOPES),
    ("mad_gulbar_a", {}, "chain_max_scope", MAX_SCOPES),
    ("mad_gulbar_b", {}, "chain_head", CHAIN_HEADS),
    ("mad_gulbar_a", LAST_RESORT, "chain_head", CHAIN_HEADS),
    ("mad_gulbar_b", {"head_exception": "d346", "chain_break": "skip"}, "chain_head", CHAIN_HEADS),
    ("mad_gulbar_b", {}, "chain_grace_turns", [0, 3]),
    ("mad_gulbar_a", {"extra_roll": True}, "chain_grace_turns", [0, 1, 2]),
    ("mad_gulbar_b", {}, "chain_extra_roll", [False, True]),
    ("mad_gulbar_a", {"chain_break": "lose_rest"}, "chain_extra_roll", [False, True]),
    ("gulbar", {}, "head_exception_mode", ["allowance", "last_resort"]),
    ("mad_gulbar_b", {}, "head_exception", ["blocked", "d346", "any_double", "none"]),
    ("mad_gulbar_b", {"prime_rule": "home"}, "prime_check", ["each_step", "turn_end"]),
    ("mad_gulbar_b", {}, "prime_rule", ["ahead", "forbid", "off"]),
    ("mad_gulbar_a", {}, "bearoff", ["standard", "exact_only"]),
]


def sheets() -> list:
    """(variant, its rivals under the same option), one for each value of each option."""
    found = []
    for preset, base, option, values in OPTIONS:
        for value in values:
            rivals = [variant(preset, **base, **{option: other}) for other in values if other != value]
            text = ",".join(f"{key}={setting}" for key, setting in (base | {option: value}).items())
            found.append(pytest.param(variant(preset, **base, **{option: value}), rivals, id=f"{preset}-{text}"))
    return found


class Walk:
    """A game of random plays: the state machine and the reference side by side, compared at every decision."""

    def __init__(self, rules: Variant, own: tuple, opp: tuple, standing: Standing, turn: Turn) -> None:
        self.rules, self.sides = rules, (own, opp)
        self.standing, self.turn = standing, turn
        self.room = new_plays()
        self.finished = False

    @classmethod
    def from_start(cls, rules: Variant, starter: int) -> Walk:
        own, opp = (tuple(row) for row in Position.start(rules).array.tolist())
        return cls(rules, own, opp, begin(starter), reference_protocol.begin(rules, starter))

    @classmethod
    def from_position(cls, rules: Variant, position: Position, first_turn: str | None) -> Walk:
        own, opp = (tuple(row) for row in position.array.tolist())
        turn = reference_protocol.begin(rules, 1 if first_turn == "second" else 0)._replace(player=0)
        if first_turn is None:
            turn = turn._replace(rolls=(max(1, rules.chain_grace_turns), 0))
        return cls(rules, own, opp, before_roll(FIRST_TURNS[first_turn], rules.rules), turn)

    def decide(self, dice: tuple, rng: random.Random, shadows: list[Shadow]) -> list[Shadow]:
        """Compare, play at random, and return those of `shadows` that could not be told from the game."""
        own, opp = self.sides
        board = np.array(self.sides, np.int8)
        if self.standing.number == 0:
            assert self.turn.groups == ()
            self.turn = reference_protocol.roll(self.rules, self.turn, own, opp, dice)
            self.standing = take_dice(self.standing, board, *dice, self.rules.rules, self.room)
        expected, unused = reference_protocol.plays(self.rules, self.turn, own, opp)
        self._assert_same_dice()

        size, depth, left_over = list_plays(self.standing, board, self.rules.rules, self.room)
        found = [self._afterstate(board, index) for index in range(size)]
        assert len(set(found)) == size >= 1
        assert set(found) == expected, self
        assert depth == len(self.turn.groups[0]) - len(unused)
        alike = [shadow for shadow in shadows if shadow.sees(self, dice, expected, unused)]

        choices = []
        for mine, his in found:
            if mine[OFF] == self.rules.checkers:
                choices.append((mine, his, None, None))
                continue
            following = after_play(self.standing, depth, left_over, own[HEAD] - mine[HEAD], self.rules.rules)
            turn = reference_protocol.after(self.rules, self.turn, own, mine, unused)
            assert following.seat == turn.player, self
            assert pending_steps(following) == pending_code(turn), self
            choices.append((mine, his, following, turn))

        mine, his, following, turn = rng.choice(choices)
        alike = [shadow for shadow in alike if shadow.follows(self, mine, unused, turn)]
        if turn is None:
            self.finished = True
        else:
            self.sides = (mine, his) if turn.player == self.turn.player else (his, mine)
            self.standing, self.turn = following, turn
        return alike

    def _afterstate(self, board: np.ndarray, index: int) -> tuple:
        after = np.empty((2, 26), np.int8)
        unpack(self.room.low[index], self.room.high[index], board, self.rules.rules, after)
        return tuple(tuple(row) for row in after.tolist())

    def _assert_same_dice(self) -> None:
        standing, turn = self.standing, self.turn
        assert sorted(segment_dice(standing)) == sorted(turn.groups[0]), self
        assert steps_of(standing.later) == sum(turn.groups[1:], ()), self
        assert steps_of(standing.passing) == sum(turn.unplayed, ()), self
        assert (standing.seat, standing.own, standing.chain) == (turn.player, turn.own, turn.chain), self
        assert (standing.rolls_0, standing.rolls_1) == turn.rolls, self

    def __repr__(self) -> str:
        return f"{self.rules}\n{Position(self.sides)}\n{self.standing}\n{self.turn}"


def pending_code(turn: Turn) -> int:
    """What a network is told of what is to be played: 4 bits a value, and bit 0 if it is of an own roll."""
    dice = sum(turn.groups, ())
    return sum(1 << (4 * die) for die in dice) + (turn.own and dice != ())


class Shadow:
    """The same game under a rival set of options, as long as nobody at the board could tell the difference."""

    def __init__(self, rules: Variant, turn: Turn) -> None:
        self.rules, self.turn = rules, turn

    def sees(self, walk: Walk, dice: tuple, afterstates: set, unused: tuple) -> bool:
        """Whether the player to act has the same dice and plays here."""
        own, opp = walk.sides
        if not self.turn.groups:
            self.turn = reference_protocol.roll(self.rules, self.turn, own, opp, dice)
        if (self.turn.groups, self.turn.own) != (walk.turn.groups, walk.turn.own):
            return False
        return reference_protocol.plays(self.rules, self.turn, own, opp) == (afterstates, unused)

    def follows(self, walk: Walk, mine: tuple, unused: tuple, following: Turn | None) -> bool:
        """Whether after the same play the same player acts, with the same dice."""
        if following is None:
            return True
        self.turn = reference_protocol.after(self.rules, self.turn, walk.sides[0], mine, unused)
        return (self.turn.player, self.turn.groups) == (following.player, following.groups)


def throw(rng: random.Random, lowest: int = 1) -> tuple:
    """Doubles, from `lowest` on, come more often than in play: they are what the protocol is about."""
    dice = rng.randint(1, 6), rng.randint(1, 6)
    return dice if dice[0] != dice[1] and rng.random() > 0.3 else (rng.randint(lowest, 6),) * 2


def lowest_double(*sheets: Variant) -> int:
    """The longest chain that the reference can play to its end in all ways."""
    return 4 if any(sheet.chain_max_scope == "chain" and sheet.checkers > 6 for sheet in sheets) else 1


def walks(rules: Variant, rng: random.Random, sample_turns: Callable) -> Iterator[tuple[Walk, int]]:
    """Whole games and short ones from odd positions in turn, endlessly, each with the most decisions it may have."""
    turns = sample_turns(rules, rng)
    while True:
        yield Walk.from_start(rules, rng.randint(0, 1)), 200
        for _ in range(8):
            position, _, first_turn = next(turns)
            yield Walk.from_position(rules, position, first_turn), DECISIONS


@pytest.mark.parametrize(("rules", "rivals"), sheets())
def test_state_machine_goes_as_the_reference_goes(rules, rivals, positions, sample_turns, request):
    rng = random.Random(request.node.callspec.id)
    enough, decisions, lowest = positions // 3, 0, lowest_double(rules, *rivals)
    for walk, most in walks(rules, rng, sample_turns):
        if decisions >= enough and not rivals:
            break
        # A small sample goes on until it has met every rival: some options matter on few turns.
        assert decisions < enough + 3000, f"the sample holds no decision in which these matter: {rivals}"
        shadows = [Shadow(rival, walk.turn) for rival in rivals]
        for _ in range(most):
            if walk.finished or (decisions >= enough and not rivals):
                break
            shadows = walk.decide(throw(rng, lowest), rng, shadows)
            rivals = [shadow.rules for shadow in shadows]
            decisions += 1


PROTOCOL = {
    "pass_when": PASS_WHEN,
    "head_budget_scope": ("segment", "whole_turn"),
    "extra_roll": (False, True),
    "chain_moves": (0, 1, 2, 3, 4),
    "chain_break": CHAIN_BREAKS,
    "chain_max_scope": MAX_SCOPES,
    "chain_head": CHAIN_HEADS,
    "chain_grace_turns": (0, 1, 3),
    "chain_extra_roll": (False, True),
}


def test_state_machine_goes_as_the_reference_goes_under_any_mixture_of_options(positions, sample_turns):
    rng = random.Random("mixtures")
    for _ in range(positions // 10):
        options = {option: rng.choice(values) for option, values in (CHOICES | PROTOCOL).items()}
        rules = variant(rng.choice(VARIANTS), **fitting(options))
        for walk, most in islice(walks(rules, rng, sample_turns), 3):
            for _ in range(min(most, DECISIONS)):
                if not walk.finished:
                    walk.decide(throw(rng), rng, [])


@pytest.mark.parametrize(("gone", "left"), [(0, 2), (1, 1)])
def test_passed_dice_do_not_use_up_the_exception_of_a_first_own_roll(gone, left):
    """Rules 6, also where the head budget is that of the whole turn: the exception is one more for the turn."""
    rules = variant("gulbar", head_exception="d346", head_budget_scope="whole_turn").rules
    standing = begin(0)._replace(seat=1, rolls_0=1, first=5, number=1, own=False, head_left=1)
    standing = after_play(standing, 1, 0, gone, rules)
    assert (standing.seat, standing.number) == (1, 0)
    board = Position.start(variant("gulbar")).board()
    assert take_dice(standing, board, 4, 4, rules, new_plays()).head_left == left


@pytest.mark.parametrize(("chain_head", "left", "patient"), [("roll", 2, True), ("group", 1, False)])
def test_only_the_checker_that_the_exception_lets_go_waits_in_a_chain(chain_head, left, patient):
    """Rules A5 and A24: a budget of its own for each value holds no exception after the first."""
    rules = variant("mad_gulbar_a", **LAST_RESORT, chain_head=chain_head).rules
    board = Position.from_points({24: 13, 20: 2}, {24: 15}).board()
    standing = take_dice(begin(0), board, 4, 4, rules, new_plays())
    assert (standing.head_left, standing.patient) == (2, True)
    standing = after_play(standing, 2, 0, 0, rules)
    assert (standing.first, standing.head_left, standing.patient) == (5, left, patient)


@pytest.mark.parametrize(("scope", "number"), [("group", 3), ("chain", 2)])
def test_a_chain_judged_as_a_whole_leaves_out_plays_that_end_it_early(scope, number):
    """Rules A23: of the fives 20/15 19/14, 20/10 and 19/9 the second leaves no six, with 4 and 13 closed."""
    rules = variant("mad_gulbar_a", chain_max_scope=scope).rules
    board = Position.from_points({20: 1, 19: 1, 1: 13}, {16: 2, 1: 13}).board()
    standing = take_dice(before_roll(FIRST_TURNS[None], rules), board, 5, 5, rules, new_plays())
    assert list_plays(standing, board, rules, new_plays())[:2] == (number, 2)
    # Of the last value all plays stay, and of dice that were passed on each value is played for itself (7.4).
    for other in (standing._replace(later=0), standing._replace(own=False, chain=False)):
        assert list_plays(other, board, rules, new_plays())[:2] == (3, 2)


def test_a_chain_judged_as_a_whole_does_not_keep_a_player_from_winning():
    """Rules 2.9, A23: after 10/6/2 two fives win, after 10/6 5/1 it takes a six as well."""
    for scope in MAX_SCOPES:
        rules = variant("mad_gulbar_a", chain_max_scope=scope).rules
        board = Position.from_points({10: 1, 5: 1}, {20: 15}).board()
        standing = take_dice(before_roll(FIRST_TURNS[None], rules), board, 4, 4, rules, new_plays())
        assert list_plays(standing, board, rules, new_plays())[:2] == (2, 2)


def test_in_a_chain_judged_as_a_whole_the_checkers_of_a_value_move_in_any_order():
    """Where six in a row are forbidden, 11/6/1 has to come before 8/3 in the chain from 3-3 that was played so far."""
    rules = variant("mad_gulbar_b", head=0, prime_rule="forbid", chain_max_scope="chain", checkers=6, start="24:6")
    position = Position.from_points({24: 1, 23: 1, 5: 1, 4: 1, 2: 1, 1: 1}, {19: 6}, checkers=6)
    Walk.from_position(rules, position, None).decide((3, 3), random.Random("order"), [])
