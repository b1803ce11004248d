"""Ratings and look-ahead once more, slow and obvious: games as `Game` plays them, the network as torch computes it.

Of what the package compiles for this, only the look-up of a race in the bear-off tables is used (`bearoff`, which has
tests of its own).
"""

import copy
import itertools
from typing import NamedTuple

import numpy as np
import torch

from nardy_rl.network import upper
from nardy_rl.network.fast_net import SHORTLIST
from nardy_rl.network.features import sight_of
from nardy_rl.network.value_net import encode, encode_pending, stages
from nardy_rl.rules.game import Game
from nardy_rl.rules.outcome import equity_weights, outcome
from nardy_rl.rules.position import OFF, Position
from nardy_rl.search.bearoff import ending_index, rate_pair
from nardy_rl.search.bearoff_cache import endings

ROLLS = [(larger, smaller) for larger in range(1, 7) for smaller in range(1, larger + 1)]
BEYOND_HOME = slice(7, 26)


class Ratings(NamedTuple):
    """What a player makes of his plays, before he looks ahead."""

    equities: np.ndarray  # [plays], of who makes the play
    probabilities: np.ndarray  # [plays, outputs], of who acts next; of a won game the loser's
    seat: int  # who acts next; of no meaning where all plays win
    known: np.ndarray  # [plays]: whether from the bear-off tables
    unsure: np.ndarray  # [plays]: whether rounding decides if it is rated or passed over


def fork(game):
    """A copy of a game that can be played on by itself."""
    return copy.copy(game)


def games(rules, key):
    """Decisions of random games, now and then, each a game of its own."""
    game = Game.begin(rules, key=key)
    for number in itertools.count():
        if game.finished:
            game = Game.begin(rules, key, game.counter)
        if number % 7 == 3 or (not game.sequel(0).rolls and not game.sequel(0).finished):
            yield fork(game)
        game.play(game.random_index())


def weight(dice):
    return 1 / 36 if dice[0] == dice[1] else 2 / 36


def pending_code(game):
    """What who acts has to play, as a network is told of it: `protocol.pending_steps`."""
    *steps, own = (int(count) for count in game.pending(game.seat))
    return sum(count << (4 * value) for value, count in enumerate(steps, 1)) | own


