"""Whole games of every variant and of any rule sheet: what holds whatever the rules are."""

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_generator import rule_sheets

from nardy_rl.players.bot import RANDOM, simple_bot
from nardy_rl.players.games import MAX_DECISIONS, new_record, new_table, offer, play_game, start_board
from nardy_rl.rules.dice import below
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import HEAD, OFF, Position
from nardy_rl.rules.protocol import after_play, begin, pending_steps
from nardy_rl.rules.variant import VARIANTS, Variant, variant
from nardy_rl.rules.words import unpack

ROOM = new_plays()
PATIENCE = 3000  # decisions after which a game is looked at for a standstill


class Decision(NamedTuple):
    board: tuple
    pending: int
    seat: int


class Played(NamedTuple):
    decisions: list[Decision]
    winner: int | None  # None: the game came to a standstill
    points: int


def random_game(rules: Variant, key: int, starter: int) -> Played:
    """A game of random plays, its dice and choices from stream `key`; every decision is checked."""
    board, standing, decisions = start_board(rules), begin(starter), []
    for decision in range(PATIENCE):
        assert (board[:, OFF] < rules.checkers).all()
        decisions.append(Decision(tuple(map(tuple, board.tolist())), pending_steps(standing), standing.seat))
        standing, size, depth, left_over = offer(standing, board, key, rules.rules, ROOM)
        assert 1 <= size <= len(ROOM.low)
        chosen = below(key, decision, size)
        after = np.empty((2, 26), np.int8)
        unpack(ROOM.low[chosen], ROOM.high[chosen], board, rules.rules, after)
        assert (after >= 0).all()
        assert (after.sum(axis=1) == rules.checkers).all()
        assert not rules.hit or after[0, 25] <= board[0, 25]
        seat = standing.seat
        if after[0, OFF] == rules.checkers:
            assert after[1, OFF] < rules.checkers
            return Played(decisions, seat, points_won(after[1], rules.rules))
        standing = after_play(standing, depth, left_over, board[0, HEAD] - after[0, HEAD], rules.rules)
        board = after if standing.seat == seat else after[::-1].copy()
    return Played(decisions, None, 0)


def at_a_standstill(rules: Variant, board: tuple) -> bool:
    """Whether neither side can move any checker with any die, so that the game cannot go on."""
    position = Position(board)
    return all(
        legal_plays(rules, side, (die, die))[0].moves == ()
        for side, die in product((position, position.swapped()), range(1, 7))
    )


def check_games_of(rules: Variant, key: int) -> None:
    """The game of `key` with either starter, and as the compiled loop plays it."""
    game, mirrored = random_game(rules, key, 0), random_game(rules, key, 1)
    assert mirrored.decisions == [decision._replace(seat=1 - decision.seat) for decision in game.decisions]
    if game.winner is None:
        assert mirrored.winner is None
        assert at_a_standstill(rules, game.decisions[-1].board), rules
        return
    assert (mirrored.winner, mirrored.points) == (1 - game.winner, game.points)
    assert game.points in rules.levels

    bot, record = simple_bot(RANDOM, rules), new_record(PATIENCE, rules.outputs)
    table = new_table(bot, bot)
    result = play_game(bot, bot, start_board(rules), rules.rules, key, key, MAX_DECISIONS, True, table, record, 0)
    assert (result.starter_won, result.points) == (game.winner == 0, game.points)
    assert result.decisions == len(game.decisions)
    for row, decision in enumerate(game.decisions):
        assert record.positions[row].tolist() == list(map(list, decision.board))
        assert (record.pending[row], record.seats[row]) == (decision.pending, decision.seat)
    assert result.turns == sum(decision.pending == 0 for decision in game.decisions)


@pytest.mark.parametrize("name", VARIANTS)
@given(key=st.integers(0, 2**60))
@settings(max_examples=5, deadline=None)
def test_every_game_of_a_variant_ends_alike_for_either_seat(name, key):
    check_games_of(variant(name), key)


@given(rules=rule_sheets(), key=st.integers(0, 2**60))
@settings(max_examples=60, deadline=None)
def test_every_game_under_any_rule_sheet_ends_alike_for_either_seat_or_stands_still(rules, key):
    check_games_of(rules, key)
