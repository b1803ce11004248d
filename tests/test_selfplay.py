"""Self-play: batches of games, and the targets that are learnt from them.

The convention: row t of a game is the position before roll t, as the player on roll sees it, and its target is what
that player gets. Outputs are P(win ≥ level) for each level, then P(loss ≥ level) for each level but the lowest; seen
from the other side, P(win) becomes 1 - P(win), and win levels and loss levels change places. An afterstate is rated for
the opponent, who rolls next: it is the next row.
"""

import numpy as np
import pytest
import torch
from returns import game_returns

from nardy_rl.network.inference import change_sides
from nardy_rl.network.value_net import new_net
from nardy_rl.players.bot import RANDOM, network_bot, simple_bot
from nardy_rl.rules.dice import opening_roll, roll, stream
from nardy_rl.rules.outcome import equity_weights, outcome
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.variant import variant
from nardy_rl.selfplay import batch as batch_module
from nardy_rl.selfplay.batch import DECISIONS, PASSES, POINTS, STARTER_WON, TURNS, SelfPlay

ALTERNATING = ("long", "short")  # variants in which every turn is one decision and the side changes after it


def to_the_end(name):
    """A variant without bear-off tables: self-play does not stop at them."""
    return variant(name, bearoff="exact_only")


def returns(values, points, levels, trace, exact=()):
    """The targets of one game; its row 0 is filled with NaN here, since no rating of the start is asked for."""
    rows = np.array([[np.nan] * (2 * len(levels) - 1), *values], np.float32)
    seats = (np.arange(len(rows)) % 2).astype(np.int8)
    known = np.isin(np.arange(len(rows)), exact)
    return game_returns(rows, seats, known, points, levels, trace)


def swapped(probabilities, levels):
    changed = np.empty(len(probabilities), np.float32)
    change_sides(np.array(probabilities, np.float32), levels, changed)
    return changed


def net_of(rules, hidden=(8,), seed=4):
    """A net with opinions: a fresh one rates every play nearly alike."""
    net = new_net(hidden, rules, seed)
    with torch.no_grad():
        net.layers[-1].weight.normal_(std=0.4, generator=torch.Generator().manual_seed(seed))
    return net


def selfplay(rules, number=6, trace=0.7, first=0, seed=2, workers=1, bot=None):
    return SelfPlay(rules, seed, workers).play(bot or network_bot(net_of(rules), rules), first, number, trace)


def games_of(batch):
    """For each game its row of statistics, its positions and its targets."""
    ends = np.cumsum(batch.games[:, DECISIONS])
    for row, end in zip(batch.games, ends, strict=True):
        rows = slice(end - row[DECISIONS], end)
        yield row, batch.positions[rows], batch.targets[rows]


def finished_games_of(batch):
    """Without those that a net of no experience could not bring to an end."""
    return [game for game in games_of(batch) if game[0][POINTS]]


def assert_same_batch(one, other):
    np.testing.assert_array_equal(one.games, other.games)
    np.testing.assert_array_equal(one.positions, other.positions)
    np.testing.assert_array_equal(one.targets, other.targets)


# Targets by hand


def test_the_other_side_sees_wins_as_losses():
    np.testing.assert_allclose(swapped([0.6, 0.2, 0.1], 2), [0.4, 0.1, 0.2], rtol=1e-6)
    np.testing.assert_allclose(swapped([0.6, 0.3, 0.2, 0.1, 0.05], 3), [0.4, 0.1, 0.05, 0.3, 0.2], rtol=1e-6)
    np.testing.assert_allclose(swapped([0.6], 1), [0.4], rtol=1e-6)


@pytest.mark.parametrize(
    ("trace", "targets"),
    [
        (0.0, [[0.4, 0.1, 0.2], [0.7, 0.3, 0.1], [0.1, 0.05, 0.5], [1, 1, 0]]),
        (0.5, [[0.2875, 0.08125, 0.3625], [0.825, 0.525, 0.0625], [0.05, 0.025, 0.75], [1, 1, 0]]),
        (1.0, [[0, 0, 1], [1, 1, 0], [0, 0, 1], [1, 1, 0]]),
    ],
)
def test_long_nardy_lost_by_mars_after_four_turns(trace, targets):
    """The second player wins 2 points with turn 3. Worked by hand, from the end:

    λ = 0.5, turn 2: half [0.9, 0.5, 0.05], half [1, 1, 0] is [0.95, 0.75, 0.025], for the other [0.05, 0.025, 0.75];
    turn 1: half [0.3, 0.1, 0.3], half that is [0.175, 0.0625, 0.525], for the other [0.825, 0.525, 0.0625]; and so on.
    """
    values = [[0.6, 0.2, 0.1], [0.3, 0.1, 0.3], [0.9, 0.5, 0.05]]
    np.testing.assert_allclose(returns(values, 2, (1, 2), trace), targets, atol=1e-6)


