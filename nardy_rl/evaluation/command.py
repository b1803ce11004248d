"""What evaluate.py does: a match, a round robin, a study of a position, the quality of decisions, or a report card."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from nardy_rl.evaluation.match import check_match, judge_of, play_match
from nardy_rl.evaluation.quality import decisions_path, load_decisions, measure_quality
from nardy_rl.evaluation.report.files import page_path, report_table, write_page
from nardy_rl.evaluation.report.measure import measure, planned_games, subject_of
from nardy_rl.evaluation.report.plots import check_drawing
from nardy_rl.evaluation.results import (
    check_writable,
    match_table,
    result_sheet,
    sequential_sheet,
    sequential_table,
    write_json,
)
from nardy_rl.evaluation.round_robin import check_names, play_round_robin
from nardy_rl.evaluation.sequential import play_until
from nardy_rl.evaluation.study import RolloutOptions, study_plays, study_position
from nardy_rl.evaluation.tables import line_sheet, quality_table, round_robin_table, study_table
from nardy_rl.formats.files import Keep, check_name, writing
from nardy_rl.formats.heading import Heading
from nardy_rl.formats.positions import read_position
from nardy_rl.players.bot import Bot, is_network
from nardy_rl.players.registry import load_player
from nardy_rl.rules.board import draw_text
from nardy_rl.rules.likeness import check_same_rules
from nardy_rl.rules.notation import position_text
from nardy_rl.rules.variant import Variant
from nardy_rl.search.rollout import check_rollout

# What one can ask for: the option that asks, and those that go with it alone.
_TASKS = {
    "bots": ("luck",),
    "position": ("bot", "dice", "first_turn", "rollout", "half_turns"),
    "quality": ("bot",),
    "report": ("page",),
    "a": ("b", "clear_of", "record", "luck"),
}
_NEEDED = {"a": "b", "position": "bot", "quality": "bot"}
_SPECIAL = {option for task, options in _TASKS.items() for option in (task, *options)}
_DEFAULT_VARIANT = "short"  # of the options' file
_WIDEST = 1000  # columns of a table in a file
_DICE = re.compile(r"([1-6])[-:]?([1-6])")


@dataclass
class Options:
    """The options of `configs/evaluate.yaml`, where they are explained."""

    a: str | None = None
    b: str | None = None
    games: int = 10_000
    clear_of: float | None = None
    luck: bool | None = None
    record: str | None = None
    bots: list[str] | None = None
    position: str | None = field(default=None, metadata={"as_typed": True})
    dice: str | None = None
    first_turn: str | None = None
    bot: str | None = None
    rollout: int | None = None
    half_turns: int | None = None
    quality: str | None = None
    report: str | None = None
    page: str | None = None
    seed: int = 1
    workers: int | None = None
    out: str | None = None

    def __post_init__(self) -> None:
        self._check_task()
        check_match(self.games, self.seed, self.workers)
        if self.bots is not None:
            check_names(self.bots)
        if self.dice is not None and not _DICE.fullmatch(self.dice):
            raise ValueError(f"dice are two numbers from 1 to 6, as in dice=31; got {self.dice!r}")
        if self.first_turn not in (None, "starter", "second"):
            raise ValueError(f"first_turn must be starter, second or null; got {self.first_turn!r}")
        if self.half_turns is not None and self.rollout is None:
            raise ValueError("half_turns is of a rollout: write rollout=…, too")
        if self.rollout is not None:
            check_rollout(self.rollout, self.half_turns)
        for path in (self.out, self.record, self.page):
            if path is not None:
                check_writable(Path(path))
        if self.record is not None:
            check_name(Path(self.record))
            if self.out is not None and Path(self.out).resolve() == Path(self.record).resolve():
                raise ValueError(f"out and record name the same file, {self.out}")

    @property
    def task(self) -> str:
        """The option that says what is asked for."""
        return next((task for task in _TASKS if getattr(self, task) is not None), "a")

    def _check_task(self) -> None:
        given = {option for option in _SPECIAL if getattr(self, option) is not None}
        needed = {self.task, _NEEDED.get(self.task, self.task)}
        for option in sorted(needed - given):
            raise ValueError(f"option {option} has no default: write {option}=…")
        for option in sorted(given - {self.task, *_TASKS[self.task]}):
            raise ValueError(f"option {option} does not go with {self.task}=…")


def main(variant: Variant, options: Options) -> None:
    """Do what is asked for, print what came of it, and write it to `out` if asked."""
    tasks = {"a": _match, "bots": _round_robin, "position": _position, "quality": _quality, "report": _report}
    table, sheet = tasks[options.task](variant, options)
    console = Console()
    if not console.is_terminal:  # what is not read on a screen is not folded to fit one
        console = Console(width=max(console.width, Console(width=_WIDEST).measure(table).maximum))
    console.print(table)
    if options.out is not None:
        write_json(Path(options.out), sheet)


def _match(variant: Variant, options: Options) -> tuple[Table, dict[str, Any]]:
    names = str(options.a), str(options.b)
    a, b = (load_player(name, variant) for name in names)
    judge = judge_of(a, b, options.luck)
    games, seed, workers = options.games, options.seed, options.workers
    with _recording(variant, options) as keep, _progress(games) as advance:
        if options.clear_of is None:
            result = play_match(variant, a, b, games, seed, workers, advance, judge, keep)
            return match_table(result, variant, *names), result_sheet(result, variant, *names)
        stopped = play_until(variant, a, b, games, seed, options.clear_of, workers, advance, judge, keep)
    return sequential_table(stopped, variant, *names), sequential_sheet(stopped, variant, *names)


@contextmanager
def _recording(variant: Variant, options: Options) -> Iterator[Keep | None]:
    """What writes the games down, if that is asked for."""
    if options.record is None:
        yield None
        return
    note = f"seed {options.seed}; two games each have the same dice, A begins the first of them and B the second"
    with writing(Path(options.record), Heading(variant, (str(options.a), str(options.b)), note)) as keep:
        yield keep


def _round_robin(variant: Variant, options: Options) -> tuple[Table, dict[str, Any]]:
    players = {name: load_player(name, variant) for name in options.bots or []}
    with _progress(options.games * len(players) * (len(players) - 1) // 2) as advance:
        played = play_round_robin(
            variant, players, options.games, options.seed, options.workers, advance, luck=options.luck
        )
    return (
        round_robin_table(played, variant, options.games, options.seed),
        {"variant": variant.to_dict(), **played.to_dict()},
    )


def _position(variant: Variant, options: Options) -> tuple[Table, dict[str, Any]]:
    bot, (position, dice) = _network(variant, options), read_position(variant, str(options.position))
    rollout = None
    if options.rollout is not None:
        rollout = RolloutOptions(options.rollout, options.half_turns, options.seed, options.workers)
    dice = _read_dice(options.dice) or dice
    if dice is None:
        lines = study_position(bot, variant, position, options.first_turn, rollout)
    else:
        lines = study_plays(bot, variant, position, dice, options.first_turn, rollout)
    print(draw_text(variant, position, dice))
    sheet = {
        "variant": variant.to_dict(),
        "bot": options.bot,
        "position": position_text(position),
        "dice": dice,
        "first_turn": options.first_turn,
        "rollout": options.rollout,
        "half_turns": options.half_turns,
        "seed": options.seed,
        "plays": [line_sheet(line, variant) for line in lines],
    }
    return study_table(lines, variant, f"{options.bot}, cubeless, for X"), sheet


def _quality(variant: Variant, options: Options) -> tuple[Table, dict[str, Any]]:
    name = str(options.quality)
    player = load_player(str(options.bot), variant)
    quality = measure_quality(variant, player, load_decisions(decisions_path(name), variant))
    sheet = {"variant": variant.to_dict(), "bot": options.bot, "decisions_of": name, **quality.to_dict()}
    return quality_table(quality, str(options.bot), name), sheet


def _report(variant: Variant, options: Options) -> tuple[Table, dict[str, Any]]:
    check_drawing()
    subject = subject_of(str(options.report))
    if variant.name != _DEFAULT_VARIANT:  # the bot says what it plays, but must not contradict what was asked for
        check_same_rules(subject.name, subject.variant, variant)
    path = Path(options.page) if options.page else page_path(subject)
    check_writable(path)
    with _progress(planned_games(subject, options.games)) as advance:
        report = measure(subject, options.games, options.seed, options.workers, advance)
    write_page(report, path)
    return report_table(report, path), report.to_dict()


def _network(variant: Variant, options: Options) -> Bot:
    player = load_player(str(options.bot), variant)
    if not is_network(player):
        raise ValueError(f"only a checkpoint, a bundle or a bot in the box rates positions, not {options.bot}")
    return player


def _read_dice(text: str | None) -> tuple[int, int] | None:
    dice = _DICE.fullmatch(text or "")
    return (int(dice[1]), int(dice[2])) if dice else None


@contextmanager
def _progress(games: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, and what moves it on by so many games."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("games", total=games)
        yield lambda more: bar.advance(task, more)
