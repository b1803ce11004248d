"""What the next roll can do: compiled, in torch, in arrays and in plain sets; and against the rules themselves."""

import itertools

import numpy as np
import pytest
import torch

from nardy_rl.export.plain_chances import plain_chances
from nardy_rl.network.chances import fill_chances
from nardy_rl.network.features import CHANCE_INPUT, CHANCES, SIDE_INPUTS, sight_of
from nardy_rl.network.glance import glance
from nardy_rl.network.masks import facing, side_of
from nardy_rl.network.value_net import encode
from nardy_rl.players.bot import HEURISTIC, RANDOM, simple_bot
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import BAR, Position
from nardy_rl.rules.variant import VARIANTS, Variant, variant
from nardy_rl.rules.words import pack
from nardy_rl.selfplay.batch import SelfPlay

SHORT, LONG = variant("short"), variant("long")
ROLLS = list(itertools.product(range(1, 7), repeat=2))


def compiled(rules: Variant, board) -> np.ndarray:
    chances = np.full(2 * CHANCES, np.nan, np.float32)
    sight = sight_of(rules)
    sides = [side_of(*pack(board[row:]), sight) for row in range(2)]
    for place, side in enumerate(sides):
        fill_chances(side, facing(sides[1 - place], sight), place, chances)
    return chances.reshape(2, CHANCES)


def plain(rules: Variant, board, side) -> list[float]:
    """The chances of a side as `features` tells them, by sets of points and roll by roll."""
    hitting = bool(rules.rules.hit)

    def seen(point):
        if rules.rules.contrary:
            return 25 - point
        return point + 12 if point <= 12 else point - 12

    mine = {point: int(board[side, point]) for point in range(1, 26) if board[side, point]}
    theirs = {seen(point): int(board[1 - side, point]) for point in range(1, 25) if board[1 - side, point]}
    least = 2 if hitting else 1
    open_points = {point for point in range(1, 25) if theirs.get(point, 0) < least}
    blots = {point for point, count in theirs.items() if count == 1} if hitting else set()
    bar = mine.get(BAR, 0)
    others = {point for point in mine if point != BAR}
    starts = {BAR} if bar else others

    def step(points, die):
        return {point - die for point in points if point > die}

    hits = pips = reach = 0
    for first, second in ROLLS:
        ends = set()
        dice = [first] * 4 if first == second else [first, second]
        for order in {tuple(dice), tuple(dice[::-1])}:
            entering, left = order[: max(bar, 1)], order[max(bar, 1) :]
            arrived = set()
            for die in entering:  # who is on the bar enters; else the first die is played
                ends |= step(starts, die)
                arrived = step(starts, die) & open_points
            if not arrived:
                continue
            stand = arrived | (others if bar else set())
            for die in left:
                stand = step(stand, die)
                ends |= stand
                stand &= open_points
        hits += bool(ends & blots)
        pips += max(ends & blots, default=0)
        rear, best = max(mine, default=0), 0
        for order in {tuple(dice), tuple(dice[::-1])}:
            here = gone = 0
            for die in order:
                here += die
                if rear - here > 0 and rear - here not in open_points:
                    break
                gone = here
            best = max(best, gone)
        reach += best
    moves = [len(step(starts, die) & open_points) / 5 for die in range(1, 7)]
    return [hits / 36, pips / 360, reach / 294, *moves]


def boards_of(rules: Variant, kind: int, games: int):
    return SelfPlay(rules, seed=11, workers=1).play(simple_bot(kind, rules), 0, games, 1.0).positions


@pytest.mark.parametrize("name", VARIANTS)
def test_all_see_the_same(name, request):
    rules = variant(name)
    boards = np.concatenate([boards_of(rules, kind, 40) for kind in (RANDOM, HEURISTIC)])
    boards = boards[np.random.default_rng(1).permutation(len(boards))[: request.config.getoption("--positions")]]
    in_torch = glance(torch.from_numpy(boards), sight_of(rules)).numpy()
    for board, by_torch in zip(boards, in_torch, strict=True):
        expected = [plain(rules, board, side) for side in range(2)]
        np.testing.assert_allclose(compiled(rules, board), expected, atol=1e-6)
        np.testing.assert_allclose(by_torch, expected, atol=1e-6)
    np.testing.assert_allclose(plain_chances(boards, sight_of(rules)), in_torch, atol=1e-6)
    assert in_torch[..., 2:].std(axis=(0, 1)).min() > 0.01
    assert in_torch[..., :2].any() == bool(rules.rules.hit)


def test_they_come_last_among_the_inputs_of_a_side():
    board = Position.start(SHORT).board()[None]
    inputs = encode(torch.from_numpy(board), sight_of(SHORT)).reshape(2, SIDE_INPUTS)
    np.testing.assert_array_equal(inputs[:, CHANCE_INPUT:], compiled(SHORT, board[0]).astype(np.float32))


@pytest.mark.parametrize("bar", [0, 1, 2, 3])
def test_more_than_one_on_the_bar(bar):
    """Rare in play, and a case of its own in each: 4 + bar checkers, a blot at home and one outside."""
    position = Position.from_points({"bar": bar, 13: 4, 6: 11 - bar} if bar else {13: 4, 6: 11}, {20: 1, 14: 1, 1: 13})
    board = position.board()
    expected = [plain(SHORT, board, side) for side in range(2)]
    np.testing.assert_allclose(compiled(SHORT, board), expected, atol=1e-6)
    np.testing.assert_allclose(glance(torch.from_numpy(board[None]), sight_of(SHORT))[0], expected, atol=1e-6)
    np.testing.assert_allclose(plain_chances(board[None], sight_of(SHORT))[0], expected, atol=1e-6)
    assert (round(36 * expected[0][0]) == 1) == (bar == 3)  # 2-2 alone: three enter, and the fourth move is 13/11


def test_hits_are_those_of_the_rules(request):
    """But for the duty to play both dice, which forbids a hit now and then."""
    boards = np.concatenate([boards_of(SHORT, kind, 20) for kind in (RANDOM, HEURISTIC)])
    boards = boards[np.random.default_rng(2).permutation(len(boards))[: request.config.getoption("--positions")]]
    wrong = 0
    for board in boards:
        position = Position(board)
        hitting = sum(
            any(play.after.array[1, BAR] > board[1, BAR] for play in legal_plays(SHORT, position, dice))
            for dice in ROLLS
        )
        wrong += round(36 * float(compiled(SHORT, board)[0, 0])) != hitting
    assert wrong <= 0.02 * len(boards)


def test_the_first_position_by_hand():
    chances = compiled(SHORT, Position.start(SHORT).board())
    np.testing.assert_array_equal(chances[0], chances[1])
    assert chances[0, 0] == chances[0, 1] == 0
    # Closed to him are 1, 12, 17 and 19.
    assert [round(float(chances[0, 2 + die]) * 5) for die in range(1, 7)] == [3, 4, 4, 4, 2, 3]
    # 1-1 … 6-6: 4, 8, 9, 8, 0, 6; then 6-5 11, 6-4 10, 6-3 9, 6-2 8, 6-1 6, 5-4 9, 5-3 8, 5-2 2, 5-1 6, 4-3 4, 4-2 6,
    # 4-1 4, 3-2 3, 3-1 4, 2-1 3, each twice.
    assert round(float(chances[0, 2]) * 294) == 35 + 2 * 93
