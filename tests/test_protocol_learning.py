"""Learning where seats do not alternate and dice can be pending: targets, batches, network and learners."""

import copy
from collections import Counter

import numpy as np
import pytest
import reference_protocol
import torch
from nets import opinionated_net
from reference import OFF
from returns import game_returns
from test_protocol import pending_code

from nardy_rl.network.fast_net import new_scratch
from nardy_rl.network.inference import change_sides, rate, rate_plays
from nardy_rl.network.value_net import ValueNet
from nardy_rl.players.bot import RANDOM, network_bot, simple_bot
from nardy_rl.players.games import offer, start_board
from nardy_rl.rules.dice import below, roll, stream
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.position import HEAD, Position
from nardy_rl.rules.protocol import after_play, begin, pending_steps
from nardy_rl.rules.variant import Variant, variant
from nardy_rl.rules.words import unpack
from nardy_rl.selfplay.batch import DECISIONS, PASSES, POINTS, STARTER_WON, TURNS, Batch, SelfPlay
from nardy_rl.training.learner import CompiledLearner, TorchLearner

pytestmark = pytest.mark.usefixtures("one_torch_thread")

NAMES = ("gulbar", "mad_gulbar_a", "mad_gulbar_b")
SEED = 8


def probabilities_of(net: ValueNet, positions, pending) -> np.ndarray:
    with torch.no_grad():
        return net(torch.from_numpy(np.array(positions)), torch.from_numpy(np.array(pending))).numpy()


# Targets by hand. Rows are ratings before each decision, for the player who makes it; the first is not read.


@pytest.mark.parametrize(
    ("trace", "targets"),
    [
        (0.0, [[0.6, 0.2, 0.1], [0.7, 0.3, 0.1], [1, 1, 0]]),
        # Decision 1: half [0.3, 0.1, 0.3], half [1, 1, 0] is [0.65, 0.55, 0.15], for the other [0.35, 0.15, 0.55].
        # Decision 0: half [0.6, 0.2, 0.1], half that, and no change of sides.
        (0.5, [[0.475, 0.175, 0.325], [0.35, 0.15, 0.55], [1, 1, 0]]),
        (1.0, [[0, 0, 1], [0, 0, 1], [1, 1, 0]]),
    ],
)
def test_a_player_who_acts_twice_in_a_row_takes_his_own_next_rating_as_it_is(trace, targets):
    rows = np.array([[np.nan] * 3, [0.6, 0.2, 0.1], [0.3, 0.1, 0.3]], np.float32)
    seats = np.array([0, 0, 1], np.int8)
    rows = game_returns(rows, seats, np.zeros(len(seats), bool), 2, (1, 2), trace)
    np.testing.assert_allclose(rows, targets, atol=1e-6)


@pytest.mark.parametrize(
    ("trace", "targets"),
    [
        (0.0, [[0.5, 0.2, 0.2], [0.8, 0.4, 0.0], [1, 0, 0]]),
        # Decision 1: half [0.8, 0.4, 0], half [1, 0, 0]. Decision 0: half [0.5, 0.2, 0.2], half that is
        # [0.7, 0.2, 0.1], for the other [0.3, 0.1, 0.2].
        (0.5, [[0.3, 0.1, 0.2], [0.9, 0.2, 0.0], [1, 0, 0]]),
        (1.0, [[0, 0, 0], [1, 0, 0], [1, 0, 0]]),
    ],
)
def test_a_player_may_win_with_the_second_of_two_decisions(trace, targets):
    rows = np.array([[np.nan] * 3, [0.5, 0.2, 0.2], [0.8, 0.4, 0.0]], np.float32)
    seats = np.array([1, 0, 0], np.int8)
    rows = game_returns(rows, seats, np.zeros(len(seats), bool), 1, (1, 2), trace)
    np.testing.assert_allclose(rows, targets, atol=1e-6)


# What a batch records


def games_of(batch: Batch):
    """For each game its row of statistics, and its rows of the batch."""
    ends = np.cumsum(batch.games[:, DECISIONS])
    for row, end in zip(batch.games, ends, strict=True):
        yield row, slice(end - row[DECISIONS], end)


