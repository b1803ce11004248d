"""The value network: what it sees, its compiled twin, and its checkpoints."""

import errno
import os
import pickle
import resource
import sys
from itertools import chain, islice
from random import Random

import numpy as np
import pytest
import torch
from nets import opinionated_net

from nardy_rl.network.checkpoint import FORMAT, Checkpoint, load_checkpoint, save_checkpoint
from nardy_rl.network.fast_net import new_scratch
from nardy_rl.network.features import CHANCE_INPUT, INPUTS, SET_INPUT, SIDE_INPUTS, sight_of
from nardy_rl.network.inference import rate, rate_plays
from nardy_rl.network.value_net import ValueNet, encode, new_net, stages
from nardy_rl.players.bot import network_bot
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.outcome import equity_weights, outcome
from nardy_rl.rules.plays import FIRST_TURNS, legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.protocol import generate
from nardy_rl.rules.variant import variant, variant_from_dict

SHORT, LONG = variant("short"), variant("long")
FOUR_LEVELS = variant_from_dict({"base": "long", "name": "four levels", "home_mars": 3, "koks": 4})
OFF, BAR = 0, 25


def inputs_of(position: Position, rules=SHORT) -> np.ndarray:
    return encode(torch.from_numpy(position.board()[None]), sight_of(rules))[0].numpy()


def set_input(side: int, quarter: int, points) -> int:
    """The index of the input that says: of this quarter just these points are held."""
    number = sum(1 << (point - 6 * quarter - 1) for point in points)
    return side * SIDE_INPUTS + SET_INPUT + 63 * quarter + number - 1


def of_points(inputs) -> np.ndarray:
    """Without the chances, for which there is tests/test_chances.py."""
    return inputs.reshape(2, SIDE_INPUTS)[:, :CHANCE_INPUT]


def probabilities_of(net: ValueNet, boards) -> np.ndarray:
    with torch.no_grad():
        return net(torch.from_numpy(np.array(boards))).numpy()


# What the network sees


def test_every_input_has_the_index_and_value_that_is_documented():
    own = {24: 1, 13: 2, 8: 3, 1: 6, "bar": 1, "off": 2}
    opp = {20: 4, 3: 5, "bar": 3, "off": 3}
    expected = np.zeros(INPUTS)
    expected[4 * 23] = 1
    expected[4 * 12 : 4 * 12 + 2] = 1
    expected[4 * 7 : 4 * 7 + 3] = 1
    expected[0:4] = 1, 1, 1, 1.5
    expected[96:98] = 1 / 2, 2 / 15
    other = expected[SIDE_INPUTS:]
    other[4 * 19 : 4 * 20] = 1, 1, 1, 0.5
    other[4 * 2 : 4 * 3] = 1, 1, 1, 1
    other[96:98] = 3 / 2, 3 / 15
    for side, quarter, points in ((0, 0, [1]), (0, 1, [8]), (0, 2, [13]), (1, 0, [3]), (1, 3, [20])):
        expected[set_input(side, quarter, points)] = 1
    np.testing.assert_allclose(of_points(inputs_of(Position.from_points(own, opp))), of_points(expected), rtol=1e-6)


