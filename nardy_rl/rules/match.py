"""The doubling cube and matches to a number of points (rules 8.2, 8.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nardy_rl.rules.variant import Variant


@dataclass(frozen=True)
class Cube:
    """The doubling cube: its value, and the seat (0 or 1) of its owner, None while it is centred."""

    value: int = 1
    owner: int | None = None

    def may_double(self, variant: Variant, seat: int) -> bool:
        """Whether `seat` may offer to double, before rolling."""
        return variant.cube and self.value < variant.cube_max and self.owner in (None, seat)

    def accepted(self, taker: int) -> Cube:
        """After `taker` took the double: twice the stake, and the cube is his."""
        return Cube(self.value * 2, taker)

    def beavered(self, variant: Variant, taker: int) -> Cube:
        """After `taker` took and at once redoubled, keeping the cube. Raises ValueError if the variant has none."""
        if not variant.beaver:
            raise ValueError(f"variant {variant.name} has no beavers (option beaver, rule A12)")
        return Cube(self.value * 4, taker)

    def dropped(self) -> tuple[str, int]:
        """Class and points for the player whose double was refused: the stake before doubling."""
        return "drop", self.value

    @classmethod
    def after_lottery(cls, variant: Variant, ties: int) -> Cube:
        """The cube at the first roll: each of the first `auto_doubles` tied lotteries has doubled it."""
        return cls(min(2 ** min(ties, variant.auto_doubles), variant.cube_max))


@dataclass(frozen=True)
class Match:
    """A match to `length` points between seats 0 and 1; `crawford` is true in the one game without the cube."""

    length: int
    scores: tuple[int, int] = (0, 0)
    crawford: bool = False
    crawford_played: bool = False

    def __post_init__(self) -> None:
        if self.length < 1 or min(self.scores) < 0:
            raise ValueError(f"a match needs a positive length and scores from 0, not {self.length} and {self.scores}")

    @property
    def winner(self) -> int | None:
        """The seat that has won the match, None while it goes on."""
        for seat in (0, 1):
            if self.scores[seat] >= self.length:
                return seat
        return None

    def may_double(self, variant: Variant, cube: Cube, seat: int) -> bool:
        """Whether `seat` may offer to double: never in the Crawford game, never for points that win nothing more."""
        wins_already = self.scores[seat] + cube.value >= self.length
        return not self.crawford and not wins_already and cube.may_double(variant, seat)

    def after_game(self, variant: Variant, winner: int, points: int) -> Match:
        """The match after seat `winner` won `points`; the next game is the Crawford game if it has to be."""
        scores = list(self.scores)
        scores[winner] += points
        played = self.crawford_played or self.crawford
        crawford = variant.crawford and not played and self.length - 1 in scores
        return replace(self, scores=(scores[0], scores[1]), crawford=crawford, crawford_played=played)


def next_starter(variant: Variant, winner: int, starter: int) -> int | None:
    """The seat that starts the game after one that `winner` won and `starter` began; None: by lottery (A3)."""
    return {"lottery": None, "winner": winner, "alternate": 1 - starter}[variant.next_starter]
