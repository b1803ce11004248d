"""Bear-off tables: against a slow recursion over the reference's rules, against gnubg's databases, and on the disk."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest
import reference_protocol
from reference_protocol import Turn

from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.outcome import equity_weights
from nardy_rl.rules.protocol import LATER, after_play, before_roll, list_plays, take_dice
from nardy_rl.rules.variant import VARIANTS, Variant, variant
from nardy_rl.search import bearoff_cache
from nardy_rl.search.bearoff import (
    TURNS,
    both_home,
    ending_index,
    home_index,
    rate_ending,
    rate_pair,
    roll_end,
    sample_ending,
    sample_pair,
)
from nardy_rl.search.bearoff_build import home_counts, home_places
from nardy_rl.search.bearoff_cache import endings, obstacle, tables_path

FEW = {"checkers": 3, "start": "24:3"}
ROLLS = [(first, second) for first in range(1, 7) for second in range(1, first + 1)]
# Every option on which the tables depend, in small: the slow recursion goes through all positions.
SMALL = [
    ("long", {}),
    ("short", {}),
    ("short", {"extra_roll": True}),
    ("long", {"doubles_moves": 2}),
    ("long", {"doubles_moves": 3}),
    ("long", {"bearoff_from_higher": True}),
    ("gulbar", {}),
    ("gulbar", {"bearoff_from_higher": True, "doubles_moves": 3}),
    ("mad_gulbar_a", {}),
    ("mad_gulbar_a", {"chain_extra_roll": True}),
    ("mad_gulbar_a", {"chain_moves": 1, "bearoff_from_higher": True}),
    ("mad_gulbar_b", {}),
    ("mad_gulbar_b", {"chain_break": "skip", "chain_moves": 3}),
]
# Options that might let the other side meddle, and must not.
MEDDLING = [
    *((name, {}) for name in VARIANTS),
    ("long", {"prime_rule": "home", "prime_check": "turn_end"}),
    ("long", {"prime_edge": "closed", "bearoff_from_higher": True}),
    ("long", {"direction": "contrary", "prime_rule": "home", "prime_edge": "closed"}),
    ("long", {"direction": "contrary"}),
    ("short", {"direction": "parallel", "start": "24:15", "prime_rule": "ahead", "prime_edge": "closed"}),
    ("mad_gulbar_b", {"chain_break": "skip", "chain_head": "free", "pass_when": "doubles_only"}),
]


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory):
    """Tables of odd variants have no place in the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        forget()
        yield
        forget()


def forget() -> None:
    bearoff_cache.endings.cache_clear()
    bearoff_cache._tables.cache_clear()


def named(sheets: list) -> dict:
    return {"ids": [" ".join([name, *(f"{key}={value}" for key, value in more.items())]) for name, more in sheets]}


def board_of(own: np.ndarray, opp: np.ndarray) -> np.ndarray:
    """int8[2, 26] of two rows of int8[7]."""
    board = np.zeros((2, 26), np.int8)
    board[0, :7], board[1, :7] = own, opp
    return board


def word_of(counts: np.ndarray) -> int:
    return sum(int(count) << (4 * point) for point, count in enumerate(counts))


def rated(tables, roller: int, other: int) -> tuple[float, np.ndarray]:
    probabilities = np.full(2 * len(tables.levels) - 1, np.nan, np.float32)
    return rate_pair(tables, roller, other, probabilities), probabilities


