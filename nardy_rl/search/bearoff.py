"""The bear-off once both sides are home: tables of how many turns a side needs, and what follows from two of them.

With all checkers home nothing that the other side does matters to a player but that it ends the game. So a race is two
draws from one-sided distributions, as in GNU Backgammon's bear-off databases ("Bearoff databases" in its manual): the
player on roll, who needs i turns, wins if the other needs at least i. For few checkers a table of pairs is exact.

A turn goes on until the other player rolls: an extra roll after a double, and all values of a chain, belong to it.

Positions with all checkers home or off are numbered from 0, all off. If s(p) checkers stand on points p…6, a position's
number is the sum of C(s(p) + 6 - p, 7 - p) over p = 1…6 (the combinatorial number system: Knuth, TAOCP 7.2.1.3). So
positions of fewer checkers come first, and every step of a play lowers the number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import inlined, kernel
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.dice import below
from nardy_rl.rules.protocol import Standing
from nardy_rl.rules.words import pack

TURNS = 32
"""How many turns the tables look ahead; that a race takes longer has a chance of less than 1e-9 in every variant."""

_GRAIN = 1 << 30  # steps of a random fraction


class Endings(NamedTuple):
    """The bear-off tables of a variant, made by `bearoff_cache.endings`. Without tables, `turns` has no rows."""

    turns: NDArray[np.float32]  # [positions, TURNS]: chance that position i takes more than k turns to bear off
    none_off: NDArray[np.float32]  # [last positions, TURNS]: with all on board, that none is off after k turns
    pairs: NDArray[np.float32]  # [M, M]: chance that i, on roll, beats j, both at their best; no mars is possible
    chains: NDArray[np.int32]  # [7, positions or 0]: where a chain of doubles from value v on ends if i plays it
    places: NDArray[np.int32]  # [3, 256]: what a position's number is made of, see `home_index`
    levels: NDArray[np.int64]  # points of each level, as a network's outputs stand for them
    points: NDArray[np.int64]  # [2]: points of a game lost with a checker off; and with none off, all home


@inlined
def _home_sums(low: int) -> int:
    """How many checkers stand on points p…6, 4 bits each: p = 1 in bits 0…3. low: as in `words`."""
    sums = (low >> 4) & 0xFFFFFF
    sums += sums >> 4
    sums += sums >> 8
    return sums + (sums >> 16)


@inlined
def home_index(places: NDArray[np.int32], low: int) -> int:
    """The number of the position whose word (see `words`) is `low`; what is outside home is not looked at."""
    sums = _home_sums(low)
    return places[0, sums & 255] + places[1, (sums >> 8) & 255] + places[2, sums >> 16]


@inlined
def ending_index(endings: Endings, low: int, rules: Rules) -> int:
    """The number of a side's position, given by its word `low`; -1 unless all are home and the variant has tables."""
    if (low & 15) + (_home_sums(low) & 15) != rules.checkers or endings.turns.shape[0] == 0:
        return -1
    return home_index(endings.places, low)


@inlined
def roll_end(endings: Endings, index: int, coming: Standing) -> int:
    """Where the player at `index` will be at the end of his roll, of which `coming` is left; -1 if it is not known.

    The rest of a chain of doubles is played for the fewest turns; not known are dice that another could not play.
    """
    if coming.number == 0:
        return index
    if coming.chain and coming.passing == 0:
        return endings.chains[coming.first, index]
    return -1


@kernel
def both_home(board: NDArray[np.int8]) -> bool:
    """Whether all checkers of both sides are home or off. board: int8[2, 26]."""
    outside = 0
    for point in range(7, 26):
        outside |= board[0, point] | board[1, point]
    return outside == 0


