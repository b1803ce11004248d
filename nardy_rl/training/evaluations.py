"""Evaluation during a run: against random, against the heuristic, and against the best net so far."""

from __future__ import annotations

from dataclasses import dataclass

from nardy_rl.evaluation.match import judge_of, play_match
from nardy_rl.evaluation.statistics import MatchResult
from nardy_rl.players.bot import HEURISTIC, RANDOM, Bot, simple_bot
from nardy_rl.rules.variant import Variant


@dataclass(frozen=True)
class Evaluation:
    """Matches of one net; `best` is None for the first net, which has no better one to face."""

    random: MatchResult
    heuristic: MatchResult
    best: MatchResult | None

    @property
    def is_best(self) -> bool:
        """Whether the net passes the gate: with 95 % confidence better than the best so far."""
        return self.best is None or self.best.lower_bound > 0

    def curves(self) -> dict[str, float]:
        """The results as curves: win rates in 0…1, points per game."""
        values: dict[str, float] = {}
        for name, result in (("random", self.random), ("heuristic", self.heuristic), ("best", self.best)):
            if result is not None:
                values |= {f"win_rate_{name}": result.win_rate, f"points_{name}": result.best_estimate[0]}
        return values

    def __str__(self) -> str:
        text = f"random {self.random.win_rate:.1%}, heuristic {self.heuristic.win_rate:.1%}"
        if self.best is not None:
            text += ", best {:+.4f} ± {:.4f}".format(*self.best.best_estimate)
        return text


def evaluate(variant: Variant, bot: Bot, best: Bot | None, games: int, gate_games: int, seed: int) -> Evaluation:
    """Play on dice of `seed`: `games` each against random and the heuristic, `gate_games` against `best`.

    Only of the latter the luck is judged: the closer the two, the more that is worth.
    """
    random, heuristic = (
        play_match(variant, bot, simple_bot(kind, variant), games, seed) for kind in (RANDOM, HEURISTIC)
    )
    gate = None
    if best is not None:
        gate = play_match(variant, bot, best, gate_games, seed + 1, judge=judge_of(bot, best))
    return Evaluation(random, heuristic, gate)
