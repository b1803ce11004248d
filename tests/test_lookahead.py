"""Look-ahead: against a slow one over `Game` and torch, which plays it looks at, and that it makes a bot stronger."""

import numpy as np
import pytest
from nets import opinionated_net, pip_bot
from reference_search import ROLLS, Slow, games

from nardy_rl.evaluation.match import play_match
from nardy_rl.network.inference import equity_of
from nardy_rl.players.bot import choose, network_bot
from nardy_rl.players.games import new_table
from nardy_rl.rules.game import Game
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.protocol import LATER, after_play, before_roll, list_plays
from nardy_rl.rules.variant import VARIANTS, variant
from nardy_rl.search import lookahead
from nardy_rl.search.bearoff import rate_ending
from nardy_rl.search.bearoff_cache import endings
from nardy_rl.search.lookahead import MAX_PLIES, look_ahead, new_room, numbered_roll, play_on, roll_equities

pytestmark = pytest.mark.usefixtures("one_torch_thread")
CHAINS = ("mad_gulbar_a", "mad_gulbar_b")


def net_of(rules, seed=3):
    return opinionated_net(rules, [12], seed)


class Fast:
    """The compiled search, asked about a decision of a `Game`."""

    def __init__(self, rules, net, plies=0):
        self.rules, self.core, self.bot = rules, rules.rules, network_bot(net, rules, plies)
        self.table, self.plays = new_table(self.bot, self.bot), new_plays()

    def list(self, game):
        """(board, plays, moves in each, die left over)"""
        board = game.position.board()
        return board, *list_plays(game.standing, board, self.core, self.plays)

    def ahead(self, game, index, plies):
        """The outcome after a play that does not win: (nested probabilities of who acts next, his seat)."""
        board, _, depth, left_over = self.list(game)
        after, outcome = np.empty((2, 26), np.int8), np.full(self.rules.outputs, np.nan, np.float32)
        coming = play_on(game.standing, board, self.plays, index, depth, left_over, self.core, after)
        before = board.copy()
        look_ahead(self.bot.rater, board, coming, plies, self.core, self.table.room_a, outcome)
        np.testing.assert_array_equal(board, before)
        return outcome, coming.seat

    def choose(self, game):
        """The play that the bot chooses, and its ratings of all: (index, equities, probabilities)."""
        board, size, depth, left_over = self.list(game)
        coming = after_play(game.standing, depth, left_over, 0, self.core)
        scratch = self.table.scratch_a
        chosen = choose(
            self.bot, board, game.standing, coming, self.plays, size, depth, left_over, self.core, scratch,
            self.table.room_a, 0, 0,
        )  # fmt: skip
        return chosen, scratch.equities[:size].copy(), scratch.probabilities[:size].copy()