def test_an_empty_board_but_for_one_point_sets_that_points_inputs_alone():
    for point in range(1, 25):
        inputs = inputs_of(Position.from_points({point: 15}, {"off": 15}))
        inputs.reshape(2, SIDE_INPUTS)[:, CHANCE_INPUT:] = 0
        held = set_input(0, (point - 1) // 6, [point])
        assert np.flatnonzero(inputs).tolist() == [*range(4 * point - 4, 4 * point), held, SIDE_INPUTS + 97]
        assert inputs[4 * point - 1] == 6


@pytest.mark.parametrize(("rules", "held"), [(SHORT, [1, 3, 6]), (LONG, [1, 2, 3, 6])])
def test_a_point_is_held_that_the_other_side_may_not_enter(rules, held):
    """Where blots are hit it takes two checkers, else one."""
    inputs = inputs_of(Position.from_points({1: 2, 2: 1, 3: 5, 6: 2, "off": 5}, {"off": 15}), rules)
    assert np.flatnonzero(inputs[SET_INPUT:CHANCE_INPUT]) + SET_INPUT == [set_input(0, 0, held)]


def test_the_stage_of_short_nardy_is_told_by_the_rearmost_checkers():
    home = {6: 15}
    stage = {
        0: [(home, home), ({12: 15}, {13: 15}), ({1: 15}, {24: 15}), ({"off": 14, 3: 1}, {22: 15})],
        1: [({13: 15}, {13: 15}), ({18: 15}, {18: 15}), (home, {"off": 14, 20: 1})],
        2: [({19: 15}, {8: 15}), ({"bar": 1, 6: 14}, {6: 15})],
        3: [({8: 15}, {24: 1, 6: 14}), ({6: 15}, {"bar": 1, 6: 14})],
        4: [({24: 2, 6: 13}, {24: 2, 6: 13}), ({"bar": 1, 6: 14}, {"bar": 2, 6: 13})],
    }
    stage[3].append(stage[1].pop())
    assert_stages(SHORT, stage)


def test_the_stage_of_long_nardy_is_told_by_the_rearmost_checkers():
    """Each side's points 13…24 are the other's 1…12: who is all on his last twelve has passed those who are so, too."""
    stage = {
        0: [({12: 15}, {12: 15}), ({6: 15}, {"off": 15})],
        1: [({13: 15}, {12: 15}), ({6: 15}, {18: 15})],
        2: [({24: 15}, {18: 15})],
        3: [({6: 15}, {19: 15})],
        4: [({24: 15}, {24: 15})],
    }
    assert_stages(LONG, stage)


def assert_stages(rules, stage):
    for number, sides in stage.items():
        boards = np.array([Position.from_points(*pair).board() for pair in sides])
        assert stages(torch.from_numpy(boards), sight_of(rules)).tolist() == [number] * len(sides)


@pytest.mark.parametrize("side", [0, 1])
def test_a_checker_on_the_bar_and_one_borne_off_are_different_inputs(side):
    board = {13: 5, 8: 3, 6: 6}
    opening = {24: 2, 13: 5, 8: 3, 6: 5}
    on_bar, borne_off = board | {"bar": 1}, board | {"off": 1}
    pair = [Position.from_points(*((own, opening)[:: 1 - 2 * side])) for own in (on_bar, borne_off)]
    differing = np.argwhere(of_points(inputs_of(pair[0])) != of_points(inputs_of(pair[1])))
    assert differing.tolist() == [[side, 96], [side, 97]]


def test_changing_sides_changes_the_halves_of_the_inputs(sample_turns):
    for position, _, _ in islice(sample_turns(SHORT, Random(1)), 50):
        np.testing.assert_array_equal(inputs_of(position.swapped()), np.roll(inputs_of(position), SIDE_INPUTS))
    assert INPUTS == 2 * SIDE_INPUTS


def test_a_network_depends_on_its_seed_alone():
    torch.manual_seed(5)
    first = new_net([4], LONG, seed=7)
    torch.manual_seed(6)
    state = torch.get_rng_state()
    again, other = new_net([4], LONG, seed=7), new_net([4], LONG, seed=8)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not torch.equal(first.layers[0].weight, other.layers[0].weight)


@pytest.mark.parametrize("hidden", [[], [0], [8, -1]])
def test_a_network_without_a_proper_hidden_layer_is_refused(hidden):
    with pytest.raises(ValueError, match="layer widths from 1"):
        ValueNet(hidden, LONG)


# What its outputs are worth


@pytest.mark.parametrize(
    ("rules", "levels", "weights"),
    [
        # Two levels, 1 and 2: P(win) - P(loss) + P(win mars) - P(lose mars), and P(loss) is 1 - P(win).
        (LONG, (1, 2), [2, 1, -1, -1]),
        (SHORT, (1, 2, 3), [2, 1, 1, -1, -1, -1]),
        (FOUR_LEVELS, (1, 2, 3, 4), [2, 1, 1, 1, -1, -1, -1, -1]),
        # Uneven levels: each probability is worth the step from the level below.
        (variant("long", single=2, mars=3, home_mars=5, koks=9), (2, 3, 5, 9), [4, 1, 2, 4, -1, -2, -4, -2]),
        (variant("long", mars=1, home_mars=0), (1,), [2, -1]),
    ],
)
def test_equity_is_the_sum_of_the_levels_steps(rules, levels, weights):
    assert rules.levels == levels
    assert equity_weights(rules).tolist() == weights
    assert rules.outputs == 2 * len(levels) - 1


@pytest.mark.parametrize("rules", [LONG, SHORT, FOUR_LEVELS])
def test_the_equity_of_a_decided_game_is_its_points(rules):
    weights, count = equity_weights(rules), len(rules.levels)
    for reached in range(1, count + 1):
        won = [1.0] * reached + [0.0] * (rules.outputs - reached)
        lost = [0.0] * count + [1.0] * (reached - 1) + [0.0] * (count - reached)
        assert weights[:-1] @ won + weights[-1] == rules.levels[reached - 1]
        assert weights[:-1] @ lost + weights[-1] == -rules.levels[reached - 1]


# The compiled twin


def rare_turns(rules):
    """Turns that can win the game, against losers of every class; some dice win by one play of several."""
    for loser in ({24: 14, "off": 1}, {24: 15}, {23: 1, 6: 14}, {6: 15}, {9: 1, 3: 14}, {3: 14, "off": 1}):
        position = Position.from_points({4: 1, 3: 1, "off": 13}, loser)
        for dice in ((6, 5), (4, 3), (3, 1), (2, 2), (1, 1)):
            yield position, dice, None
    if rules.hit:  # a closed home, before which the one on the bar passes
        yield Position.from_points({"bar": 2, 6: 13}, {**dict.fromkeys(range(1, 7), 2), 12: 3}), (6, 5), None


@pytest.mark.parametrize("hidden", [[128], [64, 32, 16]])
@pytest.mark.parametrize("rules", [SHORT, LONG, FOUR_LEVELS], ids=lambda rules: rules.name)
def test_the_twin_rates_every_play_as_the_network_rates_its_afterstate(rules, hidden, sample_turns):
    net = opinionated_net(rules, hidden)
    fast, weights = network_bot(net, rules).rater.net, equity_weights(rules)
    plays, scratch = new_plays(), new_scratch(fast)
    seen = dict.fromkeys(("hit", "second hit", "entered", "borne off", "won", "passed", "four moves"), 0)
    for position, dice, first_turn in chain(rare_turns(rules), islice(sample_turns(rules, Random(4)), 120)):
        board, options = position.board(), legal_plays(rules, position, dice, first_turn)
        _, size, depth, _ = generate(board, *dice, FIRST_TURNS[first_turn], rules.rules, plays)
        best = rate_plays(fast, board, plays, size, depth, False, 0, False, rules.rules, scratch)
        expected = probabilities_of(net, [play.after.swapped().array for play in options])
        for index, play in enumerate(options):
            if play.after.array[0, OFF] == rules.checkers:
                points = outcome(rules, play.after)[1]
                lost = [0.0] * len(rules.levels) + [float(points >= level) for level in rules.levels[1:]]
                assert scratch.probabilities[index].tolist() == lost
                assert scratch.equities[index] == points
                seen["won"] += 1
                continue
            np.testing.assert_allclose(scratch.probabilities[index], expected[index], atol=1e-5, rtol=0)
            equity = -(weights[:-1] @ expected[index] + weights[-1])
            assert scratch.equities[index] == pytest.approx(equity, abs=1e-4)
            hits = sum(move.hit for move in play.moves)
            seen["hit"] += hits > 0
            seen["second hit"] += hits > 1 or (hits == 1 and bool(position.array[1, BAR]))
            seen["entered"] += any(move.source == BAR for move in play.moves)
            seen["borne off"] += any(move.target == OFF for move in play.moves)
            seen["passed"] += not play.moves
            seen["four moves"] += len(play.moves) == 4
        assert best == int(np.argmax(scratch.equities[:size]))
    with_hits = {"hit", "second hit", "entered"}
    assert all(count > 0 for event, count in seen.items() if rules.hit or event not in with_hits), str(seen)


@pytest.mark.parametrize("rules", [SHORT, LONG, FOUR_LEVELS], ids=lambda rules: rules.name)
@pytest.mark.parametrize("hidden", [[1], [128], [64, 32, 16]])
def test_the_twin_rates_single_positions_as_the_network_does(rules, hidden, sample_turns):
    net = opinionated_net(rules, hidden)
    boards = [position.board() for position, _, _ in islice(sample_turns(rules, Random(2)), 100)]
    fast, weights = network_bot(net, rules).rater.net, equity_weights(rules)
    scratch, rated = new_scratch(fast), np.empty(rules.outputs, np.float32)
    for board, expected in zip(boards, probabilities_of(net, boards), strict=True):
        equity = rate(fast, board, 0, scratch, rated)
        np.testing.assert_allclose(rated, expected, atol=1e-5, rtol=0)
        assert equity == pytest.approx(weights[:-1] @ expected + weights[-1], abs=1e-4)


@pytest.mark.parametrize("bias", [-200.0, -20.0, 0.0, 20.0, 200.0])
def test_the_twin_stays_with_the_network_where_it_is_sure(bias):
    net = new_net([2], LONG, seed=1)
    with torch.no_grad():
        net.layers[-1].bias.fill_(bias)
    fast, board, rated = network_bot(net, LONG).rater.net, Position.start(LONG).board(), np.empty(3, np.float32)
    rate(fast, board, 0, new_scratch(fast), rated)
    np.testing.assert_allclose(rated, probabilities_of(net, [board])[0], atol=1e-6, rtol=0)


def test_a_position_is_worth_the_same_to_the_mover_and_to_the_player_who_then_rolls(sample_turns):
    """Whoever sits where: the afterstate as its mover rates it is the position as its next player rates it."""
    fast = network_bot(opinionated_net(SHORT, [16]), SHORT).rater.net
    plays, scratch, alone = new_plays(), new_scratch(fast), new_scratch(fast)
    rated = np.empty(SHORT.outputs, np.float32)
    for position, dice, first_turn in islice(sample_turns(SHORT, Random(6)), 40):
        board = position.board()
        _, size, depth, _ = generate(board, *dice, FIRST_TURNS[first_turn], SHORT.rules, plays)
        rate_plays(fast, board, plays, size, depth, False, 0, False, SHORT.rules, scratch)
        for index, play in enumerate(legal_plays(SHORT, position, dice, first_turn)):
            if play.after.array[0, OFF] < SHORT.checkers:
                equity = rate(fast, play.after.swapped().board(), 0, alone, rated)
                assert scratch.equities[index] == pytest.approx(-equity, abs=1e-4)


def test_a_bot_keeps_the_weights_it_was_made_with():
    net = opinionated_net(SHORT, [8, 4])
    bot, board = network_bot(net, SHORT), Position.start(SHORT).board()
    before, after, fresh = (np.empty(SHORT.outputs, np.float32) for _ in range(3))
    rate(bot.rater.net, board, 0, new_scratch(bot.rater.net), before)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.5)
    rate(bot.rater.net, board, 0, new_scratch(bot.rater.net), after)
    assert (before == after).all()
    later = network_bot(net, SHORT)
    rate(later.rater.net, board, 0, new_scratch(later.rater.net), fresh)
    assert not np.allclose(before, fresh, atol=1e-3)