def sides(board: np.ndarray) -> tuple:
    return tuple(map(tuple, board.tolist()))


def replayed_seats(rules: Variant, key: int, row: np.ndarray, positions: np.ndarray, pending: np.ndarray) -> list[int]:
    """Who acts at each decision, by the reference; it must find each position and what is pending as recorded."""
    turn, rolled, passes, seats = reference_protocol.begin(rules, 0), 0, 0, []
    for index, board in enumerate(positions):
        assert pending[index] == pending_code(turn)
        own, opp = sides(board)
        seats.append(turn.player)
        rolls = not turn.groups
        if rolls:
            turn = reference_protocol.roll(rules, turn, own, opp, roll(key, rolled))
            rolled += 1
        afterstates, unused = reference_protocol.plays(rules, turn, own, opp)
        passes += rolls and len(unused) == len(turn.groups[0])
        if index + 1 == len(positions):
            assert any(mine[OFF] == rules.checkers for mine, _ in afterstates)
            assert row[STARTER_WON] == (turn.player == 0)
            break
        # All plays of a group are followed by the same player.
        other_next = reference_protocol.after(rules, turn, own, own, unused).player != turn.player
        following = sides(positions[index + 1])[:: -1 if other_next else 1]
        assert following in afterstates
        turn = reference_protocol.after(rules, turn, own, following[0], unused)
    assert (row[TURNS], row[PASSES]) == (rolled, passes)
    return seats


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_records_what_is_pending_and_learns_the_outcome_for_the_player_who_acts(name):
    rules = variant(name, bearoff="exact_only")
    batch = SelfPlay(rules, SEED, workers=1).play(simple_bot(RANDOM, rules), 0, 6, 1.0)
    weights = equity_weights(rules)
    for game, (row, rows) in enumerate(games_of(batch)):
        positions, pending, targets = batch.positions[rows], batch.pending[rows], batch.targets[rows]
        assert Position(positions[0]) == Position.start(rules)
        seats = replayed_seats(rules, stream(SEED, game), row, positions, pending)
        winner = 0 if row[STARTER_WON] else 1
        expected = [row[POINTS] if seat == winner else -row[POINTS] for seat in seats]
        np.testing.assert_allclose(targets @ weights[:-1] + weights[-1], expected, atol=1e-6)
        assert len(seats) > row[TURNS], "no dice were ever pending"


@pytest.mark.parametrize("name", NAMES)
def test_with_lambda_0_a_target_is_the_nets_rating_of_the_next_decision_seen_from_here(name):
    rules = variant(name, bearoff="exact_only")
    net = opinionated_net(rules, [8])
    batch = SelfPlay(rules, SEED, workers=1).play(network_bot(net, rules), 0, 3, 0.0)
    for game, (row, rows) in enumerate(games_of(batch)):
        positions, pending, targets = batch.positions[rows], batch.pending[rows], batch.targets[rows]
        seats = replayed_seats(rules, stream(SEED, game), row, positions, pending)
        ratings = probabilities_of(net, positions, pending)
        for index in range(len(seats) - 1):
            expected = ratings[index + 1]
            if seats[index] != seats[index + 1]:
                expected = np.empty(rules.outputs, np.float32)
                change_sides(ratings[index + 1], len(rules.levels), expected)
            np.testing.assert_allclose(targets[index], expected, atol=1e-5)


# The compiled twin of the network


