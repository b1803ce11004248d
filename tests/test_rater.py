"""What rates an afterstate: the bear-off tables where both sides are home, else the network."""

from collections import Counter
from itertools import islice
from random import Random

import numpy as np
import pytest
from nets import opinionated_net
from reference_search import BEYOND_HOME, Slow, games

from nardy_rl.network.fast_net import SHORTLIST, new_scratch
from nardy_rl.network.inference import rate_plays
from nardy_rl.players.bot import network_bot
from nardy_rl.rules.game import Game
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.protocol import after_play, list_plays, pending_steps
from nardy_rl.rules.variant import VARIANTS, variant
from nardy_rl.search.rater import rate_all

pytestmark = pytest.mark.usefixtures("one_torch_thread")
CHAINS = ("mad_gulbar_a", "mad_gulbar_b")  # of whose turns few have many plays
SHEETS = [
    *((name, {}) for name in VARIANTS),
    ("short", {"extra_roll": True}),
    ("mad_gulbar_a", {"chain_extra_roll": True}),
]
NO_TABLES = {"bearoff": "exact_only"}


def net_of(rules, seed=5):
    return opinionated_net(rules, [12], seed)


def side(rules, rng, outside):
    """A few checkers at home, more where a chain bears off more at a time, and sometimes one or two just outside."""
    most = max(7, 3 * rules.chain_moves)
    points = [rng.randint(1, 6) for _ in range(rng.randint(1, most))] + [rng.randint(7, 10) for _ in range(outside)]
    counts = Counter(points)
    return {**counts, "off": rules.checkers - len(points)}


def endgames(rules, rng):
    """Games near their end, followed through the segments of a roll."""
    while True:
        own, opp = side(rules, rng, rng.choice([0, 0, 1, 2])), side(rules, rng, rng.choice([0, 0, 0, 1]))
        dice = rng.randint(1, 6), rng.randint(1, 6)
        if rules.chain_moves and rng.random() < 0.4:
            dice = dice[0], dice[0]
        game = Game.from_position(rules, Position.from_points(own, opp), key=rng.randrange(1 << 30), dice=dice)
        for _ in range(4):
            yield game
            running = [index for index, play in enumerate(game.plays) if play.after.array[0, OFF] < rules.checkers]
            if not running:
                break
            game.play(rng.choice(running))


class Rated:
    """Both ratings of a decision: by the tables and the net, and by the net alone."""

    def __init__(self, rules, net):
        self.core, self.rater = rules.rules, network_bot(net, rules).rater
        self.plays, self.both, self.bare = new_plays(), new_scratch(self.rater.net), new_scratch(self.rater.net)

    def __call__(self, game, only_best=False):
        board, plays = game.position.board(), self.plays
        self.size, depth, left_over = list_plays(game.standing, board, self.core, plays)
        coming = after_play(game.standing, depth, left_over, 0, self.core)
        best = rate_all(
            self.rater, board, game.standing, coming, plays, self.size, depth, only_best, self.core, self.both
        )
        goes_on, pending = coming.seat == game.seat, pending_steps(coming)
        alone = rate_plays(
            self.rater.net, board, plays, self.size, depth, goes_on, pending, False, self.core, self.bare
        )
        return best, alone

    def equities(self, scratch):
        return scratch.equities[: self.size]

    def probabilities(self, scratch):
        return scratch.probabilities[: self.size]


@pytest.mark.parametrize(("name", "options"), SHEETS, ids=lambda value: value if isinstance(value, str) else None)
def test_what_the_tables_know_is_theirs_and_all_else_the_nets(name, options):
    rules = variant(name, **options)
    net = net_of(rules)
    slow, rated, seen = Slow(rules, net), Rated(rules, net), Counter()
    for _, game in zip(range(400), endgames(rules, Random(2)), strict=False):
        best, _ = rated(game)
        expected = slow.ratings(game)
        np.testing.assert_allclose(rated.equities(rated.both), expected.equities, atol=1e-4, rtol=0)
        np.testing.assert_allclose(rated.probabilities(rated.both), expected.probabilities, atol=1e-4, rtol=0)
        assert best == int(np.argmax(rated.equities(rated.both)))
        # What the tables do not know is just what the net says.
        others = ~expected.known
        np.testing.assert_array_equal(rated.equities(rated.both)[others], rated.equities(rated.bare)[others])
        np.testing.assert_array_equal(rated.probabilities(rated.both)[others], rated.probabilities(rated.bare)[others])
        finished = [play.after.array[0, OFF] == rules.checkers for play in game.plays]
        for known, over, play in zip(expected.known, finished, game.plays, strict=True):
            home = not play.after.array[:, BEYOND_HOME].any()
            seen["won" if over else ("home" if home else "outside", bool(known))] += 1
        if expected.known.any():
            sequel = game.sequel(int(np.argmax(expected.known)))
            seen["rolls again" if sequel.rolls else "chain goes on", expected.seat == game.seat] += 1
            wins = [slow.end(game, index)[0] == 0 for index in np.flatnonzero(expected.known)]
            seen["chain wins"] += not sequel.rolls and any(wins)
        seen["both"] += bool(expected.known.any() and (others & ~np.array(finished)).any())
    assert seen["home", True] > 100
    assert seen["outside", False] > 100
    assert seen["outside", True] == 0
    assert min(seen["won"], seen["both"]) > 10
    chains, extra = rules.chain_moves > 0, rules.chain_extra_roll if rules.chain_moves else rules.extra_roll
    assert (seen["chain goes on", True] > 10) == chains
    assert (seen["chain wins"] > 10) == chains
    assert (seen["rolls again", True] > 3) == extra
    assert seen["rolls again", False] > 50


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_without_tables_is_rated_by_the_net_alone(name):
    rules = variant(name, **NO_TABLES)
    rated, home = Rated(rules, net_of(rules)), 0
    for _, game in zip(range(100), endgames(rules, Random(3)), strict=False):
        best, alone = rated(game)
        assert best == alone
        np.testing.assert_array_equal(rated.equities(rated.both), rated.equities(rated.bare))
        np.testing.assert_array_equal(rated.probabilities(rated.both), rated.probabilities(rated.bare))
        home += not game.position.array[:, BEYOND_HOME].any()
    assert home > 10


