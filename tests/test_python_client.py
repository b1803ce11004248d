"""clients/python/nardy_client.py, which knows nothing of this package: same rules, and the proof of bundles."""

import random
import shutil
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest
from bundles import CLIENT, SHEETS, client, write_bundle
from test_generator import CHOICES, fitting
from test_protocol import PROTOCOL, throw

from nardy_rl.bundle import GOLDEN
from nardy_rl.export.golden import from_lines
from nardy_rl.rules.game import Game
from nardy_rl.rules.outcome import outcome
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import VARIANTS, Variant, variant


@pytest.fixture(scope="module")
def bundle_of(tmp_path_factory):
    """The bundle of a sheet, made once."""
    made = {}

    def make(name: str):
        if name not in made:
            made[name] = write_bundle(tmp_path_factory.mktemp(name), SHEETS[name])
        return made[name]

    return make


@pytest.mark.parametrize("name", SHEETS)
def test_golden_cases_come_out_right_in_the_client(bundle_of, name):
    bot = client().Bot(bundle_of(name))
    cases = from_lines((bundle_of(name) / GOLDEN).read_bytes())
    plays, difference = client().check_golden(bot, cases)
    assert plays == sum(len(case["afterstates"]) for case in cases)
    assert difference < 1e-5


def as_tuples(position: Position) -> tuple:
    return tuple(map(tuple, position.array.tolist()))


def compare(game: Game, turn) -> tuple:
    """One decision in both: the dice, all plays and what follows each. Returns the dice that its plays leave."""
    module, sheet, position = client(), game.variant.to_dict(), as_tuples(game.position)
    assert sorted(turn.now) == sorted(game.dice)
    assert (turn.player, turn.own, turn.later) == (game.seat, not game.passed_on, game.to_follow)
    assert module.pending(turn) == game.pending(game.seat).tolist()
    plays, unused = module.turn_plays(sheet, turn, position)
    expected = {as_tuples(play.after): index for index, play in enumerate(game.plays)}
    assert plays.keys() == expected.keys(), (game.variant, position, turn)
    for after, index in expected.items():
        sequel = game.sequel(index)
        assert len(plays[after]) == len(game.plays[index].moves)
        assert sequel.finished == (after[0][0] == game.variant.checkers)
        if not sequel.finished:
            following = module.played(sheet, turn, position[0], after[0], unused)
            assert (following.player, following.now == ()) == (sequel.seat, sequel.rolls)
    return unused


def play_both(game: Game, turn, rng: random.Random, decisions: int) -> int:
    """Random plays in both until somebody wins; returns how many decisions were compared."""
    module, sheet = client(), game.variant.to_dict()
    for number in range(decisions):
        unused = compare(game, turn)
        before, index = game.position, rng.randrange(len(game.plays))
        after = as_tuples(game.plays[index].after)
        dice = throw(rng, 3) if game.sequel(index).rolls else None
        game.play(index, dice)
        if game.finished:
            assert module.points(sheet, after[1]) == game.points
            return number + 1
        turn = module.played(sheet, turn, as_tuples(before)[0], after[0], unused)
        if dice is not None:
            turn = module.rolled(sheet, turn, as_tuples(game.position), dice)
        assert turn.rolls == (game.standing.rolls_0, game.standing.rolls_1)
    return decisions


def games(rules: Variant, rng: random.Random, sample_turns):
    """Games from the start and from odd positions, endlessly, with what the client makes of their first roll."""
    module, sheet, turns = client(), rules.to_dict(), sample_turns(rules, rng)
    while True:
        game = Game.begin(rules, key=rng.randrange(2**30))
        position, dice = as_tuples(game.position), (game.standing.first, game.standing.second or game.standing.first)
        yield game, module.rolled(sheet, module.begin(game.seat), position, dice), 200
        for position, dice, first_turn in islice(turns, 4):
            game = Game.from_position(rules, position, key=1, dice=dice, first_turn=first_turn)
            turn = module.before_roll(sheet, first_turn)
            rolls = (turn.rolls[0], game.standing.rolls_1)
            yield game, module.rolled(sheet, turn._replace(rolls=rolls), as_tuples(position), dice), 6