# Checkpoints


@pytest.fixture
def saved(tmp_path):
    """The path of a checkpoint of short nardy."""
    path = tmp_path / "net.pt"
    run = {"place": {"games": 12, "rate": 0.5}, "mean": [torch.ones(2, 3)]}
    save_checkpoint(path, Checkpoint(SHORT, opinionated_net(SHORT, [6, 4]), 12, 3.5, run))
    return path


def complaint(path, *arguments) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        load_checkpoint(path, *arguments)
    said = str(caught.value)
    assert "\n" not in said
    assert str(path) in said
    return said


def test_a_checkpoint_comes_back_as_it_was_saved(saved):
    loaded, net = load_checkpoint(saved, SHORT), opinionated_net(SHORT, [6, 4])
    assert (loaded.variant, loaded.games, loaded.seconds, loaded.net.hidden) == (SHORT, 12, 3.5, (6, 4))
    assert loaded.run["place"] == {"games": 12, "rate": 0.5}
    assert torch.equal(loaded.run["mean"][0], torch.ones(2, 3))
    assert all(torch.equal(a, b) for a, b in zip(loaded.net.parameters(), net.parameters(), strict=True))


def test_a_rule_sheet_of_ones_own_travels_with_the_checkpoint(tmp_path):
    rules = variant_from_dict({"base": "long", "name": "house rules", "head": 2, "koks": 4, "prime_rule": "forbid"})
    save_checkpoint(tmp_path / "net.pt", Checkpoint(rules, new_net([2], rules, 1)))
    assert load_checkpoint(tmp_path / "net.pt").variant == rules
    assert load_checkpoint(str(tmp_path / "net.pt"), rules).run == {}