@inlined
def _chances(endings: Endings, roller: int, other: int) -> tuple[np.float32, np.float32, np.float32]:
    """Of the player on roll: (that he wins; and the other has none off; that he loses with none off)."""
    if roller < endings.pairs.shape[0] and other < endings.pairs.shape[0]:
        return endings.pairs[roller, other], np.float32(0.0), np.float32(0.0)
    mine, his = endings.turns[roller], endings.turns[other]
    win = np.float32(0.0)
    for turn in range(TURNS - 1):
        win += (mine[turn] - mine[turn + 1]) * his[turn]
    win = min(win, np.float32(1.0))
    win_all, lose_all = np.float32(0.0), np.float32(0.0)
    untouched = endings.turns.shape[0] - endings.none_off.shape[0]
    if other >= untouched:
        none_off = endings.none_off[other - untouched]
        for turn in range(TURNS - 1):
            win_all += (mine[turn] - mine[turn + 1]) * none_off[turn]
    if roller >= untouched:
        none_off = endings.none_off[roller - untouched]
        for turn in range(TURNS - 1):
            lose_all += (his[turn] - his[turn + 1]) * none_off[turn + 1]
    return win, min(win_all, win), min(lose_all, np.float32(1.0) - win)


@inlined
def rate_pair(endings: Endings, roller: int, other: int, probabilities: NDArray[np.float32]) -> float:
    """Rate the race of two positions, neither all off: fills `probabilities`, returns the equity, for who is on roll.

    probabilities: float32[outputs], nested as a network gives them: P(win ≥ level), then P(loss ≥ level > lowest).
    """
    win, win_all, lose_all = _chances(endings, roller, other)
    lose = np.float32(1.0) - win
    one_off, none_off = endings.points[0], endings.points[1]
    levels = endings.levels.size
    probabilities[0] = win
    for level in range(1, levels):
        points = endings.levels[level]
        single, mars = one_off >= points, none_off >= points
        probabilities[level] = single * (win - win_all) + mars * win_all
        probabilities[levels + level - 1] = single * (lose - lose_all) + mars * lose_all
    return one_off * (win - win_all - lose + lose_all) + none_off * (win_all - lose_all)


@inlined
def _row_index(endings: Endings, board: NDArray[np.int8], row: int) -> int:
    low, _ = pack(board[row:])
    return home_index(endings.places, low)


@inlined
def rate_ending(endings: Endings, board: NDArray[np.int8], probabilities: NDArray[np.float32]) -> float:
    """As `rate_pair`, for int8[2, 26] with row 0 on roll; both must be home (`both_home`) and neither all off."""
    return rate_pair(endings, _row_index(endings, board, 0), _row_index(endings, board, 1), probabilities)


@kernel
def sample_pair(endings: Endings, roller: int, other: int, key: int, counter: int) -> tuple[bool, int, int]:
    """Draw how the race of two positions ends: (whether who is on roll wins, points, turns of both together).

    The chances are those of `rate_pair`. Draws `counter` to `counter` + 2 of stream `key` (see `rules.dice`).
    """
    win, _, _ = _chances(endings, roller, other)
    won = bool(_fraction(key, counter) < win)
    mine, his = endings.turns[roller], endings.turns[other]
    # Of the winner's last turn, number `turn` + 1 of his, the one-sided distributions tell; the loser has had as many
    # turns before it, and one more if he rolled first.
    winner, loser = (mine, his) if won else (his, mine)
    more = 0 if won else 1
    total = 0.0
    for turn in range(TURNS - 1):
        total += (winner[turn] - winner[turn + 1]) * loser[turn + more]
    rest = _fraction(key, counter + 1) * total
    last = 0
    for turn in range(TURNS - 1):
        chance = (winner[turn] - winner[turn + 1]) * loser[turn + more]
        if chance > 0:
            last = turn
            rest -= chance
            if rest < 0:
                break
    points = endings.points[0]
    untouched = endings.turns.shape[0] - endings.none_off.shape[0]
    beaten = other if won else roller
    if beaten >= untouched:
        none_off = endings.none_off[beaten - untouched, last + more]
        if _fraction(key, counter + 2) * loser[last + more] < none_off:
            points = endings.points[1]
    return won, points, 2 * last + 1 + more


@kernel
def sample_ending(endings: Endings, board: NDArray[np.int8], key: int, counter: int) -> tuple[bool, int, int]:
    """As `sample_pair`, for int8[2, 26] with row 0 on roll; both must be home (`both_home`) and neither all off."""
    return sample_pair(endings, _row_index(endings, board, 0), _row_index(endings, board, 1), key, counter)


@inlined
def _fraction(key: int, counter: int) -> float:
    return below(key, counter, _GRAIN) / _GRAIN
