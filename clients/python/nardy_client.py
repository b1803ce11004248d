"""Play a bot of nardy_rl with numpy and onnxruntime alone. One file, to be copied; the rules are slow and obvious.

    bot = Bot("short-256")                       # the folder of a bundle, checked by its card
    choice = bot.choose(position, (3, 1))        # position: two rows of 26 counts, row 0 the player who acts
    print(choice.moves, choice.equity, choice.position)

`python nardy_client.py BUNDLE` plays the bundle's golden cases and says in one line whether all of them come out right.

A row counts the checkers of one side in its owner's own numbering: 0 borne off, 1…24 the points (24 farthest, 6…1
home), 25 the bar. In variants where a turn has several parts (dice passed on, chains of doubles) go by `Game`: it says
who has to play which dice, and `bot.choose_in(game)` chooses. Numbers in brackets are those of nardy_rl's rules.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import onnxruntime

FORMAT = 2
TOLERANCE = 1e-5
OFF, HEAD, BAR = 0, 24, 25

Rules: TypeAlias = "dict[str, Any]"  # the options of a rule sheet, as the card has them
Side: TypeAlias = "tuple[int, ...]"  # 26 counts
Position: TypeAlias = "tuple[Side, Side]"  # row 0 the player who acts
Dice: TypeAlias = "tuple[int, ...]"
Move: TypeAlias = "tuple[int, int]"  # from, to
Plays: TypeAlias = "dict[Position, tuple[Move, ...]]"  # what a play leads to, and how


class BundleError(Exception):
    """A bundle that is damaged, or does not do what it should."""


# Single steps


def mirror(rules: Rules, point: int) -> int:
    """What the other player calls my point 1…24 (1)."""
    if rules["direction"] == "contrary":
        return 25 - point
    return point + 12 if point <= 12 else point - 12


def is_open(rules: Rules, opp: Side, point: int) -> bool:
    """Whether I may land on my point (3.1, 4.3)."""
    return opp[mirror(rules, point)] < (2 if rules["hit"] else 1)


def may_bear_off(rules: Rules, own: Side, source: int, die: int) -> bool:
    """Whether this die takes a checker off from `source`, all being home (2.8, A13, A14)."""
    if source == die:
        return True
    if rules["bearoff"] == "exact_only":
        return False
    if source < die:
        return not any(own[source + 1 : 7])
    return bool(rules["bearoff_from_higher"]) and own[die] == 0


def targets(rules: Rules, own: Side, opp: Side, die: int) -> Iterator[Move]:
    """The moves of one checker by this die, head and blocks aside."""
    all_home = not any(own[7:])
    stuck_at_home = rules["bearoff"] == "exact_only" and (all_home or rules["bearoff_ban"] == "each_checker")
    for source in [BAR] if own[BAR] else range(HEAD, 0, -1):
        if own[source] == 0:
            continue
        if source > die and is_open(rules, opp, source - die) and not (source <= 6 and stuck_at_home):
            yield source, source - die
        if all_home and may_bear_off(rules, own, source, die):
            yield source, OFF


def moved(rules: Rules, own: Side, opp: Side, move: Move) -> Position:
    """The position after one checker's move; a blot that it lands on goes to the bar (4.4)."""
    source, target = move
    mine, his = list(own), list(opp)
    mine[source] -= 1
    mine[target] += 1
    if target != OFF and his[mirror(rules, target)]:
        his[mirror(rules, target)] -= 1
        his[BAR] += 1
    return tuple(mine), tuple(his)


def illegal_block(rules: Rules, own: Side, opp: Side) -> bool:
    """Whether I hold six points in a row that I may not hold (3.4, A6, A8)."""
    if rules["prime_rule"] == "off":
        return False
    held = {mirror(rules, point) for point in range(1, 25) if own[point]}  # as he counts them
    for first in range(1, 20):
        if held.issuperset(range(first, first + 6)):
            if rules["prime_rule"] == "forbid":
                return True
            if not any(opp[: first if rules["prime_rule"] == "ahead" else 7]):
                return True
    if rules["prime_edge"] == "closed" and opp[OFF] == 0:
        return any(held.issuperset((first + ahead - 1) % 24 + 1 for ahead in range(6)) for first in range(20, 25))
    return False


