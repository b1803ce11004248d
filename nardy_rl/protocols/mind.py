"""A bot at work for another program: it chooses plays, plays whole turns, and has an opinion of doubles."""

from __future__ import annotations

from nardy_rl.evaluation.outside import decider
from nardy_rl.players.analysis import rate_position
from nardy_rl.players.bot import is_network
from nardy_rl.players.registry import Player, load_player, trained_variant
from nardy_rl.rules.dice import stream
from nardy_rl.rules.game import Game
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.plays import Move, check_dice, standing_before
from nardy_rl.rules.position import Position
from nardy_rl.rules.protocol import list_plays
from nardy_rl.rules.variant import Variant, variant

DEFAULT_VARIANT = "short"
"""What a bot plays that has no variant of its own, such as `heuristic`."""

_TAKE_POINT = 0.5  # of the doubler's cubeless equity: beyond it the taker loses more than the one point of a drop


def load_bot(name: str) -> tuple[Player, Variant]:
    """The bot called `name`, as `registry.load_player` knows it, and the variant that it plays. Raises as that does."""
    rules = trained_variant(name) or variant(DEFAULT_VARIANT)
    return load_player(name, rules), rules


class Mind:
    """A bot that chooses, for one thread at a time."""

    def __init__(self, player: Player, rules: Variant) -> None:
        self.player, self.variant = player, rules
        self._decide, self._plays = decider(player, rules), new_plays()
        self._key, self._decisions = stream(0, 0), 0

    def choose(self, game: Game) -> int:
        """The index of the play that the bot chooses among `game.plays`, of which there must be some."""
        board, standing = game.position.board(), game.standing
        size, depth, left_over = list_plays(standing, board, self.variant.rules, self._plays)
        self._decisions += 1
        return int(self._decide(board, self._plays, size, depth, left_over, standing, self._key, self._decisions))

    def turn(self, game: Game) -> tuple[Move, ...]:
        """All moves of who acts until somebody rolls or the other has to play; `game` is moved on as far as that."""
        moves: tuple[Move, ...] = ()
        while True:
            seat, index = game.seat, self.choose(game)
            moves += game.plays[index].moves
            sequel = game.sequel(index)
            if sequel.rolls or sequel.finished or sequel.seat != seat:
                return moves
            game.play(index)

    def takes(self, position: Position) -> bool:
        """Whether the bot, row 1, takes the double of row 0, who is about to roll: by cubeless equity.

        A player that is no network has no opinion of positions, and takes.
        """
        if not is_network(self.player):
            return True
        return rate_position(self.player, self.variant, position)[0] <= _TAKE_POINT

    def warm_up(self) -> None:
        """Have everything compiled that a decision needs, so that no client waits for it."""
        start = Position.start(self.variant)
        self.choose(Game.from_position(self.variant, start, 0, dice=(2, 1)))
        self.takes(start)


def passed_dice(
    rules: Variant, position: Position, now: tuple[int, ...], later: tuple[int, ...], first_turn: str | None
) -> Game:
    """A game in which row 0 has to play dice that the other could not (rules 6.1, 7.4).

    now: one value up to four times, or two different dice of a roll of which nothing was played. later: what follows,
    higher values. So `Game.dice` and `Game.to_follow` tell it. first_turn: as for `Game.from_position`, of the roll
    that follows. Raises ValueError for what cannot be.
    """
    if rules.pass_when == "never":
        raise ValueError(f"in variant {rules.name} no dice are passed on")
    game = Game.from_position(rules, position, 0, dice=(2, 1), first_turn=first_turn)  # raises for the position
    for die in (*now, *later):
        check_dice((die, die))
    different = len(set(now)) == 2 and len(now) == 2 and not later
    steps = {die: later.count(die) for die in later}
    alike = len(set(now)) == 1 and len(now) <= 4 and all(die > now[0] and steps[die] <= 4 for die in later)
    if not (different or alike):
        raise ValueError("dice are passed on as one value up to four times, then higher ones, or as two of a roll")
    game.standing = standing_before(first_turn, rules.rules)._replace(
        first=now[0],
        second=now[1] if different else 0,
        number=len(now),
        later=sum(number << (4 * die) for die, number in steps.items()),
        own=False,
        head_left=rules.rules.head or rules.checkers,
    )
    return game


def half_double(rules: Variant, position: Position, die: int) -> Game:
    """A game in which row 0 has two moves of a double of `die` left. Raises ValueError as `Game.from_position`."""
    game = Game.from_position(rules, position, 0, dice=(die, die))
    game.standing = game.standing._replace(number=2)
    return game
