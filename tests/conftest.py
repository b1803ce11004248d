"""Options and fixtures that the tests share."""

import signal
from collections.abc import Callable, Iterator
from random import Random

import pytest
import torch
from nets import pip_bot

from nardy_rl.players.registry import Player, load_player
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import Variant, variant

OFF, BAR = 0, 25
Turn = tuple[Position, tuple[int, int], str | None]


def pytest_configure():
    # What a shell starts in the background ignores Ctrl-C, and so would the servers that tests start and stop.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption(
        "--positions",
        type=int,
        default=150,
        metavar="N",
        help="positions on which each test compares the play generator with another one (20000 for the full proof)",
    )
    parser.addoption(
        "--matches",
        type=int,
        default=10,
        metavar="N",
        help="matches of 200 games whose results with and without luck are compared (100 for the full proof)",
    )
    parser.addoption(
        "--protocol-games",
        type=int,
        default=4,
        metavar="N",
        help="games that bots play in GNU Backgammon, and as many in OpenSpiel (100 for the full proof)",
    )
    parser.addoption(
        "--protocol-bot", default=None, metavar="BOT", help="who plays them, instead of a simple network for the tests"
    )


@pytest.fixture(scope="session")
def protocol_games(request) -> int:
    """How many games are played in other programs."""
    return request.config.getoption("--protocol-games")


@pytest.fixture(scope="session")
def protocol_bot(request) -> Player:
    """Who plays them."""
    name, short = request.config.getoption("--protocol-bot"), variant("short")
    return load_player(name, short) if name else pip_bot(short)


@pytest.fixture(scope="session")
def matches(request) -> int:
    """How many matches a comparison of results with and without luck plays."""
    return request.config.getoption("--matches")


@pytest.fixture(scope="session")
def positions(request) -> int:
    """How many positions a comparison of play generators looks at."""
    return request.config.getoption("--positions")


@pytest.fixture(scope="session")
def sample_turns() -> Callable[[Variant, Random], Iterator[Turn]]:
    """A function that makes (position, dice, first turn) of a variant, half from random games, half odd, endlessly."""
    return _sample_turns


def roll(rng: Random) -> tuple[int, int]:
    # Doubles come twice as often as in play: they have the longer turns, in which more can go wrong.
    dice = rng.randint(1, 6), rng.randint(1, 6)
    return dice if rng.random() > 0.2 else (dice[0], dice[0])


def _sample_turns(rules: Variant, rng: Random) -> Iterator[Turn]:
    kinds = [_scattered, _bear_off, _blocks]
    kinds += [_crowded_bar] if rules.hit else []
    kinds += [_heads, _openings] if rules.head else []
    game = _random_games(rules, rng)
    while True:
        yield next(game)
        yield rng.choice(kinds)(rules, rng)


def _random_games(rules: Variant, rng: Random) -> Iterator[Turn]:
    while True:
        position = Position.start(rules)
        # Under odd options a game may come to a standstill, hence the limit.
        for turn in range(300):
            if rules.checkers in position.array[:, OFF]:
                break
            dice, first_turn = roll(rng), ("starter", "second", None)[min(turn, 2)]
            yield position, dice, first_turn
            position = _after_any_play(rules, rng, position, dice, first_turn)


def _after_any_play(rules: Variant, rng: Random, position: Position, dice, first_turn: str | None) -> Position:
    return rng.choice(legal_plays(rules, position, dice, first_turn)).after.swapped()


def _openings(rules: Variant, rng: Random) -> Turn:
    position = Position.start(rules)
    if rng.random() < 0.3:
        return position, roll(rng), "starter"
    return _after_any_play(rules, rng, position, roll(rng), "starter"), roll(rng), "second"


def _side(rules: Variant, rng: Random, points: list[int], once: list[int] | None = None) -> list[int]:
    """One side, at random on `points`, with at least one checker on each of `once` as far as they go."""
    while True:
        side = [0] * 26
        for index in range(rules.checkers):
            side[once[index] if once and index < len(once) else rng.choice(points)] += 1
        if side[OFF] < rules.checkers:
            return side


def _enemy(rules: Variant, rng: Random, own: list[int], points: int, extra: list[int]) -> list[int]:
    """The other side, on up to `points` points that `own` leaves free, and on `extra`."""
    free = [rules.mirror(point) for point in range(1, 25) if own[point] == 0]
    return _side(rules, rng, rng.sample(free, min(points, len(free))) + extra)


def _maybe(rng: Random, chance: float, *points: int) -> list[int]:
    return [point for point in points if rng.random() < chance]


def _scattered(rules: Variant, rng: Random) -> Turn:
    beyond = [OFF, BAR] if rules.hit else [OFF]
    own = _side(rules, rng, rng.sample(range(1, 25), rng.randint(1, 9)) + _maybe(rng, 0.3, *beyond))
    opp = _enemy(rules, rng, own, rng.randint(1, 9), _maybe(rng, 0.3, *beyond))
    return Position([own, opp]), roll(rng), rng.choice([None, None, "starter", "second"])


def _bear_off(rules: Variant, rng: Random) -> Turn:
    points = rng.sample(range(1, 7), rng.randint(1, 5)) + [OFF] * rng.randint(0, 5) + _maybe(rng, 0.3, 7, 9, 12)
    own = _side(rules, rng, points)
    opp = _enemy(rules, rng, own, rng.randint(1, 9), _maybe(rng, 0.3, OFF))
    return Position([own, opp]), roll(rng), None


def _blocks(rules: Variant, rng: Random) -> Turn:
    """Five or six of seven points in a row on the enemy's path, his edge included, and some checkers to fill gaps."""
    first = rng.randint(0, 23)
    run = [rules.mirror((first + ahead) % 24 + 1) for ahead in range(7)]
    own = _side(
        rules,
        rng,
        run + rng.sample(range(1, 25), 5) + [24] * rng.randint(0, 4),
        once=rng.sample(run, rng.randint(5, 6)),
    )
    if rules.hit and rng.random() < 0.5:
        # A lone blot ahead of the block makes it legal until it is hit.
        free = [rules.mirror(point) for point in range(1, 25) if own[point] == 0]
        opp = _side(rules, rng, rng.sample(free, min(2, len(free))), once=[min(free)])
    else:
        opp = _enemy(rules, rng, own, rng.randint(1, 5), _maybe(rng, 0.15, OFF))
    return Position([own, opp]), roll(rng), rng.choice([None, None, None, "starter", "second"])


def _crowded_bar(rules: Variant, rng: Random) -> Turn:
    own = _side(rules, rng, [BAR] * rng.randint(1, 3) + rng.sample(range(1, 25), rng.randint(1, 6)))
    opp = _enemy(rules, rng, own, rng.randint(1, 8), _maybe(rng, 0.2, BAR, OFF))
    return Position([own, opp]), roll(rng), None


def _heads(rules: Variant, rng: Random) -> Turn:
    """Most checkers on the head and many closed points before them, as only a first turn's exception helps."""
    own = _side(rules, rng, [24] * 12 + rng.sample(range(7, 24), rng.randint(1, 3)), once=[24, 24, 24])
    opp = _enemy(rules, rng, own, rng.randint(3, 12), [])
    return Position([own, opp]), roll(rng), rng.choice([None, "starter", "starter", "second", "second"])


@pytest.fixture(scope="module")
def one_torch_thread():
    """On small nets torch's threads wait for each other longer than they work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
