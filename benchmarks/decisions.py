"""Make a set of decisions for `evaluate.py quality=`: `python -m benchmarks.decisions --help`.

Rolls are drawn from games of a network against an opponent, from both seats. A judge looks closely at the plays that
are near his best at a glance: gnubg-nn at 2 plies (glance: 0 plies), or rollouts of a network (glance: the network).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from rich.progress import track

from nardy_rl.cli import BAD_INPUT, one_line
from nardy_rl.evaluation.outside import GameLog, decider, play_asked
from nardy_rl.evaluation.quality import FORMAT, KIND
from nardy_rl.files import replacing
from nardy_rl.players.analysis import RatedPlay, rank_plays
from nardy_rl.players.bot import Bot, is_network
from nardy_rl.players.gnubg import engine_equity
from nardy_rl.players.registry import load_player
from nardy_rl.rules.dice import below, game_roll, stream
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.notation import play_text, position_text
from nardy_rl.rules.position import OFF, Position
from nardy_rl.rules.variant import Variant, variant
from nardy_rl.search.rollout import roll_out

_EVERY = 12  # one roll in so many is drawn
_MARGIN = 0.15  # points behind the best at a glance up to which a play is looked at closely
_DIGITS = 4
_TRAINED = "a checkpoint, a bundle, or one in the box"


class Judge(NamedTuple):
    """Who judges plays: his name, and the equity of who acts next after one, looked at closely and at a glance."""

    name: str
    closely: Callable[[RatedPlay], float]
    glance: Callable[[RatedPlay], float]


class Roll(NamedTuple):
    """A roll in a game; row 0 of the position is on roll."""

    position: Position
    dice: tuple[int, int]
    first_turn: str | None


def gnubg_judge(plies: int) -> Judge:
    """GNU Backgammon's networks."""
    return Judge(
        f"gnubg-nn {version('gnubg-nn')}, {plies} plies",
        lambda play: engine_equity(play.board, plies),
        lambda play: engine_equity(play.board, 0),
    )


def rollout_judge(rules: Variant, name: str, bot: Bot, trials: int, seed: int) -> Judge:
    """Rollouts of a network; `name` is the bot's."""

    def closely(play: RatedPlay) -> float:
        return roll_out(rules, bot.rater, play.board, play.coming, trials, seed, plies=bot.plies).equity

    def glance(play: RatedPlay) -> float:
        return play.equity if play.coming.seat == 0 else -play.equity

    return Judge(f"rollouts of {Path(name).name}, {trials} trials", closely, glance)


def drawn_rolls(rules: Variant, a: Any, b: Any, seed: int) -> Iterator[Roll]:
    """Different rolls from games of A against B, who begin in turn, without end."""
    deciders, plays, seen = (decider(a, rules), decider(b, rules)), new_plays(), set()
    game = 0
    while True:
        dice_key = stream(seed, game)
        log = GameLog()
        play_asked(rules, deciders[game % 2], deciders[1 - game % 2], dice_key, plays, log)
        for number, drawn in enumerate(_rolls_of(rules, log, dice_key)):
            if below(stream(dice_key, 1), number, _EVERY) == 0 and drawn not in seen:
                seen.add(drawn)
                yield drawn
        game += 1


def _rolls_of(rules: Variant, log: GameLog, dice_key: int) -> Iterator[Roll]:
    """All rolls of a game that seat 0 began."""
    rolls = [0, 0]
    for board, pending, seat in zip(log.positions, log.pending, log.seats, strict=True):
        if pending:
            continue
        first, second = game_roll(dice_key, sum(rolls), rules.rules.lottery_opening)
        first_turn = None if rolls[seat] else "second" if seat else "starter"
        yield Roll(Position(board), (max(first, second), min(first, second)), first_turn)
        rolls[seat] += 1


def judged(rules: Variant, ranker: Bot, judge: Judge, drawn: Roll) -> dict[str, Any] | None:
    """A line of the file; None for a roll with a single play. The ranker lists the plays; a network that judges does so
    itself, since its glance is how it ranks them."""
    plays = rank_plays(ranker, rules, *drawn)
    if len(plays) < 2:
        return None
    glance = {play: _of_mover(play, judge.glance, rules) for play in plays}
    close = [play for play in plays if glance[play] >= max(glance.values()) - _MARGIN]
    closely = {play: _of_mover(play, judge.closely, rules) for play in close} if len(close) > 1 else glance
    best = max(close, key=lambda play: closely[play])
    sheet: dict[str, Any] = {"position": position_text(drawn.position), "dice": "{}{}".format(*drawn.dice)}
    if drawn.first_turn and rules.head:
        sheet["first_turn"] = drawn.first_turn
    sheet["loss"] = {play_text(play.play): _rounded(closely[best] - closely[play]) for play in close}
    rest = [play for play in plays if play not in close]
    # Behind the best play, not behind what looked best at a glance: rather too little than too much.
    sheet["rough"] = {play_text(play.play): _rounded(glance[best] - glance[play]) for play in rest}
    return sheet


def _of_mover(play: RatedPlay, of_next: Callable[[RatedPlay], float], rules: Variant) -> float:
    """The mover's equity, from a function that gives that of who acts next; of a won game the points."""
    if play.play.after.array[0, OFF] == rules.checkers:
        return play.equity
    return of_next(play) if play.coming.seat == 0 else -of_next(play)


def _rounded(loss: float) -> float:
    return round(max(loss, 0.0), _DIGITS)


def main() -> None:
    """Make the file that the command line asks for. A mistake in it is one line, and exit code 2."""
    try:
        _make(_options())
    except (ValueError, OSError) as error:
        print(f"error: {one_line(error)}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None


def _make(options: argparse.Namespace) -> None:
    rules = variant(options.variant)
    bot, opponent = load_player(options.bot, rules), load_player(options.opponent, rules)
    if not is_network(bot):
        raise ValueError(f"--bot must be a trained bot: {_TRAINED}")
    if options.judge == "gnubg":
        judge, ranker = gnubg_judge(2), bot
    else:
        judging = load_player(options.judge, rules)
        if not is_network(judging):
            raise ValueError(f"--judge must be gnubg or a trained bot: {_TRAINED}")
        judge, ranker = rollout_judge(rules, options.judge, judging, options.trials, options.seed), judging
    source = f"games of {Path(options.bot).name} against {options.opponent}, seed {options.seed}"
    head = {"kind": KIND, "format": FORMAT, "judge": judge.name, "source": source, "variant": rules.to_dict()}
    sheets = (judged(rules, ranker, judge, drawn) for drawn in drawn_rolls(rules, bot, opponent, options.seed))
    lines = [head]
    for _ in track(range(options.number)):
        lines.append(next(sheet for sheet in sheets if sheet))
    with replacing(Path(options.out)) as file:
        for line in lines:
            file.write(json.dumps(line, separators=(", ", ": ")).encode() + b"\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.decisions", description=__doc__)
    parser.add_argument("--variant", default="short")
    parser.add_argument("--bot", required=True, help=f"the trained bot that plays: {_TRAINED}")
    parser.add_argument("--opponent", default="gnubg:0", help="whom it plays")
    parser.add_argument("--judge", default="gnubg", help="gnubg (2 plies), or a trained bot whose rollouts judge")
    parser.add_argument("--trials", type=int, default=1296, help="of each rollout")
    parser.add_argument("--number", type=int, default=1000, help="how many decisions")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", required=True, help="the file to write")
    return parser.parse_args()


if __name__ == "__main__":
    main()
