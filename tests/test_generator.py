"""The compiled play generator against the slow reference, option by option, and against other programs."""

import random
import re
from dataclasses import fields
from itertools import islice

import pytest
import reference
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nardy_rl.rules.compact import HEAD_EXCEPTIONS, PRIME_RULES
from nardy_rl.rules.outcome import outcome
from nardy_rl.rules.plays import Play, legal_plays
from nardy_rl.rules.position import Position, check_position
from nardy_rl.rules.variant import VARIANTS, Variant, load_variant, variant

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
    ("long", {"head": 2, "head_exception": "any_double"}, "head_exception_mode", ["allowance", "last_resort"]),
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


def options_of(rules: Variant) -> dict:
    """What differs from the preset, or from long nardy: enough to build the variant again."""
    preset = variant(rules.name).to_dict() if rules.name in VARIANTS else Variant().to_dict()
    return {option: value for option, value in rules.to_dict().items() if option == "name" or value != preset[option]}


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
    case = f"{options_of(rules)}\n{position}\ndice {dice}, first turn {first_turn}"
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
    for index, (position, dice, first_turn) in enumerate(sample_turns(rules, rng)):
        if index >= positions and not rivals:
            break
        # A small sample goes on until it has met every rival: some options matter on few turns.
        assert index < positions + 3000, "the sample holds no position in which these options matter"
        plays, expected = compare(rules, position, dice, first_turn)
        assert all(moved(rules, position, play) == sides(play.after) for play in plays)
        assert_each_move_is_legal(rules, position, dice, first_turn, rng.choice(plays))
        rivals = [
            rival
            for rival in rivals
            if not fits(rival, position) or reference.plays(rival, *sides(position), dice, first_turn) == expected
        ]


CHOICES = {option.name: option.metadata["choices"] for option in fields(Variant) if "choices" in option.metadata} | {
    "hit": (False, True),
    "bearoff_from_higher": (False, True),
    "doubles_moves": (4, 3, 2),
    "head": (1, 0, 2),
}


def fitting(options: dict) -> dict:
    """The options with those changed that do not go together, and few checkers where the reference takes long."""
    options = dict(options)
    if options["hit"]:
        options["head"] = 0
    if options["chain_max_scope"] == "chain":
        options |= {"checkers": 5, "start": "24:5", "bearoff_from_higher": False}
        if options["chain_break"] == "skip":
            options["chain_break"] = "pass_rest"
    return options