@pytest.mark.parametrize(
    ("trace", "targets"),
    [
        (
            0.0,
            [
                [0.5, 0.1, 0.0, 0.2, 0.1],
                [0.3, 0.2, 0.1, 0.3, 0.1],
                [0.8, 0.4, 0.1, 0.1, 0.0],
                [0.2, 0.0, 0.0, 0.6, 0.2],
                [1, 1, 0, 0, 0],
            ],
        ),
        (
            0.5,
            [
                [0.6375, 0.275, 0.05, 0.1625, 0.075],
                [0.225, 0.125, 0.05, 0.45, 0.1],
                [0.85, 0.6, 0.1, 0.05, 0.0],
                [0.1, 0.0, 0.0, 0.8, 0.1],
                [1, 1, 0, 0, 0],
            ],
        ),
        (1.0, [[1, 1, 0, 0, 0], [0, 0, 0, 1, 0]] * 2 + [[1, 1, 0, 0, 0]]),
    ],
)
def test_short_nardy_won_by_a_gammon_after_five_turns(trace, targets):
    values = [
        [0.5, 0.2, 0.1, 0.1, 0.0],
        [0.7, 0.3, 0.1, 0.2, 0.1],
        [0.2, 0.1, 0.0, 0.4, 0.1],
        [0.8, 0.6, 0.2, 0.0, 0.0],
    ]
    np.testing.assert_allclose(returns(values, 2, (1, 2, 3), trace), targets, atol=1e-6)


@pytest.mark.parametrize(("points", "won"), [(1, [1, 0, 0, 0, 0]), (2, [1, 1, 0, 0, 0]), (3, [1, 1, 1, 0, 0])])
def test_a_game_of_one_turn_is_worth_its_points(points, won):
    for trace in (0.0, 0.3, 1.0):
        assert returns([], points, (1, 2, 3), trace).tolist() == [won]


def test_levels_that_are_not_1_2_3_are_reached_by_their_points():
    assert returns([], 5, (2, 3, 5, 9), 1.0).tolist() == [[1, 1, 1, 0, 0, 0, 0]]
    assert returns([[0.5] * 7], 5, (2, 3, 5, 9), 1.0).tolist() == [[0, 0, 0, 0, 1, 1, 0], [1, 1, 1, 0, 0, 0, 0]]


def test_an_undecided_rating_moves_only_at_the_last_turn_where_lambda_is_0():
    """Four positions rated 0.5, the last mover wins: a step of a tenth of the error gives 0.5, 0.5, 0.5, 0.55."""
    targets = returns([[0.5]] * 3, 1, (1,), 0.0)[:, 0]
    np.testing.assert_allclose(0.5 + 0.1 * (targets - 0.5), [0.5, 0.5, 0.5, 0.55], atol=1e-6)


def test_the_result_reaches_back_by_lambda_and_never_into_another_game():
    """In points, a table of zeroes and λ = 0.7: errors 0.49, 0.7, 1, signs changing with the side on roll.

    So weights after a step of a tenth are ±0.049, ±0.07, 0.1. A second game starts from its own end.
    """
    first = returns([[0.5]] * 2, 1, (1,), 0.7)[:, 0]
    np.testing.assert_allclose(0.1 * (2 * first - 1), [0.049, -0.07, 0.1], atol=1e-6)
    second = returns([[0.5]], 1, (1,), 0.7)[:, 0]
    np.testing.assert_allclose(0.1 * (2 * second - 1), [-0.07, 0.1], atol=1e-6)


@pytest.mark.parametrize("trace", [0.0, 0.5, 0.9])
def test_a_net_that_always_says_the_same_gets_targets_around_what_it_says(trace):
    """A fair constant is its own target, but for λ^k of what the end, k turns later, adds to it."""
    rules = to_the_end("long")
    net = new_net([4], rules, seed=1)
    fair = np.array([0.5, 0.2, 0.2])
    with torch.no_grad():
        net.layers[-1].weight.zero_()
        net.layers[-1].bias.copy_(torch.from_numpy(np.log(fair / (1 - fair))))
    batch = selfplay(rules, 3, trace, bot=network_bot(net, rules))
    for row, _, targets in games_of(batch):
        won = targets[-1] - fair
        for back in range(row[TURNS]):
            share = trace**back * (won if back % 2 == 0 else np.array([-won[0], won[2], won[1]]))
            np.testing.assert_allclose(targets[-1 - back], fair + share, atol=1e-5)


# Targets of real games


@pytest.mark.parametrize("name", ALTERNATING)
def test_with_lambda_1_every_target_is_the_outcome_for_the_side_on_roll(name):
    rules = to_the_end(name)
    weights = equity_weights(rules)
    for row, _, targets in finished_games_of(selfplay(rules, 20, 1.0)):
        equities = targets @ weights[:-1] + weights[-1]
        for turn, equity in enumerate(equities):
            starter_on_roll = turn % 2 == 0
            assert equity == (row[POINTS] if starter_on_roll == bool(row[STARTER_WON]) else -row[POINTS])
        assert set(np.unique(targets)) <= {0.0, 1.0}