# The plays of some dice


class _State(NamedTuple):
    own: Side
    opp: Side
    dice: Dice  # still to play, ascending
    head_left: int  # checkers that may leave the head


def _successors(rules: Rules, state: _State, patient: bool) -> list[tuple[Move, _State]]:
    found = []
    for die in sorted(set(state.dice)):
        left = list(state.dice)
        left.remove(die)
        for move in targets(rules, state.own, state.opp, die):
            from_head = move[0] == HEAD and rules["head"] > 0
            if from_head and state.head_left <= 0:
                continue
            own, opp = moved(rules, state.own, state.opp, move)
            if rules["prime_check"] == "each_step" and illegal_block(rules, own, opp):
                continue
            found.append((move, _State(own, opp, tuple(left), state.head_left - from_head)))
    if patient and state.head_left == 1:  # this checker waits until nothing else can be moved (A5)
        return [each for each in found if each[0][0] != HEAD] or found
    return found


def dice_plays(rules: Rules, own: Side, opp: Side, dice: Dice, head_left: int, patient: bool) -> tuple[Plays, Dice]:
    """The plays of as many of these dice as possible (2.5, 2.6), and the dice they leave, ascending."""
    layer: dict[_State, tuple[Move, ...]] = {_State(own, opp, tuple(sorted(dice)), head_left): ()}
    endings = layer
    while layer:
        following: dict[_State, tuple[Move, ...]] = {}
        for state, moves in layer.items():
            for move, after in _successors(rules, state, patient):
                following.setdefault(after, (*moves, move))
        layer = following
        # What uses more dice is better, unless it ends in a block that is judged only now (A7).
        endings = {state: moves for state, moves in layer.items() if not illegal_block(rules, *state[:2])} or endings
    unused = min(state.dice for state in endings)  # of two dice the larger is played
    return {(state.own, state.opp): moves for state, moves in endings.items() if state.dice == unused}, unused


# Turns


class Turn(NamedTuple):
    """How a game stands, the board aside. Nothing in `now`: the player who acts rolls."""

    player: int  # who acts, 0 or 1
    starter: int
    rolls: tuple[int, int] = (0, 0)  # how often each has rolled
    now: Dice = ()  # what he has to play: two different dice, or equal ones
    later: Dice = ()  # and after that, ascending, value by value
    passing: Dice = ()  # what waits for the other player
    own: bool = True  # the dice are of his own roll; else they were passed on to him
    chain: bool = False  # they are one value of a chain of doubles
    extra: bool = False  # he rolls again if he plays all of his roll
    head_left: int | None = None  # checkers that may leave the head; before a roll what is left of his turn, None: all
    patient: bool = False  # the last of them only when nothing else can be moved


def begin(starter: int) -> Turn:
    """A game in which this player is about to roll."""
    return Turn(starter, starter)


def before_roll(rules: Rules, first_turn: str | None) -> Turn:
    """Player 0 is about to roll: his first turn, or one past all that first turns have of their own."""
    starter = 1 if first_turn == "second" else 0
    return Turn(0, starter, (0 if first_turn else max(1, rules["chain_grace_turns"]), 0))


def rolled(rules: Rules, turn: Turn, position: Position, dice: tuple[int, int]) -> Turn:
    """After the player who acts has rolled `dice`."""
    first, second = dice
    before, double = turn.rolls[turn.player], first == second
    chain = double and rules["chain_moves"] > 0 and before >= rules["chain_grace_turns"]
    moves = rules["chain_moves"] if chain else rules["doubles_moves"]
    now = (first,) * moves if double else (max(dice), min(dice))
    budget, exception = rules["head"] or rules["checkers"], False
    if rules["head"] and before == 0:
        exception = _second_head(rules, position, now, dice, turn.player == turn.starter)
        budget += exception
    if turn.head_left is not None:  # what was passed on cannot use up the exception (A19)
        budget = min(budget, turn.head_left + exception)
    patient = exception and rules["head_exception_mode"] == "last_resort"
    if chain and rules["chain_head"] == "free":
        budget, patient = rules["checkers"], False
    plain_extra = double and rules["extra_roll"] and rules["chain_moves"] == 0
    return Turn(
        player=turn.player,
        starter=turn.starter,
        rolls=(turn.rolls[0] + (turn.player == 0), turn.rolls[1] + (turn.player == 1)),
        now=now,
        later=tuple(value for value in range(first + 1, 7) for _ in range(moves)) if chain else (),
        chain=chain,
        extra=bool(rules["chain_extra_roll"] if chain else plain_extra),
        head_left=budget,
        patient=patient,
    )


