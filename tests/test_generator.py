"""The compiled play generator against the slow reference, option by option, and against other programs."""

import random
import re
from dataclasses import fields, replace

import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nardy_rl.rules.outcome import outcome
from nardy_rl.rules.plays import Play, legal_plays
from nardy_rl.rules.position import Position, check_position
from nardy_rl.rules.variant import HEAD_EXCEPTIONS, PRIME_RULES, VARIANTS, Variant, load_variant, variant

# (preset, options under which the option matters, option, all its values). Each value is one test: it has to find
# positions where the play set differs under every other value, so that an ignored option cannot pass.
OPTIONS = [
    ("long", {}, "direction", ["parallel", "contrary"]),
    ("short", {}, "direction", ["contrary", "parallel"]),
    ("long", {"head": 0}, "hit", [False, True]),
    ("short", {}, "hit", [True, False]),
    ("long", {}, "head", [1, 0, 2, 3]),
    ("long", {}, "head_exception", HEAD_EXCEPTIONS),
    ("long", {}, "head_exception_mode", ["allowance", "last_resort"]),
    ("long", {"head_exception": "any_double"}, "head_exception_mode", ["allowance", "last_resort"]),
    ("long", {"head": 2}, "head_exception_mode", ["allowance", "last_resort"]),
    ("long", {}, "prime_rule", ["ahead", *sorted(set(PRIME_RULES) - {"ahead"})]),
    ("short", {}, "prime_rule", ["off", *sorted(set(PRIME_RULES) - {"off"})]),
    ("long", {}, "prime_check", ["each_step", "turn_end"]),
    ("short", {"prime_rule": "ahead"}, "prime_check", ["each_step", "turn_end"]),
    ("long", {}, "prime_edge", ["linear", "closed"]),
    ("long", {"prime_rule": "home"}, "prime_edge", ["linear", "closed"]),
    ("long", {}, "doubles_moves", [4, 3, 2]),
    ("short", {}, "doubles_moves", [4, 3, 2]),
    ("long", {}, "bearoff", ["standard", "exact_only"]),
    ("short", {}, "bearoff", ["standard", "exact_only"]),
    ("long", {"bearoff": "exact_only"}, "bearoff_ban", ["all_home", "each_checker"]),
    ("short", {"bearoff": "exact_only"}, "bearoff_ban", ["all_home", "each_checker"]),
    ("long", {}, "bearoff_from_higher", [False, True]),
    ("short", {}, "bearoff_from_higher", [False, True]),
]


def sheets() -> list:
    """(variant, its rivals under the same option): the presets, then every value of every option but the default."""
    found = [pytest.param(variant(name), [], id=name) for name in VARIANTS]
    found.append(pytest.param(variant("long", checkers=7, start="24:7"), [], id="long-checkers=7"))
    for preset, base, option, values in OPTIONS:
        for value in values[1:] if not base else values:
            rivals = [variant(preset, **base, **{option: other}) for other in values if other != value]
            text = ",".join(f"{key}={setting}" for key, setting in (base | {option: value}).items())
            found.append(pytest.param(variant(preset, **base, **{option: value}), rivals, id=f"{preset}-{text}"))
    return found


def sides(position: Position) -> tuple:
    return tuple(map(tuple, position.array.tolist()))


def fits(rules: Variant, position: Position) -> bool:
    try:
        check_position(rules, position)
    except ValueError:
        return False
    return True


def moved(rules: Variant, position: Position, play: Play) -> tuple:
    """The position after the moves of `play` by the reference's single steps; its hits must be marked, no others."""
    own, opp = sides(position)
    for move in play.moves:
        own, opp, hit = reference.step(rules, own, opp, move.source, move.target)
        assert hit == move.hit, play
    return own, opp


def assert_each_move_is_legal(rules: Variant, position: Position, dice: tuple, first_turn: str | None, play: Play):
    own, opp = sides(position)
    budget = reference.head_budget(rules, own, opp, dice, first_turn)
    states = [reference.State(own, opp, tuple(reference.numbers(rules, dice)), budget)]
    for move in play.moves:
        nexts = [step for state in states for step in reference.successors(rules, state, budget)]
        states = [after for source, target, after in nexts if (source, target) == (move.source, move.target)]
        assert states, f"{move} of {play}"


def compare(rules: Variant, position: Position, dice: tuple, first_turn: str | None) -> tuple[list[Play], tuple]:
    """The plays of the generator, which must be those of the reference, and what the reference found."""
    plays = legal_plays(rules, position, dice, first_turn)
    afterstates = [sides(play.after) for play in plays]
    expected = reference.plays(rules, *sides(position), dice, first_turn)
    case = f"{rules}\n{position}\ndice {dice}, first turn {first_turn}"
    assert len(plays) >= 1, case
    assert len(set(afterstates)) == len(plays), case
    assert set(afterstates) == expected[0], case
    assert {play.unused for play in plays} == {expected[1]}, case
    assert all(sum(own) == sum(opp) == rules.checkers for own, opp in afterstates), case
    return plays, expected


@pytest.mark.parametrize(("rules", "rivals"), sheets())
def test_generator_finds_exactly_the_plays_of_the_reference(rules, rivals, positions, sample_turns, request):
    rng = random.Random(request.node.callspec.id)
    rivals = list(rivals)
    for position, dice, first_turn in sample_turns(rules, rng, positions):
        plays, expected = compare(rules, position, dice, first_turn)
        assert all(moved(rules, position, play) == sides(play.after) for play in plays)
        assert_each_move_is_legal(rules, position, dice, first_turn, rng.choice(plays))
        rivals = [
            rival
            for rival in rivals
            if not fits(rival, position) or reference.plays(rival, *sides(position), dice, first_turn) == expected
        ]
    assert not rivals, "the sample holds no position in which these options matter"


CHOICES = {
    option.name: option.metadata["choices"] for option in fields(Variant) if "choices" in option.metadata
} | {"hit": (False, True), "bearoff_from_higher": (False, True), "doubles_moves": (4, 3, 2), "head": (1, 0, 2)}


def test_generator_finds_the_plays_of_the_reference_under_any_mixture_of_options(positions, sample_turns):
    rng = random.Random("mixtures")
    for _ in range(positions // 10):
        options = {option: rng.choice(values) for option, values in CHOICES.items()}
        if options["hit"]:
            options["head"] = 0
        for turn in sample_turns(variant(rng.choice(VARIANTS), **options), rng, 10):
            compare(variant("long", **options), *turn)
