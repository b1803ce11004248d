"""The bot for OpenSpiel's backgammon: its actions lead where it wants to go, and whole games are played."""

import time

import numpy as np
import pytest
from bundles import opinionated_net

from nardy_rl.players.bot import RANDOM, network_bot, simple_bot
from nardy_rl.players.gnubg import Pubeval
from nardy_rl.protocols.boards import openspiel_position, parse_openspiel_turn
from nardy_rl.protocols.mind import Mind
from nardy_rl.rules.game import Game
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.variant import variant

pyspiel = pytest.importorskip("pyspiel")
evaluate_bots = pytest.importorskip("open_spiel.python.algorithms.evaluate_bots").evaluate_bots
openspiel = pytest.importorskip("nardy_rl.protocols.openspiel")

SHORT = variant("short")
GAME = "backgammon(scoring_type=full_scoring)"


class Judge(openspiel.OpenSpielBot):
    """Counts decisions, and looks whether each is legal."""

    decisions = illegal = 0

    def step(self, state):
        action = super().step(state)
        self.decisions += 1
        self.illegal += action not in state.legal_actions()
        return action


def test_whole_games_by_evaluate_bots(protocol_games, protocol_bot, capsys):
    """From both seats, against players who choose at random, who hardly ever win."""
    game, rng, points, started = pyspiel.load_game(GAME), np.random.default_rng(2), [], time.perf_counter()
    ours = Judge(protocol_bot, SHORT)
    for number in range(protocol_games):
        bots = [ours, pyspiel.make_uniform_random_bot(1, number)]
        if number % 2:
            bots = [pyspiel.make_uniform_random_bot(0, number), ours]
        returns = evaluate_bots(game.new_initial_state(), bots, rng)
        assert sum(returns) == 0
        points.append(returns[number % 2])
    won, seconds = sum(won > 0 for won in points), time.perf_counter() - started
    assert ours.illegal == 0
    assert won >= 0.75 * protocol_games
    with capsys.disabled():
        print(
            f"\n{protocol_games} games in OpenSpiel against random: {won} won, {sum(points):+.0f} points, "
            f"{ours.decisions} decisions, 0 illegal, {seconds:.0f} s"
        )


def random_states(games: int, seed: int):
    """Every decision of random games."""
    rng = np.random.default_rng(seed)
    for _ in range(games):
        state = pyspiel.load_game(GAME).new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                yield state
            state.apply_action(int(rng.choice(state.legal_actions())))


def test_a_turn_ends_where_the_bot_wants_it_to_halves_of_doubles_included():
    network = network_bot(opinionated_net(SHORT), SHORT)  # to which no two positions are worth the same
    bot, mind = openspiel.OpenSpielBot(network, SHORT), Mind(network, SHORT)
    doubles = 0
    for state in random_states(6, seed=1):
        turn, mover = parse_openspiel_turn(state), state.current_player()
        if turn.second_half:
            continue
        game = Game.from_position(SHORT, turn.position, 0, dice=turn.dice)
        wanted = game.plays[mind.choose(game)].after
        child = state.clone()
        while not child.is_terminal() and child.current_player() == mover:
            child.apply_action(bot.step(child))
            doubles += turn.dice[0] == turn.dice[1]
        assert openspiel_position(child, mover) == wanted
    assert doubles > 20


def test_positions_are_read_rightly_for_both_seats():
    """Legal afterstates by our rules are those of OpenSpiel, whoever acts; doubles are looked at half by half."""
    seats = set()
    for state in random_states(3, seed=2):
        turn, mover = parse_openspiel_turn(state), state.current_player()
        assert turn.position.array.sum(axis=1).tolist() == [15, 15]
        if turn.dice[0] == turn.dice[1]:
            continue
        theirs = {openspiel_position(state.child(action), mover) for action in state.legal_actions()}
        assert theirs == {play.after for play in legal_plays(SHORT, turn.position, turn.dice)}
        seats.add(mover)
    assert seats == {0, 1}


def test_what_is_no_decision_in_backgammon_is_refused():
    bot = openspiel.OpenSpielBot(simple_bot(RANDOM, SHORT), SHORT)
    state = pyspiel.load_game(GAME).new_initial_state()
    with pytest.raises(ValueError, match="nobody has to play in this state"):
        bot.step(state)
    for other in ("tic_tac_toe", "backgammon(hyper_backgammon=true)"):
        with pytest.raises(ValueError, match="this bot plays OpenSpiel's backgammon, not"):
            bot.step(pyspiel.load_game(other).new_initial_state())
    assert bot.restart_at(state) is None


def test_other_players_than_the_compiled_and_other_variants_are_refused():
    long = variant("long")
    with pytest.raises(ValueError, match="OpenSpiel plays variant short by its preset rules only, not long"):
        openspiel.OpenSpielBot(simple_bot(RANDOM, long), long)
    pytest.importorskip("gnubg_nn")
    with pytest.raises(ValueError, match="gnubg and pubeval play whole turns"):
        openspiel.OpenSpielBot(Pubeval(SHORT), SHORT)


def test_a_bot_is_loaded_by_name():
    assert isinstance(openspiel.load("heuristic"), pyspiel.Bot)
    with pytest.raises(ValueError, match="unknown bot 'nobody'"):
        openspiel.load("nobody")