def _second_head(rules: Rules, position: Position, now: Dice, dice: tuple[int, int], starts: bool) -> bool:
    """Whether one checker more may leave the head on a first turn (3.3)."""
    low, high = sorted(dice)
    double, rule = low == high, rules["head_exception"]
    listed = {
        "blocked": True,
        "seed_list": (double and low in (3, 4, 6)) or (not starts and (low, high) in [(5, 5), (2, 6)]),
        "d346": double and low in (3, 4, 6),
        "d46": double and low in (4, 6),
        "any_double": double,
        "none": False,
    }[rule]
    if listed and rule in ("blocked", "seed_list"):  # only if one checker cannot play the whole roll
        whole = (low,) * rules["doubles_moves"] if double else now
        return bool(dice_plays(rules, *position, whole, rules["head"], False)[1])
    return listed


def turn_plays(rules: Rules, turn: Turn, position: Position) -> tuple[Plays, Dice]:
    """The plays of `turn.now`, and the dice they leave. Where nothing can be moved there is one without moves."""
    assert turn.head_left is not None
    plays, unused = dice_plays(rules, *position, turn.now, turn.head_left, turn.patient)
    if not (rules["chain_max_scope"] == "chain" and turn.chain and turn.later) or unused:
        return plays, unused
    # Only those after which the most moves of the later values can be made (A23).
    frozen = tuple(sorted(rules.items()))
    lengths = {after: _longest(frozen, _following(rules, turn, position[0], after[0]), after) for after in plays}
    return {after: moves for after, moves in plays.items() if lengths[after] == max(lengths.values())}, unused


def _following(rules: Rules, turn: Turn, before: Side, after: Side) -> Turn:
    """The next value of an own chain after a play that finished the one before it."""
    value = turn.later[0]
    now, later = _split(turn.later, value)
    assert turn.head_left is not None
    left = turn.head_left - (before[HEAD] - after[HEAD] if rules["head"] else 0)
    anew = rules["chain_head"] == "group" and rules["head"] > 0
    return turn._replace(
        now=now, later=later, head_left=rules["head"] if anew else left, patient=turn.patient and not anew
    )


@lru_cache(maxsize=1 << 16)
def _longest(frozen: tuple[tuple[str, Any], ...], turn: Turn, position: Position) -> int:
    """How many steps of a chain can be made before one cannot; all of them if it is won."""
    rules = dict(frozen)
    assert turn.head_left is not None
    plays, unused = dice_plays(rules, *position, turn.now, turn.head_left, turn.patient)
    if any(own[OFF] == rules["checkers"] for own, _ in plays):  # a win leaves nothing to be played
        return len(turn.now) + len(turn.later)
    made = len(turn.now) - len(unused)
    if unused or not turn.later:
        return made
    return made + max(_longest(frozen, _following(rules, turn, position[0], after[0]), after) for after in plays)


