"""Dice that can be replayed: every draw depends on (seed, index, counter) alone, never on what was drawn before.

A game owns a stream, `stream(seed, index)`, and counts its draws: draw number c is a pure function of the stream's key
and c. So a seed gives the same games however they are spread over threads, and a saved game needs two numbers, key and
counter, to go on exactly. The generator is SplitMix64 (Steele, Lea, Flood 2014), entered at any point of its sequence.

Words are int64 throughout, products wrap around: Numba turns a mix of int64 and uint64 into float64.
"""

from __future__ import annotations

from nardy_rl.compiled import kernel

_GAMMA = -0x61C8864680B583EB  # 0x9E3779B97F4A7C15 as a signed word: 2^64 / golden ratio
_FACTOR_1 = -0x40A7B892E31B1A47  # 0xBF58476D1CE4E5B9
_FACTOR_2 = -0x6B2FB644ECCEEE15  # 0x94D049BB133111EB
_LOW_32 = 0xFFFFFFFF


@kernel
def _mix(word: int) -> int:
    """SplitMix64's finaliser: a bijection of 64-bit words in which every bit depends on every bit."""
    # Masked, because shifting a negative int64 to the right fills with ones.
    word = (word ^ ((word >> 30) & 0x3FFFFFFFF)) * _FACTOR_1
    word = (word ^ ((word >> 27) & 0x1FFFFFFFFF)) * _FACTOR_2
    return word ^ ((word >> 31) & 0x1FFFFFFFF)


@kernel
def stream(seed: int, index: int) -> int:
    """The key, int64, of stream number `index` (of a game, an env, a thread's work item) under `seed`; both int64."""
    return _mix(_mix(seed + _GAMMA) + (index + 1) * _GAMMA)


@kernel
def random_bits(key: int, counter: int) -> int:
    """Draw number `counter` (0, 1, 2, …) of stream `key`: 64 random bits as an int64 of either sign."""
    return _mix(key + (counter + 1) * _GAMMA)


@kernel
def below(key: int, counter: int, n: int) -> int:
    """A whole number from 0 to n - 1, all equally likely to within 2^-32. 1 ≤ n < 2^31. One draw."""
    return (((random_bits(key, counter) >> 32) & _LOW_32) * n) >> 32


@kernel
def roll(key: int, counter: int) -> tuple[int, int]:
    """Two dice, each 1…6, independent and unsorted. One draw."""
    both = below(key, counter, 36)
    return both // 6 + 1, both % 6 + 1


@kernel
def opening_roll(key: int, counter: int) -> tuple[int, int]:
    """The lottery (rules 2.1): one die each, ties thrown again; the larger die begins. One draw."""
    both = below(key, counter, 30)
    mine, other = both // 5 + 1, both % 5 + 1
    return mine, other + (other >= mine)


@kernel
def game_roll(key: int, rolled: int, lottery_opening: int) -> tuple[int, int]:
    """The roll of a game in which so many were thrown before; the first may be that of the lottery. One draw."""
    if rolled == 0 and lottery_opening:
        return opening_roll(key, 0)
    return roll(key, rolled)
