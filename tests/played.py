"""Games of random plays, decision by decision, as the formats write them."""

from nardy_rl.formats.played import Decision, Part, PlayedGame
from nardy_rl.rules.dice import stream
from nardy_rl.rules.game import Game
from nardy_rl.rules.outcome import outcome


def played_game(rules, key, patience=2000):
    """The game of stream `key`, seat 0 being A; None if it takes more decisions than `patience`."""
    game, decisions = Game.begin(rules, key), []
    part = Part.ROLL
    for _ in range(patience):
        index = game.random_index()
        dice = game.dice
        if part is Part.ROLL and len(set(dice)) == 1:
            dice = dice[:1] * 2
        decisions.append(Decision(game.seat, part, dice, game.plays[index].moves))
        after, sequel, seat, own = game.plays[index].after, game.sequel(index), game.seat, not game.passed_on
        game.play(index)
        if game.finished:
            kind, points = outcome(rules, after)
            return PlayedGame(tuple(decisions), game.seat, points, kind)
        part = Part.ROLL if sequel.rolls else Part.GOES_ON if own and game.seat == seat else Part.FINISHES
    return None


def played_games(rules, number, seed=5):
    """Some random games."""
    return [played_game(rules, stream(seed, index)) for index in range(number)]


def random_game_positions(rules, games):
    """Every position of some random games."""
    for number in range(games):
        game = Game.begin(rules, stream(5, number))
        while not game.finished:
            yield game.position
            game.play(game.random_index())
