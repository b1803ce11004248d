"""Golden cases: positions and dice with all legal afterstates, their values and the play to choose.

Whoever ports a bot checks himself against them. Each is one line of JSON:

| key             | meaning                                                                                          |
|-----------------|--------------------------------------------------------------------------------------------------|
| `kind`          | where the position comes from: a game, its opening, or a maker of odd positions (see `odd`)      |
| `position`      | two rows of 26 counts, row 0 the player who acts, each row in its owner's own numbering           |
| `dice`          | the last roll, his own or, where dice were passed on to him, the other's                         |
| `first_turn`    | "starter" or "second" if that was his own first roll of the game, else null                       |
| `standing`      | what he has to play and how, see below                                                           |
| `afterstates`   | all legal plays as the positions they lead to, he still in row 0                                 |
| `next`          | after a play that does not win: whether he acts again, and what is then to play (all 0: a roll)  |
| `probabilities` | of each afterstate, for the player who acts next; of a won game the loser's, exactly             |
| `equities`      | of each afterstate in points, for who made the play; of a won game its points, exactly           |
| `choice`        | the number of the afterstate to choose                                                           |

| standing    | meaning                                                                                              |
|-------------|------------------------------------------------------------------------------------------------------|
| `fresh`     | whether all that follows is what his roll `dice` gives him in this position, with `first_turn`       |
| `now`       | the dice of this decision, two different or equal ones; as many as possible are played               |
| `steps`     | all that he has to play, `now` included: how many of each value 1…6, then 1 if of his own roll       |
| `passing`   | how many of each value 1…6 already wait for the other player (`chain_break: skip`)                   |
| `own`       | the dice are of his own roll; else they were passed on to him                                        |
| `chain`     | `now` is one value of a chain of doubles                                                             |
| `extra`     | he rolls again if he plays all of his roll                                                           |
| `head_left` | how many checkers may leave his point 24 with `now` (all of them where there is no such rule)        |
| `patient`   | the last of these only when nothing else can be moved (`head_exception_mode: last_resort`)           |

Values are the network's alone and in double precision. The choice is beyond doubt: who has the probabilities right to
TOLERANCE finds the same.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nardy_rl.export.values import Values
from nardy_rl.rules.game import Game
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.outcome import points_won
from nardy_rl.rules.plays import Play, standing_before
from nardy_rl.rules.position import BAR, HEAD, OFF, Position
from nardy_rl.rules.protocol import Standing, after_play, pending_steps, take_dice
from nardy_rl.rules.variant import Variant

TOLERANCE = 1e-5
"""How far a reader's probabilities may be from those of a golden case."""

_DIGITS = 6


class Rated(NamedTuple):
    """The legal plays of a decision and what the network makes of them."""

    afters: list[Position]
    same_player: bool  # who made the play acts next, too
    pending: list[int]
    probabilities: NDArray[np.float64]  # [plays, outputs]: of the player who acts next, or has lost
    equities: NDArray[np.float64]  # [plays]: of the player who made the play
    choice: int
    sure: bool  # the choice is the best by more than readers differ


def rate_plays(game: Game, values: Values) -> Rated:
    """The plays of the decision in which `game` stands."""
    rules, plays, standing = game.variant.rules, game.plays, game.standing
    coming = after_play(standing, len(plays[0].moves), _left_over(standing, plays[0]), 0, rules)
    same_player, pending = coming.seat == standing.seat, steps_of(pending_steps(coming))
    boards = np.stack([play.after.array for play in plays])
    acting = boards if same_player else boards[:, ::-1]
    probabilities = values.probabilities(acting, np.tile(np.array(pending, np.int8), (len(plays), 1)))
    equities = values.equities(probabilities) * (1 if same_player else -1)
    for index, board in enumerate(boards):
        if board[0, OFF] == rules.checkers:
            points = points_won(board[1].copy(), rules)
            probabilities[index], equities[index] = _lost(game.variant, points), points
    best = np.sort(equities)[::-1]
    sure = len(best) == 1 or bool(best[0] - best[1] > 2 * TOLERANCE * values.sensitivity)
    afters = [play.after for play in plays]
    return Rated(afters, same_player, pending, probabilities, equities, int(equities.argmax()), sure)


def steps_of(code: int) -> list[int]:
    """What `pending_steps` says, as inputs have it: steps of the values 1…6, then 1 if they are of an own roll."""
    return [*((code >> (4 * value)) & 15 for value in range(1, 7)), code & 1]


def to_lines(cases: list[dict[str, Any]]) -> bytes:
    """The content of a golden file."""
    return "".join(json.dumps(case, separators=(",", ":")) + "\n" for case in cases).encode()


def from_lines(file: bytes) -> list[dict[str, Any]]:
    """The cases of a golden file."""
    return [json.loads(line) for line in file.decode().splitlines()]