class Slow:
    """Races by recursion over the reference's rules, in fractions. A side is its seven counts, off and 1…6."""

    def __init__(self, rules: Variant) -> None:
        self.rules = rules
        self.ends = cache(self._ends)
        self.turns = cache(self._turns)
        self.chance = cache(self._chance)

    def _ends(self, side: tuple, dice: tuple[int, int]) -> list[tuple[tuple, bool]]:
        """Where a roll can end, and whether the player then rolls again."""
        own, opp = side + (0,) * 19, (0, self.rules.checkers, *(0,) * 24)
        turn = reference_protocol.roll(self.rules, Turn(0, 0, (99, 99)), own, opp, dice)
        found = []
        for end in reference_protocol.ends(self.rules, turn, own, opp):
            assert end.opp == opp
            assert end.turn is None or (end.unplayed, end.turn.groups) == ((), ())
            found.append((end.own[:7], end.turn is not None and end.turn.player == 0))
        return found

    def _turns(self, side: tuple, reached: Callable[[tuple], bool]) -> tuple[Fraction, ...]:
        """The chances of reaching the goal in 0, 1, 2, … turns, with the fewest on average."""
        if reached(side):
            return (Fraction(1),)
        total = [Fraction(0)] * TURNS
        for dice in ROLLS:
            options = []
            for end, again in self.ends(side, dice):
                rest = self.turns(end, reached)
                options.append(rest if again and not reached(end) else (Fraction(0), *rest))
            shortest = min(map(mean, options))
            best = [option for option in options if mean(option) == shortest]
            assert len(set(best)) == 1, "what is equal on average is equal in all: else a test could not tell"
            for turn, chance in enumerate(best[0]):
                total[turn] += weight(dice) * chance
        while not total[-1]:
            total.pop()
        return tuple(total)

    def _chance(self, own: tuple, opp: tuple) -> Fraction:
        """That `own`, on roll, bears off first if both play best."""
        total = Fraction(0)
        for dice in ROLLS:
            chances = []
            for end, again in self.ends(own, dice):
                if end[0] == self.rules.checkers:
                    chances.append(Fraction(1))
                else:
                    chances.append(self.chance(end, opp) if again else 1 - self.chance(opp, end))
            total += weight(dice) * max(chances)
        return total

    def all_off(self, side: tuple) -> bool:
        return side[0] == self.rules.checkers


def first_off(side: tuple) -> bool:
    return side[0] > 0


def mean(chances: tuple[Fraction, ...]) -> Fraction:
    return sum(turn * chance for turn, chance in enumerate(chances))


def weight(dice: tuple[int, int]) -> Fraction:
    return Fraction(1 if dice[0] == dice[1] else 2, 36)


def more_than(chances: tuple[Fraction, ...]) -> list[float]:
    """The chances of more than 0, 1, 2, … turns, as the tables have them."""
    return [float(sum(chances[turn + 1 :])) for turn in range(TURNS)]


@pytest.mark.parametrize("checkers", [1, 4, 15])
def test_positions_are_numbered_in_their_order(checkers):
    counts, places = home_counts(checkers), home_places()
    assert counts.shape == (math.comb(checkers + 6, 6), 7)
    assert (counts >= 0).all()
    assert (counts.sum(axis=1) == checkers).all()
    assert [home_index(places, word_of(row)) for row in counts] == list(range(len(counts)))
    # Fewer checkers come first.
    assert (np.diff(counts[:, 0]) <= 0).all()


@pytest.mark.parametrize(("name", "options"), SMALL, **named(SMALL))
def test_tables_are_those_of_a_slow_recursion(name, options):
    rules = variant(name, **FEW, **options)
    tables, slow = endings(rules), Slow(rules)
    sides = [tuple(map(int, row)) for row in home_counts(3)]
    touched = math.comb(2 + 6, 6)
    assert len(tables.turns) == len(sides)
    assert len(tables.none_off) == len(sides) - touched
    assert tables.pairs.shape == (touched, touched)
    for index, side in enumerate(sides):
        assert tables.turns[index] == pytest.approx(more_than(slow.turns(side, slow.all_off)), abs=1e-7)
        if index >= touched:
            expected = more_than(slow.turns(side, first_off))
            assert tables.none_off[index - touched] == pytest.approx(expected, abs=1e-7)
    for own, opp in itertools.product(range(1, touched), repeat=2):
        assert tables.pairs[own, opp] == pytest.approx(float(slow.chance(sides[own], sides[opp])), abs=1e-7)
    assert (tables.pairs[0] == 1).all()
    assert (tables.pairs[1:, 0] == 0).all()