def played(rules: Rules, turn: Turn, before: Side, after: Side, unused: Dice) -> Turn:
    """After a play that did not win: it left `after` of the player's side `before`, and these dice of `turn.now`."""
    assert turn.head_left is not None
    left = turn.head_left - (before[HEAD] - after[HEAD] if rules["head"] else 0)
    carried = left if rules["head_budget_scope"] == "whole_turn" else None
    if not turn.own:  # passed dice are played as far as they go, the rest is lost; then comes the roll (6, 7.4)
        if turn.later:
            now, later = _split(turn.later, turn.later[0])
            return turn._replace(now=now, later=later, head_left=left)
        return Turn(turn.player, turn.starter, turn.rolls, head_left=carried)
    passing, later = turn.passing + unused, turn.later
    if unused and rules["chain_break"] != "skip":  # the chain ends (7.3)
        passing, later = passing + later, ()
    turn = turn._replace(passing=passing, later=later)
    if later:
        return _following(rules, turn, before, after)
    passes = rules["pass_when"] == "any_roll" or (rules["pass_when"] == "doubles_only" and len(set(turn.now)) == 1)
    if turn.chain and rules["chain_break"] == "lose_rest":
        passes = False
    other = 1 - turn.player
    if passing and passes:
        both = len(set(turn.now)) == 2 and len(unused) == 2
        now, later = (turn.now, ()) if both else _split(passing, passing[0])
        budget = rules["head"] or rules["checkers"]
        return Turn(other, turn.starter, turn.rolls, now, later, own=False, head_left=budget)
    if turn.extra and not passing:
        return Turn(turn.player, turn.starter, turn.rolls, head_left=carried)
    return Turn(other, turn.starter, turn.rolls)


def _split(dice: Dice, value: int) -> tuple[Dice, Dice]:
    return tuple(die for die in dice if die == value), tuple(die for die in dice if die != value)


def pending(turn: Turn) -> list[int]:
    """What the player who acts has to play, as a network is told: steps of 1…6, then 1 if of his own roll."""
    steps = [(turn.now + turn.later).count(value) for value in range(1, 7)]
    return [*steps, int(turn.own and turn.now != ())]


def points(rules: Rules, loser: Side) -> int:
    """What a won game is worth, the cube aside (8.1)."""
    single, home_mars, koks = rules["single"], rules["home_mars"], rules["koks"]
    only_head = rules["koks_long_area"] == "head" and rules["direction"] == "parallel"
    behind = loser[HEAD] if only_head else sum(loser[19:26])
    worth = single
    if koks and behind and (loser[OFF] == 0 or not rules["koks_requires_none_off"]):
        worth = koks
    elif loser[OFF] == 0:
        worth = home_mars if home_mars and sum(loser[1:7]) == rules["checkers"] else rules["mars"]
    return min(worth, single) if rules["jacoby"] else worth


class Game:
    """A game, decision by decision; the dice are thrown by who plays it.

    game = Game(bot.rules, starter=0)
    while game.winner is None:
        if not game.turn.now:
            game.roll(throw())
        game.play(bot.choose_in(game))
    """

    def __init__(self, rules: Rules, starter: int) -> None:
        side = [0] * 26
        for part in rules["start"].split(","):
            point, count = part.split(":")
            side[int(point)] = int(count)
        self.rules = rules
        self.position: Position = (tuple(side), tuple(side))
        """Row 0 is the player who acts; of a finished game, the winner."""
        self.turn = begin(starter)
        self.winner: int | None = None

    def roll(self, dice: tuple[int, int]) -> None:
        """The player who acts has rolled."""
        if self.turn.now or self.winner is not None:
            raise ValueError("nobody has to roll")
        self.turn = rolled(self.rules, self.turn, self.position, dice)

    def play(self, choice: Choice) -> None:
        """He has made a play."""
        self.winner = self.turn.player if choice.next is None else None
        same = choice.next is None or choice.next.player == self.turn.player
        self.position = choice.position if same else (choice.position[1], choice.position[0])
        self.turn = choice.next or self.turn._replace(now=(), later=())


# Bots


class Choice(NamedTuple):
    """A play."""

    position: Position  # after it, the player who made it in row 0
    moves: tuple[Move, ...]  # (from, to) of each checker, in playing order
    equity: float  # points that he wins on average
    next: Turn | None  # how the game stands then; None: he has won