def test_generator_finds_the_plays_of_the_reference_under_any_mixture_of_options(positions, sample_turns):
    rng = random.Random("mixtures")
    for _ in range(positions // 10):
        options = {option: rng.choice(values) for option, values in CHOICES.items()}
        rules = variant(rng.choice(VARIANTS), **fitting(options))
        for turn in islice(sample_turns(rules, rng), 10):
            compare(rules, *turn)


# Turns in which an earlier generator missed or invented plays: (preset, options, own, opp, dice, first turn).
HARD_TURNS = {
    "a checker on 6 is borne off with a 5 while 5 is empty": (
        "short", {"bearoff_from_higher": True}, {6: 2}, {1: 15}, (5, 4), None),
    "the enemy's only checker ahead of a block is hit and ahead no more": (
        "short", {"prime_rule": "ahead"}, {20: 1, 9: 2, 8: 2, 7: 2, 6: 2, 5: 2, 4: 4}, {24: 6, 23: 8, 10: 1}, (5, 3),
        None),
    "the enemy's only checker at home is hit, by the first of two equal dice": (
        "short", {"prime_rule": "home"}, {20: 1, 9: 2, 8: 2, 7: 2, 6: 2, 5: 2, 4: 4}, {24: 6, 23: 8, 6: 1}, (1, 1),
        None),
    "with two checkers a turn from the head, only the third is a last resort": (
        "long", {"head": 2, "head_exception": "any_double", "head_exception_mode": "last_resort"},
        {24: 15}, {24: 15}, (1, 1), "starter"),
    "a variant without a head rule has no last resort either": (
        "short", {"head_exception_mode": "last_resort"}, {24: 2, 13: 5, 8: 3, 6: 5}, {24: 2, 13: 5, 8: 3, 6: 5}, (2, 2),
        None),
    "a step that would build a forbidden block is no alternative to the last resort": (
        "long", {"head_exception": "any_double", "head_exception_mode": "last_resort", "prime_rule": "forbid"},
        {24: 6, 9: 1, 8: 2, 7: 1, 6: 1, 5: 1, 4: 3}, {24: 1, 22: 2, 15: 1, 14: 1, 13: 3, 4: 2, 3: 3, 1: 2}, (5, 5),
        "starter"),
}  # fmt: skip


@pytest.mark.parametrize("name", HARD_TURNS)
def test_generator_finds_the_plays_of_the_reference_where(name):
    preset, options, own, opp, dice, first_turn = HARD_TURNS[name]
    compare(variant(preset, **options), Position.from_points(own, opp), dice, first_turn)


def test_short_plays_are_those_of_gnubg(positions, sample_turns):
    gnubg = pytest.importorskip("gnubg_nn")
    for position, dice, _ in islice(sample_turns(variant("short"), random.Random("gnubg")), positions):
        # Rows of 25 from each side's ace point to its bar, the player on roll second; without a move there is no key.
        own, opp = position.array[:, 1:].tolist()
        found = {gnubg.board_from_position_key(key) for key in gnubg.moves([opp, own], *dice)}
        expected = {
            (tuple(play.after.array[1, 1:].tolist()), tuple(play.after.array[0, 1:].tolist()))
            for play in legal_plays(variant("short"), position, dice)
            if play.moves
        }
        assert found == expected, f"{position}, dice {dice}"


def spiel_position(state, player: int) -> Position:
    """The position of an OpenSpiel backgammon state as `player` counts: player 1 from his ace point, 0 from his 24."""
    rows = []
    for side in (player, 1 - player):
        points = [state.board(side, index if side == 1 else 23 - index) for index in range(24)]
        bar = state.board(side, 100)
        rows.append([15 - sum(points) - bar, *points, bar])
    return Position(rows)


def spiel_afterstates(state, player: int) -> set[Position]:
    """All positions in which the turn of `player` may end; half a double is a decision of its own there."""
    found, halves = set(), {}
    for action in state.legal_actions():
        after = state.child(action)
        position = spiel_position(after, player)
        if not after.is_terminal() and after.current_player() == player:
            halves[position] = after
        else:
            found.add(position)
    return found.union(*(spiel_afterstates(half, player) for half in halves.values()))


def test_short_plays_are_those_of_open_spiel(positions):
    spiel = pytest.importorskip("pyspiel")
    game = spiel.load_game("backgammon(scoring_type=full_scoring)")
    rng = random.Random("spiel")
    state = game.new_initial_state()
    for _ in range(positions):
        if state.is_terminal():
            state = game.new_initial_state()
        state.apply_action(rng.choice(state.legal_actions()))
        player = state.current_player()
        dice = tuple(map(int, re.search(r"Dice: (\d)(\d)", str(state)).groups()))
        plays = legal_plays(variant("short"), spiel_position(state, player), dice)
        assert {play.after for play in plays} == spiel_afterstates(state, player), f"{state}, dice {dice}"
        while not state.is_terminal() and not state.is_chance_node():
            state.apply_action(rng.choice(state.legal_actions()))


@st.composite
def boards(draw, rules: Variant) -> Position:
    """Any possible position: the 24 points shared out between the sides, and their checkers between these."""
    points = draw(st.permutations(range(1, 25)))
    mine, his = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    beyond = [0, 25] if rules.hit else [0]
    rows = []
    for held in (points[:mine], [rules.mirror(point) for point in points[mine : mine + his]]):
        # One checker on a point at least: with all of them off the game would be over.
        places = [held[0], *draw(st.lists(st.sampled_from(held + beyond), min_size=14, max_size=14))]
        rows.append([places.count(point) for point in range(26)])
    return Position(rows)


DICE = st.tuples(st.integers(1, 6), st.integers(1, 6))


@pytest.mark.parametrize("name", VARIANTS)
@given(data=st.data(), dice=DICE, first_turn=st.sampled_from([None, "starter", "second"]))
@settings(max_examples=100, deadline=None)
def test_any_position_has_the_plays_of_the_reference_in_either_order_of_the_dice(name, data, dice, first_turn):
    position = data.draw(boards(variant(name)))
    plays, _ = compare(variant(name), position, dice, first_turn)
    assert {play.after for play in plays} == {
        play.after for play in legal_plays(variant(name), position, dice[::-1], first_turn)
    }


@given(data=st.data())
@settings(deadline=None)
def test_changing_sides_twice_gives_the_same_possible_position(data):
    rules = variant(data.draw(st.sampled_from(VARIANTS)))
    position = data.draw(boards(rules))
    check_position(rules, position.swapped())
    assert position.swapped().swapped() == position
    assert sides(position.swapped()) == sides(position)[::-1]
    assert eval(repr(position)) == position
    assert hash(eval(repr(position))) == hash(position)


SHORT_START = {24: 2, 13: 5, 8: 3, 6: 5}


@pytest.mark.parametrize(
    ("own", "opp", "dice", "complaint"),
    [
        ({24: 10, 13: 7}, SHORT_START, (1, 2), "own has 17 checkers instead of 15"),
        ({24: 10, "off": 4}, SHORT_START, (1, 2), "own has 14 checkers instead of 15"),
        (SHORT_START, {26: 1}, (1, 2), "opp: 26 is no point"),
        (SHORT_START, {24: -1}, (1, 2), "opp: -1 is no number of checkers"),
        (SHORT_START, {1: 15}, (1, 2), r"both sides stand on own point 24 \(the opponent's 1\)"),
        (SHORT_START, SHORT_START, (0, 2), r"dice are .* from 1 to 6, not \(0, 2\)"),
        (SHORT_START, SHORT_START, (2, 7), r"dice are .* from 1 to 6, not \(2, 7\)"),
        (SHORT_START, SHORT_START, (2,), "dice are two"),
        ({}, SHORT_START, (1, 2), "the game is finished"),
        (SHORT_START, {}, (1, 2), "the game is finished"),
    ],
)
def test_an_impossible_turn_is_refused_by_naming_the_fault(own, opp, dice, complaint):
    with pytest.raises(ValueError, match=complaint):
        legal_plays(variant("short"), Position.from_points(own, opp), dice)


def test_other_faults_of_a_turn_are_named_too():
    rules, start = variant("long"), Position.start(variant("long"))
    with pytest.raises(ValueError, match="first_turn is None"):
        legal_plays(rules, start, (1, 2), "third")
    with pytest.raises(ValueError, match="own has a checker on the bar, but nobody is hit in variant long"):
        legal_plays(rules, Position.from_points({"bar": 15}, {24: 15}), (1, 2))
    with pytest.raises(ValueError, match="own has 14 checkers, variant long has 15"):
        legal_plays(rules, Position.from_points({24: 14}, {24: 14}, checkers=14), (1, 2))
    with pytest.raises(ValueError, match=r"shape \(2, 26\)"):
        Position([[15] + [0] * 24] * 2)
    with pytest.raises(ValueError, match="not finished: the winner has 0 checkers off"):
        outcome(rules, start)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"doubles_moves": 5}, "doubles_moves (rule A1) must be a whole number from 2 to 4; got 5"),
        ({"doubles_moves": True}, "doubles_moves (rule A1) must be a whole number from 2 to 4; got True"),
        ({"head_exception": "d345"}, "head_exception (rule A4) must be one of blocked, seed_list, d346"),
        ({"hit": "yes"}, "hit (rule 4.4) must be true or false; got 'yes'"),
        ({"start": "24:14"}, "start (rule 1) must place checkers=15 in all, not 14; got '24:14'"),
        ({"start": "24-15"}, "start (rule 1) must read like 24:2,13:5; got '24-15'"),
        ({"start": "24:8,12:7"}, "start (rule 1) puts both sides on point 24; got '24:8,12:7'"),
        ({"hit": True}, "head (rule 3.3) must be 0 in a variant with hits (hit: true); got 1"),
        (
            {"chain_max_scope": "chain", "chain_break": "skip"},
            "chain_max_scope (rule A23) must be group in a variant with chain_break=skip; got 'chain'",
        ),
        (
            {"chain_max_scope": "chain", "bearoff_from_higher": True},
            "chain_max_scope (rule A23) must be group in a variant with bearoff_from_higher=true; got 'chain'",
        ),
        ({"cube_max": 48}, "cube_max (rule 8.2) must be a power of two; got 48"),
        ({"single": 3}, "mars (rule A9) must be at least single=3; got 2"),
        ({"double_moves": 3}, "unknown option 'double_moves' of variant long; known are"),
    ],
)
def test_a_wrong_option_is_refused_by_naming_option_rule_and_value(options, complaint, tmp_path):
    with pytest.raises(ValueError, match=re.escape(complaint)):
        variant("long", **options)
    sheet = tmp_path / "house.yaml"
    sheet.write_text("base: long\n" + "".join(f"{option}: {value!r}\n" for option, value in options.items()))
    with pytest.raises(ValueError, match=r"house\.yaml: .*" + re.escape(complaint)):
        load_variant(sheet)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- long", "must be a mapping"),
        ("a: [", "cannot read the rule sheet"),
        ("base: middle", "unknown variant 'middle'"),
    ],
)
def test_a_broken_rule_sheet_is_refused_by_naming_the_file(text, complaint, tmp_path):
    (tmp_path / "house.yaml").write_text(text)
    with pytest.raises(ValueError, match=complaint) as raised:
        load_variant(tmp_path / "house.yaml")
    assert "house.yaml" in str(raised.value)


@st.composite
def rule_sheets(draw) -> Variant:
    options = {}
    for option in fields(Variant):
        if "choices" in option.metadata:
            options[option.name] = draw(st.sampled_from(option.metadata["choices"]))
        elif "low" in option.metadata:
            options[option.name] = draw(st.integers(option.metadata["low"], option.metadata["high"]))
        elif isinstance(option.default, bool):
            options[option.name] = draw(st.booleans())
    options |= {"head": options["head"] * (not options["hit"]), "cube_max": 2 ** draw(st.integers(0, 12))}
    options |= {"mars": max(options["mars"], options["single"]), "start": f"24:{options['checkers']}"}
    try:
        return Variant(name=draw(st.sampled_from(["house", "Дом", "yes", "1"])), **options)
    except ValueError:
        assume(False)
        raise


@given(rules=rule_sheets())
@settings(deadline=None)
def test_any_rule_sheet_comes_back_from_yaml_as_it_was(rules, tmp_path_factory):
    path = tmp_path_factory.mktemp("sheet") / "house.yaml"
    path.write_text(rules.to_yaml(), encoding="utf-8")
    assert load_variant(path) == rules
    assert load_variant(path).rules == rules.rules
