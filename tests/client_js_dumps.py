"""Games of the Python core written out for other implementations of the rules to compare themselves with.

One JSON line a game: the rule sheet, how the game was entered, and for each decision its whole state (as `Game.state`
gives it, the sheet aside), every legal play with its afterstate, and the play that was made. Sides are written as 26
letters, A for no checkers, B for one, …
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import test_generator
import test_protocol

from nardy_rl.rules.dice import stream
from nardy_rl.rules.game import Game
from nardy_rl.rules.notation import play_text
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import Variant, variant

DECISIONS = 12  # of a game that is entered at an odd position
MOST_DECISIONS = 20_000  # until an option matters


def letters(position: Position) -> str:
    """Both sides, 52 letters."""
    return "".join(chr(65 + count) for count in position.array.ravel().tolist())


def dump(game: Game, rng: random.Random, most: int) -> dict[str, Any]:
    """The next `most` decisions of `game`, by random plays."""
    decisions = []
    while not game.finished and len(decisions) < most:
        chosen = rng.randrange(len(game.plays))
        sequel = game.sequel(chosen)._asdict()
        decisions.append(
            {
                "state": plain_state(game),
                "plays": [[letters(play.after), play_text(play), list(play.unused)] for play in game.plays],
                "chosen": chosen,
                "sequel": {name: list(value) if isinstance(value, tuple) else value for name, value in sequel.items()},
                "told": [list(game.dice), game.passed_on, list(game.to_follow), game.first_turn],
                "pending": game.pending(game.seat).tolist(),
            }
        )
        game.play(chosen)
    return {"decisions": decisions, "end": plain_state(game), "points": game.points}


def plain_state(game: Game) -> dict[str, Any]:
    state = game.state()
    return {
        "key": str(state["key"]),  # JavaScript reads whole numbers above 2^53 as others
        "counter": state["counter"],
        "position": letters(game.position),
        "standing": state["standing"],
    }


def whole_games(rules: Variant, seed: int, decisions: int) -> Iterator[dict[str, Any]]:
    """Games from the lottery on, until they have as many decisions as asked for."""
    rng = random.Random(f"{rules.name} {seed}")
    number = 0
    while decisions > 0:
        key = int(stream(seed, number))
        found = dump(Game.begin(rules, key), rng, 10_000)
        yield {"variant": rules.to_dict(), "begin": str(key), **found}
        decisions -= len(found["decisions"])
        number += 1


def odd_games(
    rules: Variant, rivals: list[Variant], rng: random.Random, decisions: int, sample_turns: Callable
) -> Iterator[dict[str, Any]]:
    """Short games from odd positions, and now and then one from the start.

    They have as many decisions as asked for, and go on until each rival would have come to another state somewhere: who
    ignores the option in which they differ is found out.
    """
    turns = sample_turns(rules, rng)
    lowest = 3 if any(sheet.chain_max_scope == "chain" and sheet.checkers > 6 for sheet in (rules, *rivals)) else 1
    unlike: list[Variant] = []
    most = decisions + MOST_DECISIONS
    while decisions > 0 or len(unlike) < len(rivals):
        assert decisions > -most, "no decision in which the option matters"
        position, dice, first_turn = next(turns)
        key = rng.getrandbits(60)
        if rng.random() < 0.1:
            game, entered = Game.begin(rules, key), {"begin": str(key)}
        else:
            if dice[0] == dice[1]:  # the longest chains are beyond any search
                dice = (max(dice[0], lowest),) * 2
            game = Game.from_position(rules, position, key, dice=dice, first_turn=first_turn)
            entered = {"from": {"position": letters(position), "dice": dice, "first_turn": first_turn, "key": str(key)}}
        try:
            found = dump(game, rng, DECISIONS)
        except ValueError:  # a chain whose longest row takes too long to find
            continue
        tell = [rival for rival in rivals if rival not in unlike and _differs(rival, entered, found, position)]
        unlike += tell
        decisions -= len(found["decisions"])
        if decisions > -DECISIONS or tell:
            rivals_told = [rival.to_dict() for rival in tell]
            yield {"variant": rules.to_dict(), "unlike": rivals_told, **entered, **found}


def _differs(rival: Variant, entered: dict[str, Any], found: dict[str, Any], position: Position) -> bool:
    """Whether a game would have gone another way under a rival's rules."""
    try:
        if "begin" in entered:
            game = Game.begin(rival, int(entered["begin"]))
        else:
            told = entered["from"]
            game = Game.from_position(
                rival, position, int(told["key"]), dice=told["dice"], first_turn=told["first_turn"]
            )
        for decision in found["decisions"]:
            if plain_state(game) != decision["state"] or len(game.plays) != len(decision["plays"]):
                return True
            after = decision["plays"][decision["chosen"]][0]
            game.play([letters(play.after) for play in game.plays].index(after))
    except ValueError:  # an impossible position, or no such play
        return True
    return plain_state(game) != found["end"]


def option_sheets() -> list[tuple[str, Variant, list[Variant]]]:
    """(what it is, variant, its rivals under the same options), one for each value of each option."""
    found: dict[Variant, tuple[str, list[Variant]]] = {}
    for preset, base, option, values in test_generator.OPTIONS + test_protocol.OPTIONS:
        for value in values:
            text = ",".join(f"{key}={setting}" for key, setting in (base | {option: value}).items())
            # A preset under its own value is met under many options.
            _, rivals = found.setdefault(variant(preset, **base, **{option: value}), (f"{preset}: {text}", []))
            others = [variant(preset, **base, **{option: other}) for other in values if other != value]
            rivals += [rival for rival in others if rival not in rivals]
    return [(text, rules, rivals) for rules, (text, rivals) in found.items()]


def line(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"