def test_torch_reads_a_checkpoint_by_its_defaults(saved):
    content = torch.load(saved)
    assert (content["kind"], content["format"], content["games"]) == ("nardy_rl checkpoint", FORMAT, 12)
    assert content["variant"]["name"] == "short"


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_truncated_checkpoint_is_named(saved, share):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(share * len(whole))])
    assert complaint(saved) == f"cannot read the checkpoint {saved}: it is truncated or no checkpoint"


def test_a_checkpoint_that_is_not_there_is_named(tmp_path):
    assert complaint(tmp_path / "none.pt").endswith("none.pt: No such file or directory")
    assert complaint(tmp_path).endswith("Is a directory")


class _Spy:
    """An object whose unpickling would leave a trace."""

    def __reduce__(self):
        return os.putenv, ("NARDY_RL_TRACE", "1")


@pytest.mark.parametrize(
    "content",
    [
        b"weights: none\n",
        b"P",
        b"PK\x03\x04 and nothing else",
        bytes(range(256)) * 20,
        pickle.dumps({"kind": "nardy_rl checkpoint"}),
        pickle.dumps(_Spy()),
        pickle.dumps([1, 2, 3], protocol=0),
    ],
    ids=["text", "letter", "no zip", "bytes", "pickle", "code", "old pickle"],
)
def test_a_foreign_file_is_refused(tmp_path, content):
    path = tmp_path / "net.pt"
    path.write_bytes(content)
    assert "no checkpoint" in complaint(path)