@pytest.mark.parametrize("name", ["mad_gulbar_a", "mad_gulbar_b"])
def test_a_chain_ends_where_the_fewest_turns_follow(name):
    rules = variant(name, **FEW)
    tables, slow, room = endings(rules), Slow(rules), new_plays()
    sides = [tuple(map(int, row)) for row in home_counts(3)]
    unfinished = 0
    for index, side in enumerate(sides[1:], 1):
        for value in range(1, 6):
            board = board_of(np.array(side), np.array((0, 3, 0, 0, 0, 0, 0)))
            standing = take_dice(before_roll(LATER, rules.rules), board, value, value, rules.rules, room)
            size, depth, left_over = list_plays(standing, board, rules.rules, room)
            coming = after_play(standing, depth, left_over, 0, rules.rules)
            assert roll_end(tables, index, before_roll(LATER, rules.rules)) == index
            if depth < standing.number:
                continue  # all off
            unfinished += 1
            ends = [roll_end(tables, ending_index(tables, int(room.low[i]), rules.rules), coming) for i in range(size)]
            best = min(mean(slow.turns(end, slow.all_off)) for end, _ in slow.ends(side, (value, value)))
            assert min(tables.turns[end].sum(dtype=float) for end in ends) == pytest.approx(float(best), abs=1e-6)
            assert roll_end(tables, index, coming._replace(passing=1 << 8)) == -1
    assert unfinished > 50


def test_known_values():
    tables = endings(variant("short"))
    counts = home_counts(15)
    index = {tuple(map(int, row[1:])): number for number, row in enumerate(counts)}
    assert (len(tables.turns), len(tables.none_off), len(tables.pairs)) == (54264, 15504, 924)

    def off_at_once(*points: int) -> float:
        return 36 * (1 - tables.turns[index[points], 1])

    # How many of the 36 rolls take off one or two last checkers: the textbook's table.
    assert [off_at_once(*(int(point == only) for point in range(1, 7))) for only in range(1, 7)] == pytest.approx(
        [36, 36, 36, 34, 31, 27], abs=1e-4
    )
    assert off_at_once(0, 0, 0, 0, 0, 2) == pytest.approx(4, abs=1e-4)
    assert off_at_once(1, 0, 0, 0, 0, 1) == pytest.approx(15, abs=1e-4)
    assert off_at_once(0, 0, 1, 1, 0, 0) == pytest.approx(17, abs=1e-4)
    # Stacked on the ace point, 15 checkers take eight turns without a double: 6.980 on average (gnubg's bearoffdump).
    assert tables.turns[index[15, 0, 0, 0, 0, 0]].sum(dtype=float) == pytest.approx(6.980, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, {}) for name in VARIANTS), ("long", {"doubles_moves": 2}), ("long", {"doubles_moves": 3})],
)
def test_tables_hold_distributions(name, options):
    tables = endings(variant(name, **options))
    for table in (tables.turns, tables.none_off):
        assert table.dtype == np.float32
        assert (np.diff(table, axis=1) <= 1e-7).all()
        # What takes longer than the table looks ahead does not matter.
        assert table[:, -1].max() < 1e-9
    assert tables.turns[0].max() == 0
    assert tables.turns[1:, 0] == pytest.approx(1, abs=1e-6)
    assert tables.none_off[:, 0] == pytest.approx(1, abs=1e-6)
    assert (tables.none_off <= tables.turns[-len(tables.none_off) :] + 1e-6).all()
    # The exact chance is never far from that of two races.
    rng = np.random.default_rng(5)
    one_sided = tables._replace(pairs=tables.pairs[:0, :0])
    for roller, other in rng.integers(1, len(tables.pairs), (300, 2)):
        assert rated(tables, roller, other)[0] == pytest.approx(rated(one_sided, roller, other)[0], abs=0.02)