@pytest.mark.parametrize("name", SHEETS)
def test_the_client_plays_by_the_rules_of_the_package(name, positions, sample_turns):
    rng = random.Random(name)
    left = positions // 2
    for game, turn, most in games(SHEETS[name], rng, sample_turns):
        left -= play_both(game, turn, rng, min(most, left))
        if left <= 0:
            break


def test_the_client_plays_by_any_mixture_of_options(positions, sample_turns):
    rng = random.Random("mixtures")
    for _ in range(positions // 6):
        options = {option: rng.choice(values) for option, values in (CHOICES | PROTOCOL).items()}
        rules = variant(rng.choice(VARIANTS), **fitting(options))
        for game, turn, most in islice(games(rules, rng, sample_turns), 4):
            play_both(game, turn, rng, min(most, 5))


@pytest.mark.parametrize("rules", [SHEETS["skip"], SHEETS["short"], SHEETS["exact"]], ids=lambda rules: rules.name)
def test_won_games_have_the_points_of_the_package(rules, sample_turns):
    rng = random.Random(5)
    for position, _, _ in islice(sample_turns(rules, rng), 100):
        loser = position.array[1].tolist()
        winner = [rules.checkers, *[0] * 25]
        assert client().points(rules.to_dict(), tuple(loser)) == outcome(rules, Position([winner, loser]))[1]


def test_a_whole_game_is_played_by_the_loop_of_the_docstring(bundle_of):
    module = client()
    bot = module.Bot(bundle_of("mad_gulbar_a"))
    rng = random.Random(1)
    game = module.Game(bot.rules, starter=1)
    decisions = 0
    while game.winner is None:
        if not game.turn.now:
            game.roll((rng.randint(1, 6), rng.randint(1, 6)))
        choice = bot.choose_in(game)
        assert -2 <= choice.equity <= 2
        game.play(choice)
        decisions += 1
    assert game.position[0][0] == 15
    assert sum(game.turn.rolls) < decisions < 1000
    with pytest.raises(ValueError, match="nobody has to roll"):
        game.roll((1, 2))


def test_choosing_takes_positions_of_any_kind_and_int8_weights(bundle_of):
    module = client()
    bot, small = module.Bot(bundle_of("short")), module.Bot(bundle_of("short"), small=True)
    start = Position.start(variant("short")).array
    choice = bot.choose(start, (3, 1))
    assert choice == bot.choose(start.tolist(), (3, 1))
    assert abs(small.choose(start, (3, 1)).equity - choice.equity) < 0.05
    assert sorted(source - target for source, target in choice.moves) == [1, 3]
    probabilities, equities = bot.rate(np.empty((0, 2, 26)))
    assert (probabilities.shape, equities.shape) == ((0, 5), (0,))


def run_client(*arguments) -> subprocess.CompletedProcess:
    """As its users run it, without this package."""
    command = [sys.executable, "-I", str(CLIENT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_client_proves_a_bundle_in_one_line(bundle_of, tmp_path):
    done = run_client(bundle_of("gulbar"))
    assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert done.stdout.startswith("gulbar-24-8 (gulbar): 96 golden cases with ")
    folder = shutil.copytree(bundle_of("gulbar"), tmp_path / "bot")
    (folder / GOLDEN).write_bytes(b"")
    done = run_client(folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"error: {folder / GOLDEN} is damaged")
    assert run_client().returncode == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"choice": 1}, "another play is chosen"),
        ({"equities": [0.5, 0.5]}, "an equity differs"),
        ({"probabilities": [[0.5] * 5] * 2}, "a probability differs by"),
        ({"dice": [6, 6]}, "the roll gives something else to play"),
        ({"next": {"same_player": True, "pending": [0] * 7}}, "it goes on in another way"),
        ({"afterstates": "half"}, "its plays are others"),
    ],
)
def test_a_client_that_differs_is_told_at_which_case(bundle_of, change, said):
    module = client()
    bot = module.Bot(bundle_of("short"))
    cases = from_lines((bundle_of("short") / GOLDEN).read_bytes())
    two = next(case for case in cases if len(case["afterstates"]) == 2 and case["choice"] == 0 and case["dice"][1] < 6)
    if "afterstates" in change:
        change = {"afterstates": two["afterstates"][:1]}
    with pytest.raises(module.BundleError, match=f"golden case 2 does not come out right: {said}"):
        module.check_golden(bot, [two, two | change])