def tags(case: dict[str, Any], variant: Variant) -> set[str]:
    """What is remarkable about a case."""
    position, standing, afters = case["position"], case["standing"], case["afterstates"]
    stays = afters == [position]
    found = {
        "first turn": case["first_turn"] is not None,
        "on the bar": position[0][BAR] > 0,
        "bearing off": any(after[0][OFF] > position[0][OFF] for after in afters),
        "won": any(after[0][OFF] == variant.checkers for after in afters),
        "no move": stays,
        "forced": len(afters) == 1 and not stays,
        "dice passed on": not standing["own"],
        "within a chain": standing["chain"] and not standing["fresh"],
        "acts again": case["next"]["same_player"],
        "two off the head": variant.head > 0 and any(position[0][HEAD] - after[0][HEAD] > 1 for after in afters),
    }
    return {tag for tag, holds in found.items() if holds}


def summary(cases: list[dict[str, Any]], variant: Variant) -> dict[str, Any]:
    """How much there is, and of what."""
    kinds = Counter(case["kind"] for case in cases)
    remarkable = Counter(tag for case in cases for tag in tags(case, variant))
    return {
        "cases": len(cases),
        "afterstates": sum(len(case["afterstates"]) for case in cases),
        "kinds": dict(sorted(kinds.items())),
        "remarkable": dict(sorted(remarkable.items())),
    }


def _left_over(standing: Standing, play: Play) -> int:
    return play.unused[0] if standing.second and len(play.unused) == 1 else 0


def _lost(variant: Variant, points: int) -> list[float]:
    """The nested probabilities of a player who has lost so many points."""
    return [0.0] * len(variant.levels) + [float(points >= level) for level in variant.levels[1:]]


def case_of(kind: str, game: Game, roll: tuple[int, int], rated: Rated) -> dict[str, Any]:
    """The golden case of a decision; roll: the last one of the game."""
    return {
        "kind": kind,
        "position": game.position.array.tolist(),
        "dice": list(roll),
        "first_turn": game.first_turn,
        "standing": _standing(game, roll),
        "afterstates": [after.array.tolist() for after in rated.afters],
        "next": {"same_player": rated.same_player, "pending": rated.pending},
        "probabilities": np.round(rated.probabilities, _DIGITS).tolist(),
        "equities": np.round(rated.equities, _DIGITS).tolist(),
        "choice": rated.choice,
    }


def _standing(game: Game, roll: tuple[int, int]) -> dict[str, Any]:
    standing, rules = game.standing, game.variant.rules
    before = standing_before(game.first_turn, rules)
    anew = take_dice(before, game.position.board(), *roll, rules, new_plays())
    told = [each._replace(seat=0, starter=0, rolls_0=0, rolls_1=0) for each in (standing, anew)]
    return {
        "fresh": told[0] == told[1],
        "now": list(game.dice),
        "steps": steps_of(pending_steps(standing)),
        "passing": steps_of(standing.passing)[:6],
        "own": bool(standing.own),
        "chain": bool(standing.chain),
        "extra": bool(standing.extra),
        "head_left": int(standing.head_left),
        "patient": bool(standing.patient),
    }


def standing_of(case: dict[str, Any]) -> Standing:
    """How a case stands, in the terms of `rules.protocol`, seat 0 to act; who rolled how often is not known."""
    now, given = case["standing"]["now"], case["standing"]
    steps = [given["steps"][value - 1] - now.count(value) for value in range(1, 7)]
    first, second = (now[0], now[1]) if now[0] != now[-1] else (now[0], 0)
    return Standing(
        0, 0, 1, 1, first, second, len(now), _code(steps), _code(given["passing"]), given["own"], given["chain"],
        given["extra"], given["head_left"], given["patient"],
    )  # fmt: skip


def case_plays(case: dict[str, Any], variant: Variant) -> tuple[NDArray[np.int8], NDArray[np.int8], NDArray[Any], int]:
    """A case as a reader rates it.

    Positions int8[plays, 2, 26] with row 0 who acts next, what he has to play int8[plays, 7], which plays do not win
    bool[plays], and the sign that an equity has for who made the play.
    """
    afters = np.array(case["afterstates"], np.int8)
    same_player = case["next"]["same_player"]
    pending = np.tile(np.array(case["next"]["pending"], np.int8), (len(afters), 1))
    positions = np.ascontiguousarray(afters if same_player else afters[:, ::-1])
    return positions, pending, afters[:, 0, OFF] < variant.checkers, 1 if same_player else -1


def pending_codes(pending: NDArray[np.int8]) -> NDArray[np.int64]:
    """What is pending, int8[N, 7], as `pending_steps` gives it: int64[N]."""
    return np.asarray(pending[:, :6].astype(np.int64) @ (1 << 4 * np.arange(1, 7)) + pending[:, 6])


def _code(steps: list[int]) -> int:
    return sum(number << (4 * value) for value, number in enumerate(steps, start=1))