def test_options_that_change_the_bear_off_change_the_tables():
    base = endings(variant("long"))
    assert endings(variant("short")).turns is base.turns
    for options in ({"doubles_moves": 3}, {"bearoff_from_higher": True}, {"extra_roll": True}, {"chain_moves": 2}):
        assert tables_path(variant("long", **options)) != tables_path(variant("long"))
        assert np.abs(endings(variant("long", **options)).turns - base.turns).max() > 0.01


@pytest.mark.parametrize(("name", "options"), MEDDLING, **named(MEDDLING))
def test_plays_at_home_do_not_depend_on_the_other_side(name, options, positions):
    rules = variant(name, **options)
    assert obstacle(rules) is None
    counts, core, room, rng = home_counts(15), rules.rules, new_plays(), Random(3)

    def offer(own: np.ndarray, opp: np.ndarray, dice: tuple[int, int]):
        board = board_of(own, opp)
        standing = take_dice(before_roll(LATER, core), board, *dice, core, room)
        size, depth, left_over = list_plays(standing, board, core, room)
        plays = set(zip(room.low[:size].tolist(), room.high[:size].tolist(), strict=True))
        return plays, depth, left_over, after_play(standing, depth, left_over, 0, core), standing.number

    for _ in range(positions):
        own, *others = (counts[rng.randrange(1, len(counts))] for _ in range(5))
        dice = rng.choice(ROLLS)
        plays, depth, left_over, coming, number = offer(own, others[0], dice)
        for other in others[1:]:
            assert offer(own, other, dice) == (plays, depth, left_over, coming, number)
        if depth < number:  # no die is left for the other player but that of a finished game
            assert {low for low, _ in plays} == {15}
        else:
            assert coming.seat == 0 or coming.number == 0
            assert coming.passing == 0


NO_TABLES = [
    ("long", {"bearoff": "exact_only"}, "exact_only"),
    ("gulbar", {"bearoff": "exact_only", "bearoff_ban": "each_checker"}, "exact_only"),
    ("long", {"prime_rule": "forbid"}, "forbid"),
    ("mad_gulbar_a", {"chain_grace_turns": 12}, "chain_grace_turns"),
    ("mad_gulbar_b", {"chain_grace_turns": 1, "start": "6:15"}, "chain_grace_turns"),
]


@pytest.mark.parametrize(("name", "options", "reason"), NO_TABLES)
def test_variants_without_tables(name, options, reason):
    rules = variant(name, **options)
    assert reason in obstacle(rules)
    tables = endings(rules)
    assert (tables.turns.shape, tables.none_off.shape, tables.pairs.shape) == ((0, TURNS), (0, TURNS), (0, 0))
    assert ending_index(tables, word_of(home_counts(15)[-1]), rules.rules) == -1
    assert not tables_path(rules).exists() or tables_path(rules) == tables_path(variant(name))


@pytest.mark.parametrize(
    ("name", "options"),
    [("mad_gulbar_a", {"chain_grace_turns": 3}), ("gulbar", {"chain_grace_turns": 99}), ("short", {"jacoby": True})],
)
def test_variants_with_tables_in_spite_of_odd_options(name, options):
    assert obstacle(variant(name, **options)) is None


def test_who_is_home():
    rules = variant("short")
    tables, row = endings(rules), home_counts(15)[20000]
    assert ending_index(tables, word_of(row), rules.rules) == 20000
    assert both_home(board_of(row, row))
    for side, point in itertools.product(range(2), (7, 16, 24, 25)):
        board = board_of(row, row)
        board[side, 0] -= 1
        board[side, point] += 1
        assert not both_home(board)
        assert ending_index(tables, word_of(board[side, :7]), rules.rules) == -1