@pytest.mark.parametrize("content", [{}, [1], torch.ones(3), {"state_dict": {"weight": torch.ones(3)}}, {"kind": 1}])
def test_a_file_that_torch_wrote_for_something_else_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "net.pt")
    assert complaint(tmp_path / "net.pt").endswith("is no checkpoint of nardy_rl")


def rewrite(path, **changes):
    content = torch.load(path) | changes
    torch.save({key: value for key, value in content.items() if value is not ...}, path)


@pytest.mark.parametrize("number", [0, FORMAT + 1, None, "1"])
def test_another_format_is_refused_with_both_numbers(saved, number):
    rewrite(saved, format=number)
    assert complaint(saved) == f"{saved} has checkpoint format {number}; this version reads format {FORMAT}"


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": ...},
        {"weights": {}},
        {"weights": 5},
        {"hidden": [6, 5]},
        {"hidden": []},
        {"hidden": "64"},
        {"games": "many"},
        {"games": None},
        {"run": ...},
        {"variant": {"name": "short"}},
        {"variant": 5},
        {"variant": {"hed": 2}},
    ],
    ids=str,
)
def test_a_checkpoint_that_contradicts_itself_is_refused(saved, changes):
    rewrite(saved, **changes)
    complaint(saved)


def test_a_checkpoint_of_another_variant_is_refused_with_both_names(saved):
    assert complaint(saved, LONG) == f"{saved} was trained for variant short, not long"


def test_a_checkpoint_of_other_rules_is_refused_with_the_options_that_differ(saved):
    other = variant("short", koks=4, doubles_moves=2)
    assert complaint(saved, other) == (
        f"{saved} was trained for variant short with doubles_moves=4 (not 2), koks=3 (not 4)"
    )


def test_a_write_that_fails_leaves_the_old_checkpoint_and_no_draft(saved, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    old = saved.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        save_checkpoint(saved, Checkpoint(SHORT, new_net([32], SHORT, 2)))
    assert saved.read_bytes() == old
    assert list(saved.parent.iterdir()) == [saved]


def limited(path, size) -> OSError | None:
    """What saving a net says where no file may grow beyond `size` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        save_checkpoint(path, Checkpoint(SHORT, new_net([32], SHORT, 2)))
    except OSError as error:
        return error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    return None


def test_a_disk_that_fills_up_anywhere_in_the_file_leaves_the_old_one(saved, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # the limit would cut short what Python caches, too
    old = saved.read_bytes()
    save_checkpoint(saved.with_name("size.pt"), Checkpoint(SHORT, new_net([32], SHORT, 2)))
    needed = saved.with_name("size.pt").stat().st_size
    saved.with_name("size.pt").unlink()
    for share in (0, 0.05, 0.3, 0.7, 0.95):
        error = limited(saved, int(share * needed))
        assert error is not None
        assert error.errno == errno.EFBIG
        assert saved.read_bytes() == old
        assert list(saved.parent.iterdir()) == [saved]
    assert limited(saved, needed) is None
    assert load_checkpoint(saved).net.hidden == (32,)


def test_an_interrupted_write_leaves_the_old_checkpoint(saved, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_checkpoint(saved, Checkpoint(SHORT, new_net([32], SHORT, 2)))
    assert load_checkpoint(saved).net.hidden == (6, 4)
    assert list(saved.parent.iterdir()) == [saved]
