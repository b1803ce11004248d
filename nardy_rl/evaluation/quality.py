"""How well a player decides: points lost, by the word of a stronger judge, on decisions that are kept in a file.

A set of decisions is a text file with a JSON value a line. The first line describes the set; every other one is a roll
with at least two plays:

    {"position": "X=24:2,13:5,…; O=…", "dice": "31", "loss": {"8/5 6/5": 0, "24/20": 0.1732}, "rough": {…}}

`loss` says of the plays that the judge looked at closely by how much each is behind his best, in points; `rough` of all
others, as he sees them at a glance. In games with a rule about first turns `first_turn` is "starter" or "second".
`benchmarks.decisions` makes such files.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nardy_rl.evaluation.outside import decider
from nardy_rl.players.registry import Player
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.notation import parse_position, play_text, read_play
from nardy_rl.rules.plays import check_dice, legal_plays, standing_before
from nardy_rl.rules.position import Position
from nardy_rl.rules.protocol import list_plays, take_dice
from nardy_rl.rules.variant import Variant, variant_from_dict

KIND, FORMAT = "nardy_rl decisions", 1
FOLDER = Path(__file__).parent / "decisions"
"""Where the sets in the box lie, each named after its variant."""

_OBVIOUS = 0.1  # points that the second best play is behind where anybody sees the best
_INDIFFERENT = 0.02  # points that the worst play is behind where it does not matter
_BEST = 0.0005  # points behind the best that are none


@dataclass(frozen=True)
class Decision:
    """A roll, and how good its plays are."""

    position: Position
    dice: tuple[int, int]
    first_turn: str | None
    losses: NDArray[np.float64]
    """[plays], in the order of `legal_plays`: points behind the best."""
    rough: NDArray[np.bool_]
    """[plays]: whether the judge only glanced at it."""

    @property
    def is_hard(self) -> bool:
        """Whether it matters what is played, and the best play does not stand far above all others."""
        ranked = np.sort(self.losses)
        return bool(ranked[1] <= _OBVIOUS and ranked[-1] >= _INDIFFERENT)


@dataclass(frozen=True)
class Decisions:
    """A set of decisions, and who judged it."""

    judge: str
    decisions: list[Decision]


@dataclass(frozen=True, kw_only=True)
class Quality:
    """What a player lost on a set, in points. Errors are standard errors, as if decisions were independent."""

    decisions: int
    points_lost: float
    """A decision, on average over all."""
    error: float
    hard_decisions: int
    hard_points_lost: float
    """On average over those that are neither obvious nor indifferent (`Decision.is_hard`)."""
    hard_error: float
    best_rate: float
    """How often the play was as good as the best."""
    rough_rate: float
    """How often the play was one that the judge only glanced at."""
    judge: str

    def to_dict(self) -> dict[str, Any]:
        """All fields in types that JSON knows."""
        return asdict(self)


def decisions_path(name: str) -> Path:
    """The file of a set: of one in the box by its name, else the path itself. Raises ValueError if there is none."""
    path = FOLDER / f"{name}.jsonl" if "." not in name else Path(name)
    if not path.is_file():
        boxed = ", ".join(sorted(file.stem for file in FOLDER.glob("*.jsonl")))
        raise ValueError(f"there are no decisions {name!r}; known are {boxed}, and files by their path (*.jsonl)")
    return path


def load_decisions(path: Path, variant: Variant) -> Decisions:
    """The set in a file, which must be one of `variant`. Raises ValueError naming the line and its fault."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read the decisions {path}: {error}") from None
    decisions = []
    for number, line in enumerate(lines, 1):
        try:
            sheet = json.loads(line)
            if number == 1:
                judge = _read_head(sheet, variant)
            else:
                decisions.append(_read_decision(sheet, variant))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            said = f"lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
            raise ValueError(f"{path}, line {number}: {said}") from None
    if len(decisions) < 2:
        raise ValueError(f"{path} holds {len(decisions)} decisions; two or more are needed")
    return Decisions(judge, decisions)


def measure_quality(variant: Variant, player: Player, decisions: Decisions) -> Quality:
    """Ask a player for all decisions of a set."""
    chosen = np.array(list(_choices(variant, player, decisions.decisions)))
    hard = np.array([decision.is_hard for decision in decisions.decisions])
    losses = np.array([decision.losses[play] for decision, play in zip(decisions.decisions, chosen, strict=True)])
    rough = [decision.rough[play] for decision, play in zip(decisions.decisions, chosen, strict=True)]
    lost, error = _mean(losses)
    hard_lost, hard_error = _mean(losses[hard])
    return Quality(
        decisions=len(losses), points_lost=lost, error=error,
        hard_decisions=int(hard.sum()), hard_points_lost=hard_lost, hard_error=hard_error,
        best_rate=float((losses <= _BEST).mean()), rough_rate=float(np.mean(rough)), judge=decisions.judge,
    )  # fmt: skip


def _choices(variant: Variant, player: Player, decisions: list[Decision]) -> Iterator[int]:
    decide, plays = decider(player, variant), new_plays()
    for number, decision in enumerate(decisions):
        board = decision.position.board()
        standing = standing_before(decision.first_turn, variant.rules)
        standing = take_dice(standing, board, *decision.dice, variant.rules, plays)
        size, depth, left_over = list_plays(standing, board, variant.rules, plays)
        yield decide(board, plays, size, depth, left_over, standing, 0, number)


def _mean(losses: NDArray[np.float64]) -> tuple[float, float]:
    """The mean and its standard error; of fewer than two losses there is none."""
    if len(losses) < 2:
        return math.nan, math.nan
    return float(losses.mean()), float(losses.std(ddof=1) / math.sqrt(len(losses)))


def _read_head(sheet: Any, variant: Variant) -> str:
    """The judge's name. Raises ValueError, KeyError or TypeError as the rest of reading does."""
    if not isinstance(sheet, dict) or sheet.get("kind") != KIND:
        raise ValueError("these are no decisions of nardy_rl")
    if sheet["format"] != FORMAT:
        raise ValueError(f"decisions of format {sheet['format']}; this version reads format {FORMAT}")
    of = variant_from_dict(sheet["variant"])
    if of != variant:
        raise ValueError(f"decisions of variant {of.name}, not of {variant.name} as it is played here")
    return str(sheet["judge"])


def _read_decision(sheet: Any, variant: Variant) -> Decision:
    position = parse_position(variant, sheet["position"])
    first, second = map(int, sheet["dice"])
    dice = check_dice((first, second))
    first_turn = sheet.get("first_turn")
    legal = legal_plays(variant, position, dice, first_turn)
    losses, rough = np.full(len(legal), np.nan), np.zeros(len(legal), np.bool_)
    for kind in ("loss", "rough"):
        for text, loss in sheet[kind].items():
            index = read_play(legal, position, text, sheet["dice"])
            losses[index], rough[index] = float(loss), kind == "rough"
    if len(legal) < 2 or np.isnan(losses).any():
        unknown = next((play_text(legal[index]) for index in np.flatnonzero(np.isnan(losses))), "a second play")
        raise ValueError(f"nothing is said about {unknown}")
    return Decision(position, dice, first_turn, losses, rough)