POINTS = [
    ("short", {}, 2),
    ("long", {"home_mars": 3}, 3),
    ("long", {"home_mars": 1}, 1),
    ("long", {"home_mars": 3, "koks": 5}, 3),
    ("short", {"jacoby": True}, 1),
]


@pytest.mark.parametrize(("name", "options", "mars"), POINTS)
def test_ratings_are_nested_by_points(name, options, mars):
    rules = variant(name, **options)
    tables, counts = endings(rules), home_counts(15)
    weights, levels = equity_weights(rules), np.array(rules.levels)
    assert tables.points.tolist() == [rules.single, mars]
    rng = np.random.default_rng(2)
    marsed = 0
    for _ in range(200):
        # The last positions have all checkers on board.
        mine, his = (int(rng.choice([rng.integers(1, 300), rng.integers(38760, 54264)])) for _ in range(2))
        equity, probabilities = rated(tables, mine, his)
        more, his_more = (np.append(tables.turns[side].astype(float), 0) for side in (mine, his))
        last, his_last = -np.diff(more), -np.diff(his_more)
        win = last @ his_more[:-1] if max(mine, his) >= 924 else tables.pairs[mine, his]
        win_mars = last @ tables.none_off[his - 38760] if his >= 38760 else 0
        lose_mars = his_last[:-1] @ tables.none_off[mine - 38760, 1:] if mine >= 38760 else 0
        expected = [win, *((levels[1:] <= mars) * win_mars), *((levels[1:] <= mars) * lose_mars)]
        assert probabilities == pytest.approx(expected, abs=1e-6)
        assert equity == pytest.approx(weights[:-1] @ probabilities + weights[-1], abs=1e-5)
        marsed += max(win_mars, lose_mars) > 0.01
        again = np.empty_like(probabilities)
        assert rate_ending(tables, board_of(counts[mine], counts[his]), again) == equity
        assert (again == probabilities).all()
    assert marsed > 10


# (roller, other): both all on board, one nearly off, few against few by the table of pairs, one turn left.
RACES = [(54263, 54263), (30, 54263), (54263, 60), (38760, 38770), (900, 923), (1, 1), (20000, 21000)]


@pytest.mark.parametrize(("roller", "other"), RACES)
@pytest.mark.parametrize("name", ["short", "gulbar"])
def test_sampled_ends_have_the_chances_of_the_ratings(name, roller, other):
    tables, number = endings(variant(name)), 4000
    _, probabilities = rated(tables, roller, other)
    win, win_mars, lose_mars = probabilities[[0, 1, len(tables.levels)]]
    drawn = np.array([sample_pair(tables, roller, other, 11, 3 * game) for game in range(number)])
    won, points, turns = drawn.T

    def agree(seen: np.ndarray, expected: float) -> bool:
        return abs(seen.mean() - expected) <= 4 * math.sqrt(expected * (1 - expected) / number) + 1e-6

    assert agree(won, win)
    assert agree((won == 1) & (points == 2), win_mars)
    assert agree((won == 0) & (points == 2), lose_mars)
    assert (turns % 2 == won).all()  # who rolls first has the odd turns
    mine, his = (np.append(tables.turns[side].astype(float), 0) for side in (roller, other))
    chances = {2 * turn + 1: (mine[turn] - mine[turn + 1]) * his[turn] for turn in range(TURNS)}
    chances |= {2 * turn + 2: (his[turn] - his[turn + 1]) * mine[turn + 1] for turn in range(TURNS)}
    for length, chance in chances.items():
        # Of few against few the chance of a win is exact, that of the turns is not.
        assert abs((turns == length).mean() - chance) <= 4 * math.sqrt(chance * (1 - chance) / number) + 3e-3
    counts = home_counts(15)
    assert sample_ending(tables, board_of(counts[roller], counts[other]), 11, 0) == tuple(drawn[0])


