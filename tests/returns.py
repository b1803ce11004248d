"""The targets of a single game, without a network or a variant around it."""

import numpy as np

from nardy_rl.players.bot import RANDOM, simple_bot
from nardy_rl.rules.variant import variant
from nardy_rl.search.bearoff_cache import no_endings
from nardy_rl.search.lookahead import new_room
from nardy_rl.search.rater import Rater
from nardy_rl.selfplay.targets import Game, lambda_returns, new_returns


def game_returns(values, seats, exact, points, levels, trace):
    """float32[decisions, outputs] from the ratings of a game, as `lambda_returns` takes them, each after a roll."""
    rules, outputs = variant("short"), values.shape[1]
    silent = simple_bot(RANDOM, rules).rater.net
    equity = np.zeros(outputs + 1, np.float32)
    rater = Rater(silent._replace(equity=equity, levels=np.array(levels, np.int64)), no_endings(rules))
    positions, pending = np.zeros((len(values), 2, 26), np.int8), np.zeros(len(values), np.int32)
    game = Game(positions, pending, seats, values.copy(), exact)
    room = new_room(rater.net)
    lambda_returns(game, points, trace, False, rater, rules.rules, new_returns(outputs), room)
    return game.values