class Bot:
    """The bot of a bundle. Raises BundleError if the folder holds none, or one that is damaged.

    small: play the network with int8 weights.
    """

    def __init__(self, folder: str | Path, small: bool = False) -> None:
        self.folder = Path(folder)
        self.card = read_card(self.folder)
        self.rules: Rules = self.card["variant"]
        files = {name: _read(self.folder, name) for name in self.card["files"]}
        for name, digest in self.card["files"].items():
            if hashlib.sha256(files[name]).hexdigest() != digest:
                raise BundleError(
                    f"{self.folder / name} is damaged: it is not the file of which card.json has the SHA-256"
                )
        policy = "policy.int8.onnx" if small else "policy.onnx"
        if policy not in files:
            raise BundleError(f"{self.folder} has no {policy}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            self._session = onnxruntime.InferenceSession(files[policy], options, providers=["CPUExecutionProvider"])
        except Exception:  # what onnxruntime raises depends on what is wrong
            raise BundleError(f"{self.folder / policy} is nothing that onnxruntime can load") from None
        told = json.loads(self._session.get_modelmeta().custom_metadata_map.get("nardy_rl", "{}"))
        if told != {"format": FORMAT, "variant": self.rules}:
            raise BundleError(f"{self.folder / 'card.json'} and {policy} are of different variants or formats")

    def rate(self, positions: Any, pending: Any = None) -> tuple[Any, Any]:
        """Nested probabilities float32[N, outputs] and equities float32[N] for row 0 of each position, who acts.

        positions: [N, 2, 26]. pending: [N, 7] as `pending` gives it; None: everybody is about to roll.
        """
        boards: Any = np.array(positions, np.int8).reshape(-1, 2, 26)
        inputs = {"positions": boards}
        if self.card["has_pending"]:
            steps = np.zeros((len(boards), 7)) if pending is None else pending
            inputs["pending"] = np.array(steps, np.int8).reshape(len(boards), 7)
        probabilities, equities = self._session.run(None, inputs)
        return probabilities, equities

    def choose(self, position: Any, dice: tuple[int, int], first_turn: str | None = None) -> Choice:
        """The best play of a roll; of a chain of doubles, that of its first value.

        first_turn: "starter" or "second" if this is the player's first roll of the game (it matters for the head).
        """
        here = _as_position(position)
        return self.choose_turn(here, rolled(self.rules, before_roll(self.rules, first_turn), here, dice))

    def choose_in(self, game: Game) -> Choice:
        """The best play in a game whose dice are thrown."""
        return self.choose_turn(game.position, game.turn)

    def choose_turn(self, position: Position, turn: Turn) -> Choice:
        """The best play of what has to be played now."""
        return max(self.ranked(position, turn), key=lambda choice: choice.equity)

    def ranked(self, position: Position, turn: Turn) -> list[Choice]:
        """All plays of what has to be played now, with their equities."""
        plays, unused = turn_plays(self.rules, turn, position)
        nexts = {
            after: None if after[0][OFF] == self.rules["checkers"]
            else played(self.rules, turn, position[0], after[0], unused)
            for after in plays
        }  # fmt: skip
        going_on = {after: following for after, following in nexts.items() if following}
        acts_again = [following.player == turn.player for following in going_on.values()]
        boards = [after if again else after[::-1] for after, again in zip(going_on, acts_again, strict=True)]
        equities: dict[Position, float] = {}
        if going_on:
            _, rated = self.rate(boards, [pending(following) for following in going_on.values()])
            signed = np.where(acts_again, rated, -rated)
            equities = dict(zip(going_on, signed.tolist(), strict=True))
        return [
            Choice(after, moves, equities.get(after, float(points(self.rules, after[1]))), nexts[after])
            for after, moves in plays.items()
        ]


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a bundle. Raises BundleError if it is none."""
    try:
        card = json.loads(_read(folder, "card.json"))
    except ValueError:
        raise BundleError(f"{folder / 'card.json'} is truncated or no card of a bundle") from None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise BundleError(f"{folder / 'card.json'} is no card of bundle format {FORMAT}, which this client reads")
    rest = {key: value for key, value in card.items() if key != "sha256"}
    if card.get("sha256") != hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest():
        raise BundleError(f"{folder / 'card.json'} is damaged: it is not what was written")
    return card


def _read(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError:
        raise BundleError(f"{folder} is no whole bundle: it has no {name}") from None


def _as_position(rows: Any) -> Position:
    own, opp = ([int(count) for count in row] for row in rows)
    if len(own) != 26 or len(opp) != 26:
        raise ValueError("a position is two rows of 26 counts")
    return tuple(own), tuple(opp)


# The golden cases


def check_golden(bot: Bot, cases: Sequence[dict[str, Any]]) -> tuple[int, float]:
    """How many plays the cases have, and how far the bot's probabilities are from theirs at most.

    Raises BundleError at the first case that does not come out right.
    """
    plays, largest = 0, 0.0
    for number, case in enumerate(cases, start=1):
        try:
            plays += len(case["afterstates"])
            largest = max(largest, _check_case(bot, case))
        except AssertionError as error:
            raise BundleError(f"golden case {number} does not come out right: {error}") from None
    return plays, largest


def _check_case(bot: Bot, case: dict[str, Any]) -> float:
    position, turn = _as_position(case["position"]), turn_of(case)
    if case["standing"]["fresh"]:
        fresh = rolled(bot.rules, before_roll(bot.rules, case["first_turn"]), position, tuple(case["dice"]))
        _demand(fresh._replace(rolls=turn.rolls, starter=turn.starter) == turn, "the roll gives something else to play")
    expected = [_as_position(after) for after in case["afterstates"]]
    found = {choice.position: choice for choice in bot.ranked(position, turn)}
    _demand(found.keys() == set(expected) and len(found) == len(expected), "its plays are others")
    nexts = [found[after].next for after in expected]
    given = case["next"]
    for following in nexts:
        if following is None:
            continue
        said = {"same_player": following.player == 0, "pending": pending(following)}
        _demand(said == given, "it goes on in another way")
    boards = [after if given["same_player"] else after[::-1] for after in expected]
    rated, _ = bot.rate(boards, [given["pending"]] * len(boards))
    open_plays = np.array([following is not None for following in nexts])
    difference = float(np.abs(rated - np.array(case["probabilities"]))[open_plays].max(initial=0))
    _demand(difference <= TOLERANCE, f"a probability differs by {difference:.1e}")
    weight = TOLERANCE * 2 * max(bot.card["levels"])
    for after, following, equity in zip(expected, nexts, case["equities"], strict=True):
        exact = 0.0 if following is None else weight
        _demand(abs(found[after].equity - equity) <= exact, "an equity differs")
    best = max(found.values(), key=lambda choice: choice.equity)
    _demand(best.position == expected[case["choice"]], "another play is chosen")
    return difference


def turn_of(case: dict[str, Any]) -> Turn:
    """How a golden case stands, player 0 to act."""
    given = case["standing"]
    now = tuple(given["now"])
    all_steps = tuple(value for value in range(1, 7) for _ in range(given["steps"][value - 1]))
    later = list(all_steps)
    for die in now:
        later.remove(die)
    passing = tuple(value for value in range(1, 7) for _ in range(given["passing"][value - 1]))
    return Turn(
        0, 0, (1, 1), now, tuple(later), passing, given["own"], given["chain"], given["extra"], given["head_left"],
        given["patient"],
    )  # fmt: skip


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


def main(arguments: list[str]) -> int:
    """Check a bundle; the exit code is 0 if it is as it should be, else 1, and 2 if there is none to check."""
    if len(arguments) != 1:
        print("usage: python nardy_client.py BUNDLE", file=sys.stderr)
        return 2
    try:
        began = time.perf_counter()
        bot = Bot(arguments[0])
        loaded = time.perf_counter()
        lines = (bot.folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()
        cases = [json.loads(line) for line in lines]
        started = time.perf_counter()
        for case in cases:
            bot.choose_turn(_as_position(case["position"]), turn_of(case))
        speed = len(cases) / (time.perf_counter() - started)
    except BundleError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    try:
        plays, largest = check_golden(bot, cases)
    except BundleError as error:
        print(f"error: {bot.folder}: {error}", file=sys.stderr)
        return 1
    print(
        f"{bot.card['name']} ({bot.rules['name']}): {len(cases)} golden cases with {plays:,} plays come out right,"
        f" probabilities within {largest:.0e}; loaded in {1000 * (loaded - began):.0f} ms, {speed:.0f} decisions/s"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