class TestOnDisk:
    RULES = variant("gulbar", **FEW)

    @pytest.fixture
    def built(self, monkeypatch) -> list:
        """What has been computed; the tables are on the disk and no longer in memory."""
        endings(self.RULES)
        forget()
        calls = []
        build = bearoff_cache.build
        monkeypatch.setattr(bearoff_cache, "build", lambda rules: calls.append(rules) or build(rules))
        return calls

    def check(self, tables) -> None:
        assert tables.turns[1].tolist() == [1] + [0] * (TURNS - 1)
        assert [array.shape for array in tables[:4]] == [(84, TURNS), (56, TURNS), (28, 28), (7, 0)]

    def test_tables_are_computed_once(self, built):
        self.check(endings(self.RULES))
        self.check(endings(variant("gulbar", mars=3, hit=False, prime_rule="off", **FEW)))
        assert built == []
        # What is kept is a plain file of numpy's, with a checksum behind it.
        assert set(np.load(tables_path(self.RULES))) == {"turns", "none_off", "pairs", "chains"}

    @pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "other", "longer"])
    def test_a_damaged_file_is_replaced(self, built, damage):
        path = tables_path(self.RULES)
        whole = path.read_bytes()
        middle = len(whole) // 2
        path.write_bytes(
            {
                "cut": whole[:-1000],
                "empty": b"",
                "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
                "other": b"not a table",
                "longer": whole + b"\0",
            }[damage]
        )
        self.check(endings(self.RULES))
        assert len(built) == 1
        assert path.read_bytes() == whole
        forget()
        self.check(endings(self.RULES))
        assert len(built) == 1

    def test_without_a_cache_it_only_takes_longer(self, built, monkeypatch, tmp_path):
        (tmp_path / "file").write_text("no folder")
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
        self.check(endings(self.RULES))
        assert len(built) == 1


class TestAgainstGnubg:
    @pytest.fixture
    def engine(self):
        return pytest.importorskip("gnubg_nn")

    def test_turns(self, engine):
        """gnubg rounds to 1/65535 on the way, so that of two nearly equal plays it may take the other."""
        tables, counts = endings(variant("short")), home_counts(15)
        far = 0
        for index in np.random.default_rng(1).integers(1, len(counts), 1000):
            theirs = np.zeros(TURNS)
            found = engine.bearoff_probabilities(tuple(map(int, counts[index, 1:])))
            theirs[: len(found)] = found
            ours = tables.turns[index].astype(float)
            assert ours.sum() == pytest.approx(np.arange(1, TURNS + 1) @ theirs, abs=3e-4)
            far += np.abs(-np.diff(ours) - theirs[:-1]).max() > 1e-4
        assert far <= 10

    @pytest.mark.parametrize(("lowest", "highest"), [(1, 54264), (1, 924), (38760, 54264)])
    def test_races(self, engine, lowest, highest):
        tables, counts = endings(variant("short")), home_counts(15)
        differences = []
        for roller, other in np.random.default_rng(7).integers(lowest, highest, (1000, 2)):
            rows = [[*map(int, counts[side, 1:]), *[0] * 19] for side in (other, roller)]
            differences.append(np.abs(rated(tables, roller, other)[1] - engine.probabilities(rows, 0)))
        assert np.max(differences) < 1e-4

    def test_mars(self, engine):
        """Where a mars is unlikely gnubg-nn is not as exact as the distributions of gnubg's own database."""
        tables, counts = endings(variant("short")), home_counts(15)
        rng = np.random.default_rng(9)
        differences = []
        for _ in range(1000):
            sides = int(rng.integers(1, 924)), int(rng.integers(38760, 54264))
            for roller, other in (sides, sides[::-1]):
                rows = [[*map(int, counts[side, 1:]), *[0] * 19] for side in (other, roller)]
                differences.append(np.abs(rated(tables, roller, other)[1] - engine.probabilities(rows, 0)).max())
        assert np.quantile(differences, 0.99) < 1e-4
        assert np.max(differences) < 0.03