@pytest.mark.parametrize("name", ALTERNATING)
def test_with_lambda_0_every_target_is_the_nets_rating_of_the_next_position_seen_from_here(name):
    """Of either seat: the value of a position does not depend on who is called the starter."""
    rules = to_the_end(name)
    net = net_of(rules)
    for _, positions, targets in games_of(selfplay(rules, 4, 0.0)):
        with torch.no_grad():
            ratings = net(torch.from_numpy(positions)).numpy()
        expected = [swapped(rating, len(rules.levels)) for rating in ratings[1:]]
        np.testing.assert_allclose(targets[:-1], expected, atol=1e-5)


@pytest.mark.parametrize("name", ALTERNATING)
@pytest.mark.parametrize("trace", [0.0, 0.7, 1.0])
def test_a_game_ends_with_the_winners_points(name, trace):
    rules = variant(name)
    batch = selfplay(rules, 40, trace, bot=simple_bot(RANDOM, rules))
    assert set(batch.games[:, POINTS]) >= {1, 2}
    for row, _, targets in games_of(batch):
        levels = len(rules.levels)
        won = [float(row[POINTS] >= level) for level in rules.levels]
        assert targets[-1].tolist() == won + [0.0] * (levels - 1)
        # The last turn is the winner's: the starter has the even ones.
        assert row[STARTER_WON] == row[TURNS] % 2


@pytest.mark.parametrize("trace", [0.0, 0.6])
def test_targets_are_probabilities(trace):
    rules = variant("short")
    targets = selfplay(rules, 20, trace).targets
    assert targets.min() >= 0
    assert targets.max() <= 1


# Games


@pytest.mark.parametrize("name", ALTERNATING)
def test_every_row_of_a_game_follows_from_the_one_before_by_its_dice(name):
    rules, seed = to_the_end(name), 2
    for game, (row, positions, _) in enumerate(games_of(selfplay(rules, 4, seed=seed))):
        if row[POINTS] == 0:
            continue
        assert Position(positions[0]) == Position.start(rules)
        assert (positions.sum(axis=2) == rules.checkers).all()
        key, passes = stream(seed, game), 0
        for turn, board in enumerate(positions):
            lottery = turn == 0 and rules.opening == "use_lottery"
            dice = opening_roll(key, 0) if lottery else roll(key, turn)
            first_turn = ("starter", "second", None)[min(turn, 2)]
            plays = legal_plays(rules, Position(board), dice, first_turn)
            passes += not plays[0].moves
            if turn + 1 < len(positions):
                assert Position(positions[turn + 1]).swapped() in [play.after for play in plays]
            else:
                won = [outcome(rules, play.after)[1] for play in plays if play.after.array[0, OFF] == rules.checkers]
                assert row[POINTS] in won
        assert passes == row[PASSES]


@pytest.mark.parametrize("name", ALTERNATING)
def test_games_are_the_same_on_one_thread_and_on_several(name):
    rules = variant(name)
    assert_same_batch(selfplay(rules, 70, workers=1), selfplay(rules, 70, workers=3))


@pytest.mark.parametrize("chunk", [1, 3, 32])
def test_games_are_the_same_however_they_are_batched(monkeypatch, chunk):
    rules = variant("short")
    whole = selfplay(rules, 10)
    monkeypatch.setattr(batch_module, "_CHUNK", chunk)
    assert_same_batch(whole, selfplay(rules, 10))
    parts = [selfplay(rules, 4), selfplay(rules, 6, first=4)]
    for name in ("games", "positions", "pending", "targets"):
        np.testing.assert_array_equal(getattr(whole, name), np.concatenate([getattr(part, name) for part in parts]))


@pytest.mark.parametrize("name", ALTERNATING)
@pytest.mark.parametrize("turns", [1, 20])
def test_a_record_that_is_too_short_is_made_longer(name, turns, monkeypatch):
    rules = variant(name)
    whole = selfplay(rules, 10)
    monkeypatch.setattr(batch_module, "_DECISIONS_A_GAME", turns)
    assert_same_batch(whole, selfplay(rules, 10))


def test_each_game_and_each_seed_has_dice_of_its_own():
    """With random plays, too: chance in choosing comes from the game's own stream."""
    rules = variant("short")
    for bot in (simple_bot(RANDOM, rules), network_bot(net_of(rules), rules)):
        batches = [selfplay(rules, 40, seed=seed, bot=bot) for seed in (1, 2)]
        assert len({positions.tobytes() for batch in batches for _, positions, _ in games_of(batch)}) == 80
        assert_same_batch(batches[0], selfplay(rules, 40, seed=1, bot=bot))


def test_better_plays_are_preferred():
    """A net that wants to come home is quicker than chance; one that maximised the opponent's value would not be."""
    rules = variant("long")
    net = new_net([1], rules, seed=1)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        # Checkers on the far half of his path, 13…24, are bad for the player on roll.
        net.layers[0].weight[0, 48:96] = 1.0
        net.layers[-1].weight[0, 0] = -0.1
    eager = selfplay(rules, 100, bot=network_bot(net, rules)).games[:, TURNS].mean()
    assert eager < selfplay(rules, 100, bot=simple_bot(RANDOM, rules)).games[:, TURNS].mean()