@pytest.mark.parametrize("hidden", [[16], [64, 32, 16]])
@pytest.mark.parametrize("name", NAMES)
def test_the_twin_rates_every_play_as_the_network_rates_what_follows_it(name, hidden):
    rules = variant(name, chain_extra_roll=True)
    net = opinionated_net(rules, hidden)
    fast, weights = network_bot(net, rules).rater.net, equity_weights(rules)
    plays, scratch, alone = new_plays(), new_scratch(fast), new_scratch(fast)
    rated, seen = np.empty(rules.outputs, np.float32), Counter()
    for game in range(2):
        key, board, standing = stream(SEED, game), start_board(rules), begin(game)
        for decision in range(2000):
            standing, size, depth, left_over = offer(standing, board, key, rules.rules, plays)
            coming = after_play(standing, depth, left_over, 0, rules.rules)
            goes_on, pending = coming.seat == standing.seat, pending_steps(coming)
            best = rate_plays(fast, board, plays, size, depth, goes_on, pending, False, rules.rules, scratch)
            afters = np.empty((size, 2, 26), np.int8)
            for index in range(size):
                unpack(plays.low[index], plays.high[index], board, rules.rules, afters[index])
            running = afters[:, 0, OFF] < rules.checkers
            seen_by_next = afters if goes_on else afters[:, ::-1]
            expected = probabilities_of(net, seen_by_next, np.full(size, pending))
            np.testing.assert_allclose(scratch.probabilities[:size][running], expected[running], atol=1e-5, rtol=0)
            equities = (expected @ weights[:-1] + weights[-1]) * (1 if goes_on else -1)
            np.testing.assert_allclose(scratch.equities[:size][running], equities[running], atol=1e-4, rtol=0)
            # A won game is worth its points, whoever would have acted next.
            assert np.isin(scratch.equities[:size][~running], rules.levels).all()
            assert best == int(np.argmax(scratch.equities[:size]))

            alone_equity = rate(fast, np.ascontiguousarray(seen_by_next[0]), pending, alone, rated)
            np.testing.assert_allclose(rated, expected[0], atol=1e-5, rtol=0)
            assert alone_equity == pytest.approx(weights[:-1] @ expected[0] + weights[-1], abs=1e-4)

            kind = "own dice" if pending & 1 else "passed dice" if pending else "roll"
            seen[kind, "goes on" if goes_on else "other"] += 1
            seen["won"] += int((~running).any())
            chosen = below(key, decision, size)
            if not running[chosen]:
                break
            gone = board[0, HEAD] - afters[chosen, 0, HEAD]
            standing = after_play(standing, depth, left_over, gone, rules.rules)
            board = seen_by_next[chosen].copy()
    assert seen["passed dice", "other"] > 0
    assert seen["roll", "goes on"] > 0
    assert seen["won"] > 0
    if rules.chain_moves:
        assert seen["own dice", "goes on"] > 0
        assert seen["passed dice", "goes on"] > 0


def test_the_network_tells_apart_whose_dice_are_pending_and_how_many_of_each_value():
    rules = variant("mad_gulbar_b")
    net, board = opinionated_net(rules, [16]), start_board(rules)
    codes = [0, 4 << 24, 4 << 24 | 1, 3 << 24, 4 << 20, 1 << 20 | 1 << 24, 4 << 20 | 4 << 24]
    ratings = probabilities_of(net, [board] * len(codes), codes)
    assert len({rating.tobytes() for rating in ratings}) == len(codes)


# The learners


@pytest.mark.parametrize("hidden", [[16], [32, 8, 4]])
def test_both_learners_make_the_same_net_of_a_batch_with_pending_dice(hidden):
    rules, rate_of_learning = variant("mad_gulbar_b"), 3e-3
    games = SelfPlay(rules, seed=5, workers=1).play(simple_bot(RANDOM, rules), 0, 3, 1.0)
    soft = games.targets * np.float32(0.8) + np.float32(0.1)
    batch = Batch(games.positions[:150], games.pending[:150], soft[:150], games.games)
    assert np.count_nonzero(batch.pending) > 20
    net = opinionated_net(rules, hidden)
    before = net.layers[0].weight.detach().clone()
    compiled, by_torch = CompiledLearner(net, 32), TorchLearner(copy.deepcopy(net), "cpu", 32)
    for seed in range(2):
        losses = [learner.learn(batch, rate_of_learning, seed) for learner in (compiled, by_torch)]
        assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    # Adam divides by the root of a mean square: where a gradient is near zero, rounding may cost a share of a step.
    for name, tensor in compiled.net.state_dict().items():
        other = by_torch.net.state_dict()[name]
        np.testing.assert_allclose(tensor, other, atol=0.02 * rate_of_learning, rtol=0, err_msg=name)
    # The weights of pending dice, the last seven inputs, are learnt too.
    assert (compiled.net.layers[0].weight[:, -7:] != before[:, -7:]).any(dim=0).sum() >= 6