class Slow:
    """Rates and looks ahead with a network by the rules of a variant."""

    def __init__(self, rules, net):
        self.rules, self.net = rules, net
        self.tables, self.weights = endings(rules), equity_weights(rules).astype(float)
        self.levels = np.array(rules.levels)
        self.chain_ends = {}

    def equity(self, probabilities):
        return probabilities @ self.weights[:-1] + self.weights[-1]

    def turned(self, probabilities):
        """Nested probabilities as the other player sees them."""
        wins, losses = np.split(np.asarray(probabilities, float), [len(self.levels)])
        return np.array([1 - wins[0], *losses, *wins[1:]])

    def seen(self, probabilities, whose, seat):
        return np.asarray(probabilities, float) if whose == seat else self.turned(probabilities)

    def lost(self, position):
        """The outcome of a finished game, for the loser, and the winner's points. position: row 0 is the winner."""
        points = outcome(self.rules, position)[1]
        return np.array([0.0] * len(self.levels) + [float(points >= level) for level in self.levels[1:]]), points

    def won(self, play):
        return play.after.array[0, OFF] == self.rules.checkers

    def ratings(self, game, only_best=False):
        """All plays of `game`, rated by the tables where they know and else by the net.

        only_best: those that need not be rated to find the best one have an equity of -inf.
        """
        running = [index for index, play in enumerate(game.plays) if not self.won(play)]
        equities = np.empty(len(game.plays))
        known, unsure, passed_over = np.zeros((3, len(game.plays)), bool)
        probabilities = np.empty((len(game.plays), len(self.weights) - 1))
        seat = game.seat
        if running:
            # All plays of a segment are followed by the same player, with the same dice.
            following = fork(game)
            following.play(running[0])
            seat, rolls = following.seat, game.sequel(running[0]).rolls
            goes_on, pending = seat == game.seat, 0 if rolls else pending_code(following)
            boards = [game.plays[index].after.array[:: 1 if goes_on else -1] for index in running]
            with torch.no_grad():
                rated = self.net(torch.from_numpy(np.array(boards)), torch.full((len(boards),), pending)).numpy()
            probabilities[running] = rated
            for index in running:
                exact = self.race(game, index)
                if exact is not None:
                    probabilities[index], known[index] = exact, True
            sign = 1 if goes_on else -1
            equities[running] = self.equity(probabilities[running]) * sign
            if only_best and len(self.net.hidden) > 1 and len(game.plays) > 2 * SHORTLIST:
                listed, unsure = self.shortlist([play.after.array[::sign] for play in game.plays], pending, sign)
                passed_over = ~(listed | unsure | known)
                equities[passed_over] = -np.inf
        for index, play in enumerate(game.plays):
            if self.won(play):
                probabilities[index], equities[index] = self.lost(play.after)
        return Ratings(equities, probabilities, seat, known, unsure)

    def slope(self, board, pending):
        """The derivative of the equity of who acts by what the first layer's units say: float32[units].

        Of p (1 - p), the derivative of each probability by its log-odds, no less is taken than the package does.
        """
        position, code = torch.tensor(np.array([board])), torch.tensor([pending])
        units = self.units([board], pending).requires_grad_()
        with torch.no_grad():
            rated = self.net(position, code)[0]
        layer = units
        for number, weights in enumerate(self.net.layers[1:]):
            layer = weights(torch.relu(layer) if number else layer)
        log_odds = layer[stages(position, sight_of(self.rules))[0], 0]
        certainty = (rated * (1 - rated)).clamp(min=upper._LEAST_SLOPE)
        (certainty * torch.tensor(self.weights[:-1]) * log_odds).sum().backward()
        return units.grad[0].numpy()

    def units(self, boards, pending):
        """What the first layer says of each board, behind its ReLU: float32[boards, units]."""
        inputs = encode(torch.tensor(np.array(boards)), sight_of(self.rules))
        if self.rules.has_pending:
            inputs = torch.cat([inputs, encode_pending(torch.full((len(boards),), pending))], dim=1)
        with torch.no_grad():
            return torch.relu(self.net.layers[0](inputs))

    def shortlist(self, boards, pending, sign):
        """Which of the plays with these boards, as who acts next sees them, are rated: (surely, perhaps), bool[plays].

        The first one, those in another stage of the game, and of the others the likeliest by the slope at the first.
        """
        guesses = sign * (self.units(boards, pending).numpy() @ self.slope(boards[0], pending))
        reached = stages(torch.tensor(np.array(boards)), sight_of(self.rules)).numpy()
        always = reached != reached[0]
        always[0] = True
        others = np.sort(guesses[~always])[::-1]
        if len(others) <= SHORTLIST:
            return np.ones(len(boards), bool), np.zeros(len(boards), bool)
        bound = others[SHORTLIST - 1 : SHORTLIST + 1].mean()
        unsure = ~always & (abs(guesses - bound) < 1e-5)
        return always | (guesses > bound) & ~unsure, unsure

    def race(self, game, index):
        """What the tables say of a play, for who acts next; None if it is not in them."""
        board = game.plays[index].after.array
        if len(self.tables.turns) == 0 or board[:, BEYOND_HOME].any():
            return None
        sequel = game.sequel(index)
        if not sequel.rolls and (game.passed_on or sequel.passed_on or sequel.kept):
            return None
        mine, roller = self.end(game, index)
        if mine == 0:  # the rest of a chain bears off all that is left
            finished = board.copy()
            finished[0] = [self.rules.checkers, *[0] * 25]
            return self.seen(self.lost(Position(finished))[0], 1 - game.seat, sequel.seat)
        his = self.number(board[1])
        pair = (mine, his) if roller == game.seat else (his, mine)
        probabilities = np.empty(len(self.weights) - 1, np.float32)
        rate_pair(self.tables, *pair, probabilities)
        return self.seen(probabilities, roller, sequel.seat)

    def end(self, game, index):
        """Where a player at home is at the end of his roll after this play: (number of his position, who then rolls).

        The rest of a chain is played for the fewest turns.
        """
        play, sequel = game.plays[index], game.sequel(index)
        if sequel.finished or sequel.rolls:
            return self.number(play.after.array[0]), sequel.seat
        following = fork(game)
        following.play(index)
        key = following.position.array[0].tobytes(), following.seat, following.dice
        if key not in self.chain_ends:
            ends = (self.end(following, choice) for choice in range(len(following.plays)))
            self.chain_ends[key] = min(ends, key=lambda end: self.tables.turns[end[0]].sum(dtype=float))
        return self.chain_ends[key]

    def number(self, side):
        word = sum(int(count) << (4 * point) for point, count in enumerate(side[:7]))
        return ending_index(self.tables, word, self.rules.rules)

    def likes(self, ratings):
        """The play that is rated highest, and whether another one is about as good or may be passed over."""
        equities = ratings.equities
        best = int(np.argmax(equities))
        others = np.delete(equities, best)
        return best, bool((len(others) and others.max() > equities[best] - 1e-5) or ratings.unsure[best])

    def ahead(self, game, index, plies, seat, ratings=None):
        """Nested probabilities of `seat` after a play, `plies` rolls ahead; None where two plays are about as good.

        ratings: those of the plays of `game`, if they are known.
        """
        if self.won(game.plays[index]):
            return self.seen(self.lost(game.plays[index].after)[0], 1 - game.seat, seat)
        if plies == 0:
            ratings = ratings or self.ratings(game)
            return self.seen(ratings.probabilities[index], ratings.seat, seat)
        rolls = game.sequel(index).rolls
        total = np.zeros(len(self.weights) - 1)
        for dice in ROLLS if rolls else [None]:
            following = fork(game)
            following.play(index, dice)
            ratings = self.ratings(following, only_best=True)
            best, close = self.likes(ratings)
            outcome = None if close else self.ahead(following, best, plies - rolls, seat, ratings)
            if outcome is None:
                return None
            total += (weight(dice) if rolls else 1) * outcome
        return total