def sample(rules, key, number):
    """Decisions to look ahead from, each with a play that does not win; where it can be, half leave dice to play."""
    waiting = {True: 0, False: 0}
    for game in games(rules, key):
        running = [index for index, play in enumerate(game.plays) if play.after.array[0, OFF] < rules.checkers]
        if not running:
            continue
        index = running[game.counter % len(running)]
        rolls = game.sequel(index).rolls
        waiting[rolls] += 1
        if waiting[rolls] <= (number if not rules.has_pending else number // 2):
            yield game, index
        if sum(min(count, number // 2) for count in waiting.values()) == number or (
            not rules.has_pending and waiting[True] == number
        ):
            return


def compare(name, key, plies, number, hidden=(12,)):
    """Compare the two searches on that many decisions; returns what was seen."""
    rules = variant(name)
    net = opinionated_net(rules, hidden)
    slow, fast = Slow(rules, net), Fast(rules, net)
    compared = passed = chained = 0
    for game, index in sample(rules, key, number):
        outcome, seat = fast.ahead(game, index, plies)
        expected = slow.ahead(game, index, plies, seat)
        if expected is None:
            continue
        np.testing.assert_allclose(outcome, expected, atol=1e-4, rtol=0)
        assert equity_of(fast.bot.rater.net, outcome) == pytest.approx(slow.equity(expected), abs=1e-4)
        sequel = game.sequel(index)
        compared += 1
        passed += bool(sequel.passed_on)
        chained += not sequel.rolls and seat == game.seat
    return compared, passed, chained


@pytest.mark.parametrize("name", VARIANTS)
def test_one_ply_averages_over_the_next_roll_answered_by_the_best_play(name):
    compared, passed, chained = compare(name, key=5, plies=1, number=12)
    assert compared >= 8
    assert passed > 0 or not variant(name).has_pending
    assert chained > 0 or name not in CHAINS


@pytest.mark.parametrize("name", VARIANTS)
def test_with_several_layers_the_best_play_is_the_best_of_a_shortlist(name):
    compared, _, _ = compare(name, key=7, plies=1, number=8, hidden=(16, 8))
    assert compared >= 5


@pytest.mark.parametrize("name", VARIANTS)
def test_two_plies_average_over_the_next_two_rolls(name):
    compared, _, _ = compare(name, key=6, plies=2, number=2)
    assert compared > 0


FEW = [
    ({1: 2}, {1: 1}),
    ({6: 1, 1: 1}, {5: 1, 2: 1}),
    ({6: 2, 5: 1}, {4: 2}),
    ({6: 1, 5: 1, 4: 1, 3: 1}, {6: 2, 2: 1}),
    ({4: 2, 2: 2, 1: 2}, {6: 1, 5: 3, 3: 1}),
]


def before_a_roll(rules, net, own, opp, plies):
    """The outcome of row 0, who is about to roll with his checkers on `own`: nested probabilities."""
    sides = [{**side, "off": rules.checkers - sum(side.values())} for side in (own, opp)]
    board, outcome = Position.from_points(*sides).board(), np.full(rules.outputs, np.nan, np.float32)
    rater = network_bot(net, rules).rater
    look_ahead(rater, board, before_roll(LATER, rules.rules), plies, rules.rules, new_room(rater.net), outcome)
    return board, outcome


@pytest.mark.parametrize("plies", range(1, MAX_PLIES + 1))
@pytest.mark.parametrize("name", VARIANTS)
def test_few_checkers_against_few_come_out_as_the_tables_say_however_far_one_looks(name, plies):
    """The table of pairs is exact: to try out the rolls and the best plays changes nothing."""
    rules = variant(name)
    net, exact = net_of(rules), np.empty(rules.outputs, np.float32)
    for own, opp in FEW:
        board, outcome = before_a_roll(rules, net, own, opp, plies)
        rate_ending(endings(rules), board, exact)
        np.testing.assert_allclose(outcome, exact, atol=1e-5, rtol=0)


@pytest.mark.parametrize("plies", range(1, MAX_PLIES + 1))
@pytest.mark.parametrize(
    ("name", "saved"),
    # Saved by every six, 5-1, 4-2, 3-3 and 2-2; where a chain of doubles ends with sixes, by all doubles.
    [("long", 17), ("short", 17), ("mad_gulbar_a", 20), ("mad_gulbar_b", 20)],
)
def test_near_the_end_wins_and_mars_count(name, saved, plies):
    """With one checker left to him who rolls next: the other bears off his first checker now, or loses by mars."""
    rules = variant(name)
    net, high = net_of(rules), [0] * (len(rules.levels) - 2)
    _, wins = before_a_roll(rules, net, {1: 1}, {6: 15}, plies)
    np.testing.assert_allclose(wins, [1, 1, *high, 0, *high], atol=1e-6)
    _, loses = before_a_roll(rules, net, {6: 15}, {1: 1}, plies)
    np.testing.assert_allclose(loses, [0, 0, *high, 1 - saved / 36, *high], atol=1e-6)


def slow_choice(slow, game, plies):
    """The play that is best after a closer look at fewer and fewer, and the equities that were found out."""
    equities = slow.ratings(game).equities
    order = np.argsort(-equities, kind="stable")[: lookahead._CANDIDATES[0]]
    for ply in range(1, plies + 1):
        close = equities[order] >= equities[order[0]] - lookahead._MARGINS[ply - 1]
        order = order[close][: lookahead._CANDIDATES[ply - 1]]
        if len(order) == 1:
            break
        for index in order:
            if not slow.won(game.plays[index]):
                outcome = slow.ahead(game, index, ply, game.seat)
                if outcome is None:
                    return None
                equities[index] = slow.equity(outcome)
        order = order[np.argsort(-equities[order], kind="stable")]
    others = np.delete(equities, order[0])
    return order[0], equities, len(others) == 0 or others.max() < equities[order[0]] - 1e-4


@pytest.mark.parametrize(("name", "plies", "number"), [*((name, 1, 4) for name in VARIANTS), ("gulbar", 2, 1)])
def test_a_bot_looks_closely_at_the_best_plays_and_chooses_among_them(name, plies, number):
    rules = variant(name)
    net = net_of(rules)
    slow, fast = Slow(rules, net), Fast(rules, net, plies)
    compared = changed = 0
    for game, _ in sample(rules, 9, 2 * number):
        expected = slow_choice(slow, game, plies)
        if expected is None or len(game.plays) == 1:
            continue
        chosen, equities, _ = fast.choose(game)
        np.testing.assert_allclose(equities, expected[1], atol=1e-4, rtol=0)
        if expected[2]:
            assert chosen == expected[0]
        compared += 1
        changed += chosen != int(np.argmax(slow.ratings(game).equities))
        if compared == number:
            break
    assert compared > 0
    assert changed > 0 or plies > 1 or number < 4 or name in CHAINS


def test_the_best_are_listed_in_order_the_earlier_one_first_among_equals():
    rng = np.random.default_rng(2)
    for most in (1, 2, 4, 8):
        for size in (1, 2, 5, 30):
            equities = rng.integers(0, 6, size).astype(np.float32)
            candidates, kept = np.full(8, 77), 0
            for index in range(size):
                kept = lookahead._insert(candidates, kept, most, index, equities)
            best = np.argsort(-equities, kind="stable")[:most]
            assert candidates[:kept].tolist() == best.tolist()
            assert (candidates[most:] == 77).all()


@pytest.mark.parametrize("plies", [1, 2, 3])
@pytest.mark.parametrize("name", ["short", "long"])
def test_a_won_game_is_never_refined(name, plies):
    """Here 4-3 wins at once, or leaves one checker, which wins unless the other player throws 6-6."""
    rules = variant(name)
    position = Position.from_points({4: 1, 3: 1, "off": 13}, {6: 3, "off": 12})
    game = Game.from_position(rules, position, key=1, dice=(4, 3))
    chosen, equities, probabilities = Fast(rules, net_of(rules), plies).choose(game)
    finished = [index for index, play in enumerate(game.plays) if play.after.array[0, OFF] == 15]
    assert [chosen] == finished
    assert len(game.plays) > 1
    assert equities[chosen] == 1
    assert not probabilities[chosen].any()
    # The other plays are close enough to be looked at; they win 35 times in 36, and surely with their next roll.
    others = np.delete(equities, chosen)
    assert others == pytest.approx(34 / 36, abs=1e-6)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_look_ahead_comes_out_the_same_whatever_was_looked_at_before(name):
    rules = variant(name)
    net = net_of(rules)
    used = Fast(rules, net, 1)
    for game, index in sample(rules, 3, 4):
        fresh = Fast(rules, net, 1)
        for one, other in zip(used.choose(game), fresh.choose(game), strict=True):
            np.testing.assert_array_equal(one, other)
        for plies in range(1, MAX_PLIES):
            np.testing.assert_array_equal(used.ahead(game, index, plies)[0], fresh.ahead(game, index, plies)[0])


def test_a_bot_that_looks_ahead_plays_the_same_match_on_every_number_of_threads():
    rules = variant("short")
    a, b = network_bot(net_of(rules), rules, 1), network_bot(net_of(rules, 4), rules)
    one, three = (play_match(rules, a, b, 8, seed=2, workers=workers).to_dict() for workers in (1, 3))
    assert one | {"games_per_second": 0} == three | {"games_per_second": 0}


def test_rolls_are_numbered():
    assert [numbered_roll(number) for number in range(lookahead.ROLLS)] == ROLLS


@pytest.mark.parametrize("name", VARIANTS)
def test_the_equities_of_a_players_rolls_are_those_of_their_best_plays(name):
    rules = variant(name)
    net = net_of(rules)
    slow, fast = Slow(rules, net), Fast(rules, net)
    equities = np.full(lookahead.ROLLS, np.nan, np.float32)
    for game, _ in sample(rules, 4, 4):
        position = game.position
        standing = before_roll(LATER, rules.rules)
        room = new_room(fast.bot.rater.net)
        roll_equities(fast.bot.rater, position.board(), standing, rules.rules, room, equities)
        best = [slow.ratings(Game.from_position(rules, position, 1, dice=dice)).equities.max() for dice in ROLLS]
        np.testing.assert_allclose(equities, best, atol=1e-4, rtol=0)


@pytest.mark.parametrize("name", ["short", "long"])
def test_one_ply_beats_the_bare_network(name):
    """By many standard errors: with the luck of the dice taken off, a few games are enough."""
    rules = variant(name)
    ahead, bare = pip_bot(rules, 1), pip_bot(rules)
    result = play_match(rules, ahead, bare, 160, seed=1, judge=bare.rater)
    assert result.adjusted_points_per_game > 4 * result.adjusted_standard_error
