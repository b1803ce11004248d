"""Which positions become golden cases: games of the network, their openings, and odd positions of every kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from nardy_rl.export.golden import case_of, rate_plays
from nardy_rl.export.odd import Chance, Maker, makers
from nardy_rl.export.values import Values
from nardy_rl.rules.game import Game
from nardy_rl.rules.position import HEAD, Position
from nardy_rl.rules.variant import Variant

CASES = 512
_PLAYS_A_CASE = 18  # on average, so that the file stays small …
_CASES_AHEAD = 10  # … give or take what so many cases may have
_SINGLE = 4  # no more than one case of so many is a forced play, unless others are hard to find
_TORN = 9  # no more decisions than so many times the clear ones may be torn
_PATIENCE = 40  # candidates looked at for each case wanted
_LONGEST = 400  # decisions of a game; under odd rules it may never end


def golden_cases(variant: Variant, values: Values, number: int = CASES, seed: int = 1) -> list[dict[str, Any]]:
    """So many golden cases of a network, in every kind of position that the variant has.

    Raises ValueError if the network tells plays too little apart for that.
    """
    cases: list[dict[str, Any]] = []
    seen: set[str] = set()
    plays, single, torn, tried, clear = 0, 0, 0, 0, 0
    for tried, (kind, walk) in enumerate(_candidates(variant, values, Chance(seed))):
        if len(cases) == number or tried == number * _PATIENCE:
            break
        size = len(walk.game.plays)
        forced = size == 1 and walk.game.plays[0].moves != ()
        if plays + size > _PLAYS_A_CASE * (len(cases) + _CASES_AHEAD):
            continue
        if forced and single >= number // _SINGLE and tried < number * _PATIENCE // 2:
            continue
        rated = rate_plays(walk.game, values)
        case = case_of(kind, walk.game, walk.roll, rated)
        name = json.dumps([case["position"], case["standing"]])
        torn += not rated.sure
        clear += rated.sure and size > 1
        if rated.sure and name not in seen:
            seen.add(name)
            cases.append(case)
            plays += size
            single += forced
    if len(cases) < number or torn > _TORN * clear:
        raise ValueError(
            f"the network has no clear choice in {torn} of {tried} decisions, too many for golden cases: is it trained?"
        )
    return cases


class _Walk:
    """A game that goes on decision by decision, and its last roll."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._thrown()

    def go(self, index: int, dice: tuple[int, int] | None = None) -> None:
        """Make a play; dice: what is then rolled, if anything is."""
        before = self._rolls()
        self.game.play(index, dice if self.game.sequel(index).rolls else None)
        self.fresh = self._rolls() > before
        if self.fresh:
            self._thrown()

    def _rolls(self) -> int:
        return self.game.standing.rolls_0 + self.game.standing.rolls_1

    def _thrown(self) -> None:
        standing = self.game.standing
        self.fresh = True  # the dice to play have just been rolled
        self.roll = standing.first, standing.second or standing.first


def _candidates(variant: Variant, values: Values, chance: Chance) -> Iterator[tuple[str, _Walk]]:
    """Kinds and decisions, one from every source in turn, endlessly. A decision is to be looked at before the next."""
    sources = [("game", _from_games(variant, values, chance)), ("opening", _openings(variant, chance))] * 2
    sources += [(kind, _from_odd(variant, maker, chance)) for kind, maker in makers(variant).items()]
    for kind, source in cycle(sources):
        yield kind, next(source)


def _from_games(variant: Variant, values: Values, chance: Chance) -> Iterator[_Walk]:
    """Whole games of the network with itself, a random play now and then; one decision of three, and all odd ones."""
    while True:
        walk = _Walk(Game.begin(variant, chance.below(1 << 30)))
        for _ in range(_LONGEST):
            if walk.game.finished:
                break
            if not walk.fresh or chance.one_in(3):
                yield walk
            plays = len(walk.game.plays)
            walk.go(chance.below(plays) if chance.one_in(8) else rate_plays(walk.game, values).choice)


def _openings(variant: Variant, chance: Chance) -> Iterator[_Walk]:
    """First turns of either player with all rolls, the second's after any play of the starter's."""
    start = Position.start(variant)
    rolls = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]
    while True:
        answers = chance.some(rolls, len(rolls))
        for first, answer in zip(rolls, answers, strict=True):
            game = Game.from_position(variant, start, chance.below(1 << 30), dice=first, first_turn="starter")
            walk = _Walk(game)
            while not game.finished and game.standing.seat + game.standing.rolls_1 <= 1:
                yield walk
                walk.go(chance.below(len(game.plays)), answer)
            if not game.finished and game.first_turn == "second":
                yield walk


def _from_odd(variant: Variant, maker: Maker, chance: Chance) -> Iterator[_Walk]:
    """Odd positions with a roll, and what else has to be played because of it."""
    while True:
        position, roll = Position(maker(variant, chance)), chance.dice()
        first_turn = chance.choice([None, "starter", "second"]) if position.array[0, HEAD] > 2 else None
        walk = _Walk(Game.from_position(variant, position, chance.below(1 << 30), dice=roll, first_turn=first_turn))
        yield walk
        walk.go(chance.below(len(walk.game.plays)))
        while not walk.game.finished and not walk.fresh:
            yield walk
            walk.go(chance.below(len(walk.game.plays)))
