"""What a report card says of a trained bot: matches, self-play, decisions, openings, and how it came there."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nardy_rl.evaluation.bands import statistics_of
from nardy_rl.evaluation.match import Progress, judge_of, play_match
from nardy_rl.evaluation.quality import FOLDER, Quality, load_decisions, measure_quality
from nardy_rl.evaluation.statistics import MatchResult
from nardy_rl.players.analysis import first_rolls, rank_plays
from nardy_rl.players.bot import Bot
from nardy_rl.players.box import BOX, HISTORY, boxed, run_options
from nardy_rl.players.gnubg import engine_equity, is_installed
from nardy_rl.players.registry import load_player, locate
from nardy_rl.rules.notation import play_text
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import Variant, variant

_SHARE = 5  # matches with look-ahead, and against the simple bots, have so many times fewer games
_ALONE = 10  # against itself it has so many times more, since luck is not taken off there
_BOOK_PLIES = 2
_ENGINE_PLIES = 2


@dataclass(frozen=True)
class Subject:
    """A trained bot, and what its files tell of it."""

    name: str
    variant: Variant
    hidden: tuple[int, ...]
    parameters: int
    games: int
    """Of self-play, from which it has learnt …"""
    seconds: float
    """… in so long."""
    options: dict[str, Any]
    """Of its run; empty if they are not known."""
    earlier: dict[int, Path]
    """The checkpoints of its run by their games, those that had fewer."""


@dataclass(frozen=True)
class Bout:
    """A match, by the names of those who played it."""

    a: str
    b: str
    result: MatchResult


@dataclass(frozen=True)
class Earlier:
    """A net of the same run, and how the bot of the report fares against it."""

    games: int
    seconds: float
    bout: Bout


@dataclass(frozen=True)
class Opening:
    """The play for a first roll, seen two rolls ahead."""

    dice: tuple[int, int]
    play: str
    equity: float
    second: str | None
    """The next best play, if there is one, and how far it is behind."""
    behind: float
    engine: str | None
    """The play of GNU Backgammon, where it knows the game, and what ours loses in its eyes, in points."""
    lost: float | None


@dataclass(frozen=True)
class Report:
    """A whole report card."""

    subject: Subject
    seed: int
    bouts: list[Bout]
    earlier: list[Earlier]
    self_play: dict[str, float]
    """By the names of `bands.STATISTICS`."""
    self_play_games: int
    quality: Quality | None
    openings: list[Opening]

    def to_dict(self) -> dict[str, Any]:
        """Everything in types that JSON knows."""
        sheet = asdict(self)
        sheet["subject"] |= {"variant": self.subject.variant.to_dict()}
        del sheet["subject"]["earlier"]
        return sheet


def duration(seconds: float) -> str:
    """A time of training in words."""
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{seconds:.0f} seconds"
    return f"{minutes} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"


def subject_of(name: str) -> Subject:
    """The bot called `name`. Raises ValueError unless that is a checkpoint, or one in the box, without look-ahead."""
    from nardy_rl.network.checkpoint import load_checkpoint  # the rest of this floor needs no torch

    path, plies = locate(name)
    if plies or Path(path).suffix != ".pt":
        raise ValueError(f"a report is about a checkpoint or a bot in the box ({', '.join(boxed())}), not {name}")
    checkpoint = load_checkpoint(path)
    folder = Path(path).parent
    history = {int(file.stem): file for file in (folder / HISTORY).glob("*.pt") if file.stem.isdigit()}
    earlier = {games: history[games] for games in sorted(history) if games < checkpoint.games}
    return Subject(
        name, checkpoint.variant, checkpoint.net.hidden, sum(part.numel() for part in checkpoint.net.parameters()),
        checkpoint.games, checkpoint.seconds, run_options(Path(path), checkpoint.variant), earlier,
    )  # fmt: skip


def planned_games(subject: Subject, games: int) -> int:
    """How many games `measure` plays in all: for a bar that shows progress."""
    return sum(number for _, _, number in _fixtures(subject, games)) + games * (_ALONE + len(subject.earlier))


def measure(subject: Subject, games: int, seed: int, workers: int | None, progress: Progress) -> Report:
    """Measure everything. games: of a match between bare networks; other matches have a fifth of it, self-play tenfold.

    Arguments and errors otherwise as for `match.play_match`.
    """
    rules, name = subject.variant, subject.name

    def bout(a: str, b: str, number: int, path: Path | None = None) -> Bout:
        one, other = load_player(a, rules), load_player(b if path is None else str(path), rules)
        return Bout(a, b, play_match(rules, one, other, number, seed, workers, progress, judge_of(one, other)))

    bouts = [bout(a, b, number) for a, b, number in _fixtures(subject, games)]
    earlier = []
    for learnt, path in subject.earlier.items():
        earlier.append(Earlier(learnt, subject_of(str(path)).seconds, bout(name, _shown(path), games, path)))
    bot = load_player(name, rules)
    alone = play_match(rules, bot, bot, _ALONE * games, seed, workers, progress)
    quality = None
    decisions = FOLDER / f"{rules.name}.jsonl"
    if decisions.is_file() and rules == variant(rules.name):
        quality = measure_quality(rules, bot, load_decisions(decisions, rules))
    return Report(
        subject, seed, bouts, earlier, self_play_statistics(rules, alone), alone.games, quality, opening_book(subject)
    )


def _fixtures(subject: Subject, games: int) -> list[tuple[str, str, int]]:
    """Who plays whom, and how many games, besides matches against the earlier nets."""
    name, ahead, few = subject.name, f"{subject.name}@1", max(4, games // _SHARE // 2 * 2)
    fixtures = [(name, simple, few) for simple in ("random", "heuristic")]
    if _engine_plays(subject.variant):
        fixtures += [(name, "pubeval", games), (name, "gnubg:0", games), (ahead, "gnubg:0", few)]
    return [*fixtures, (ahead, name, few)]


def _engine_plays(rules: Variant) -> bool:
    return is_installed() and rules.rules == variant("short").rules


def _shown(path: Path) -> str:
    """A path as one types it in the repository."""
    return str(path.relative_to(BOX.parent) if path.is_relative_to(BOX) else path)


def self_play_statistics(rules: Variant, result: MatchResult) -> dict[str, float]:
    """The `bands.STATISTICS` that the variant has, from a match of a bot against itself."""
    won: Counter[int] = Counter()
    for name, points in zip(rules.class_names, (rules.single, rules.mars, rules.home_mars, rules.koks), strict=True):
        won[points] += result.classes_a.get(name, 0) + result.classes_b.get(name, 0)
    shares = {points: count / result.games for points, count in won.items()}
    return statistics_of(rules, result.first_mover_win_rate, result.mean_turns, result.pass_rate, shares)


def opening_book(subject: Subject) -> list[Opening]:
    """The plays for all first rolls, seen two rolls ahead."""
    rules = subject.variant
    bot = load_player(f"{subject.name}@{_BOOK_PLIES}", rules)
    assert isinstance(bot, Bot)
    return [_opening(bot, rules, dice) for dice in first_rolls(rules)]


def _opening(bot: Bot, rules: Variant, dice: tuple[int, int]) -> Opening:
    ranked = rank_plays(bot, rules, Position.start(rules), dice, "starter")
    best, second = ranked[0], ranked[1] if len(ranked) > 1 else None
    engine, lost = None, None
    if _engine_plays(rules):
        judged = [-engine_equity(rated.board, _ENGINE_PLIES) for rated in ranked]
        engine, lost = play_text(ranked[judged.index(max(judged))].play), max(judged) - judged[0]
    return Opening(
        dice, play_text(best.play), best.equity, play_text(second.play) if second else None,
        best.equity - second.equity if second else 0.0, engine, lost,
    )  # fmt: skip