def test_the_play_that_the_tables_like_best_is_chosen_whatever_the_net_thinks():
    rules = variant("long")
    net = net_of(rules)
    rated, differing = Rated(rules, net), 0
    for _, game in zip(range(200), endgames(rules, Random(4)), strict=False):
        best, alone = rated(game)
        if not game.position.array[:, BEYOND_HOME].any():
            assert rated.equities(rated.both)[best] == rated.equities(rated.both).max()
            differing += rated.equities(rated.both)[best] > rated.equities(rated.both)[alone] + 1e-3
    assert differing > 5


@pytest.mark.parametrize(
    ("name", "own", "winning"),
    [
        # 6/2 and 5/1; then the fives bear off from 5 and 3, the sixes from 2 and 1. Two fives moved would leave one.
        ("mad_gulbar_a", {6: 1, 5: 2, 3: 1}, {5: 1, 3: 1, 2: 1, 1: 1}),
        # The fours bear off from 4; then the fives and the sixes do. A five or a six moved instead would leave one.
        ("mad_gulbar_b", {6: 4, 5: 4, 4: 4}, {6: 4, 5: 4}),
    ],
)
@pytest.mark.parametrize(("theirs", "points"), [({1: 1, "off": 14}, 1), ({6: 15}, 2)])
def test_fours_after_which_the_chain_bears_off_all_are_a_won_game_whatever_the_net_thinks(
    name, own, winning, theirs, points
):
    rules = variant(name)
    position = Position.from_points({**own, "off": rules.checkers - sum(own.values())}, theirs)
    game = Game.from_position(rules, position, key=1, dice=(4, 4))
    assert len(game.plays) > 1
    for seed in range(5):
        rated = Rated(rules, net_of(rules, seed))
        best, _ = rated(game)
        equities, left = rated.equities(rated.both), game.plays[best].after.array[0]
        assert {point: int(left[point]) for point in range(1, 7) if left[point]} == winning
        assert equities[best] == points
        assert rated.probabilities(rated.both)[best].tolist() == [1, points - 1, 0]
        assert (np.delete(equities, best) < points).all()


@pytest.mark.parametrize("hidden", [(24, 16), (40, 20, 9)])
@pytest.mark.parametrize("name", VARIANTS)
def test_where_only_the_best_is_wanted_a_shortlist_is_rated(name, hidden):
    rules = variant(name)
    net = opinionated_net(rules, hidden)
    slow, rated, seen = Slow(rules, net), Rated(rules, net), Counter()
    for game in islice(games(rules, 11), 600 if name in CHAINS else 150):
        best, _ = rated(game, only_best=True)
        expected = slow.ratings(game, only_best=True)
        equities, sure = rated.equities(rated.both), ~expected.unsure
        np.testing.assert_allclose(equities[sure], expected.equities[sure], atol=1e-4, rtol=0)
        assert best == int(np.argmax(equities))
        there = np.isfinite(equities)
        np.testing.assert_allclose(
            rated.probabilities(rated.both)[there], expected.probabilities[there], atol=1e-4, rtol=0
        )
        seen["all" if there.all() else "some"] += 1
        seen["right"] += best == int(np.argmax(slow.ratings(game).equities))
        seen["another stage"] += not there.all() and there.sum() > SHORTLIST + 1
    assert min(seen["all"], seen["some"]) > 10
    assert seen["right"] > 0.9 * (seen["all"] + seen["some"])
    assert seen["another stage"] > 0 or name != "short"


@pytest.mark.parametrize("name", VARIANTS)
def test_with_one_layer_there_is_nothing_to_save(name):
    rules = variant(name)
    rated = Rated(rules, opinionated_net(rules, (16,)))
    for game in islice(games(rules, 12), 40):
        rated(game, only_best=True)
        assert np.isfinite(rated.equities(rated.both)).all()
