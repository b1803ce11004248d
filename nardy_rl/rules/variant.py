"""A variant of the game: every rule option as one validated field, presets, and the YAML rule sheet."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from nardy_rl.rules.compact import CHAIN_BREAKS, CHAIN_HEADS, HEAD_EXCEPTIONS, MAX_SCOPES, PASS_WHEN, PRIME_RULES, Rules

NO_POINTS = 0  # a result class that the variant does not know


def _choice(default: str, rule: str, *others: str) -> Any:
    return field(default=default, metadata={"rule": rule, "choices": (default, *others)})


def _number(default: int, rule: str, low: int, high: int) -> Any:
    return field(default=default, metadata={"rule": rule, "low": low, "high": high})


def _switch(default: bool, rule: str) -> Any:
    return field(default=default, metadata={"rule": rule})


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The rules of one game. `rule` in a field's metadata is its row in section 9 of the rules.

    Positions are in each player's own numbering: 24 is the farthest point (the head), 6…1 are home, 25 the bar,
    0 borne off. Raises ValueError naming option, rule and value when an option is out of its range.
    """

    name: str = "house"
    checkers: int = _number(15, "1", 1, 15)
    start: str = field(default="24:15", metadata={"rule": "1"})
    direction: str = _choice("parallel", "1", "contrary")
    hit: bool = _switch(False, "4.4")
    head: int = _number(1, "3.3", 0, 4)  # checkers that may leave 24 in a turn; 0: no head rule
    head_exception: str = _choice("blocked", "A4", *HEAD_EXCEPTIONS[1:])
    head_exception_mode: str = _choice("allowance", "A5", "last_resort")
    prime_rule: str = _choice("ahead", "A6", "home", "forbid", "off")
    prime_check: str = _choice("each_step", "A7", "turn_end")
    prime_edge: str = _choice("linear", "A8", "closed")  # closed: a run over his 1 and 24 needs one of his off
    doubles_moves: int = _number(4, "A1", 2, 4)
    opening: str = _choice("reroll", "A2", "use_lottery")
    next_starter: str = _choice("lottery", "A3", "winner", "alternate")
    bearoff: str = _choice("standard", "A13", "exact_only")
    bearoff_ban: str = _choice("all_home", "A13", "each_checker")  # exact_only: when moves inside home are banned
    bearoff_from_higher: bool = _switch(False, "A14")
    single: int = _number(1, "A9", 1, 9)
    mars: int = _number(2, "A9", 1, 9)
    home_mars: int = _number(2, "A9", NO_POINTS, 9)
    koks: int = _number(NO_POINTS, "A9", NO_POINTS, 9)
    koks_long_area: str = _choice("first_quarter", "A10", "head")
    koks_requires_none_off: bool = _switch(True, "A11")
    pass_when: str = _choice("never", "A16", "any_roll", "doubles_only")
    head_budget_scope: str = _choice("segment", "A19", "whole_turn")
    extra_roll: bool = _switch(False, "A20")
    chain_moves: int = _number(0, "A21", 0, 4)  # moves of each value in a chain of doubles; 0: doubles do not chain
    chain_break: str = _choice("pass_rest", "A22", "skip", "lose_rest")
    chain_max_scope: str = _choice("group", "A23", "chain")  # what the most moves are counted over
    chain_head: str = _choice("roll", "A24", "group", "free")
    chain_grace_turns: int = _number(0, "A25", 0, 99)
    chain_extra_roll: bool = _switch(False, "A26")
    cube: bool = _switch(False, "A12")
    cube_max: int = _number(64, "8.2", 1, 4096)
    beaver: bool = _switch(False, "A12")
    jacoby: bool = _switch(False, "A12")
    crawford: bool = _switch(True, "A12")
    auto_doubles: int = _number(0, "A12", 0, 6)

    def __post_init__(self) -> None:
        for option in dataclasses.fields(self):
            _check_option(option, getattr(self, option.name))
        self._check_start()
        if self.cube_max & (self.cube_max - 1):
            raise ValueError(_complaint("cube_max", "8.2", "must be a power of two", self.cube_max))
        if self.head and self.hit:
            # A checker entering from the bar can come back to 24: "left the head" would need a memory of its own.
            raise ValueError(_complaint("head", "3.3", "must be 0 in a variant with hits (hit: true)", self.head))
        # Fewer moves of one value, for more of the next or for a win, could be right then: no source says if they are.
        for other, value in (("chain_break", "skip"), ("bearoff_from_higher", True)):
            if self.chain_max_scope == "chain" and getattr(self, other) == value:
                demand = f"must be group in a variant with {other}={str(value).lower()}"
                raise ValueError(_complaint("chain_max_scope", "A23", demand, self.chain_max_scope))
        if not self.single <= self.mars:
            raise ValueError(_complaint("mars", "A9", f"must be at least single={self.single}", self.mars))

    def _check_start(self) -> None:
        total = sum(self.start_points.values())
        if total != self.checkers:
            raise ValueError(
                _complaint("start", "1", f"must place checkers={self.checkers} in all, not {total}", self.start)
            )
        crossed = [point for point in self.start_points if self.mirror(point) in self.start_points]
        if crossed:
            raise ValueError(_complaint("start", "1", f"puts both sides on point {crossed[0]}", self.start))

    @cached_property
    def start_points(self) -> dict[int, int]:
        """Where each player's checkers stand at the start: point -> count, in his own numbering."""
        points: dict[int, int] = {}
        for part in self.start.split(","):
            try:
                point, count = (int(number) for number in part.split(":"))
            except ValueError:
                raise ValueError(_complaint("start", "1", "must read like 24:2,13:5", self.start)) from None
            if not 1 <= point <= 24 or count < 1 or point in points:
                raise ValueError(_complaint("start", "1", "must name points 1 to 24 once each", self.start))
            points[point] = count
        return points

    def mirror(self, point: int) -> int:
        """The other player's number for my point 1…24 (rules 1)."""
        if self.direction == "contrary":
            return 25 - point
        return point + 12 if point <= 12 else point - 12

    @property
    def block_threshold(self) -> int:
        """How many enemy checkers close a point (A15)."""
        return 2 if self.hit else 1

    @property
    def class_names(self) -> tuple[str, str, str, str]:
        """What this variant calls the result classes single, mars, home mars and koks (rules 8.1)."""
        if self.direction == "contrary":
            return "single", "gammon", "home_gammon", "backgammon"
        return "oin", "mars", "home_mars", "koks"

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The distinct points a game can be worth, ascending: short (1, 2, 3), long (1, 2)."""
        return tuple(sorted(set(self._cubeless_points) - {NO_POINTS}))

    @property
    def _cubeless_points(self) -> tuple[int, ...]:
        """Points of single, mars, home mars and koks while the cube is centred: with Jacoby all single (8.2)."""
        points = (self.single, self.mars, self.home_mars, self.koks)
        return tuple(min(value, self.single) for value in points) if self.jacoby else points

    @property
    def outputs(self) -> int:
        """How many nested probabilities describe a position's outcome: P(win ≥ level), P(loss ≥ level > lowest)."""
        return 2 * len(self.levels) - 1

    @property
    def has_pending(self) -> bool:
        """Whether a player can have dice to play that are not of a fresh roll: passed on to him, or of a chain."""
        return self.pass_when != "never" or self.chain_moves > 0

    @cached_property
    def rules(self) -> Rules:
        """The variant as the compiled core reads it."""
        exact = self.bearoff == "exact_only"
        single, mars, home_mars, koks = self._cubeless_points
        return Rules(
            checkers=self.checkers,
            contrary=int(self.direction == "contrary"),
            hit=int(self.hit),
            head=self.head,
            head_exception=HEAD_EXCEPTIONS.index(self.head_exception),
            last_resort=int(self.head_exception_mode == "last_resort"),
            prime=PRIME_RULES.index(self.prime_rule),
            prime_turn_end=int(self.prime_check == "turn_end"),
            prime_closed_edge=int(self.prime_edge == "closed"),
            doubles_moves=self.doubles_moves,
            exact_bearoff=exact * (2 if self.bearoff_ban == "each_checker" else 1),
            from_higher=int(self.bearoff_from_higher),
            any_order=int(exact or self.bearoff_from_higher),
            lottery_opening=int(self.opening == "use_lottery"),
            single=single,
            mars=mars,
            home_mars=home_mars,
            koks=koks,
            koks_head_only=int(self.koks_long_area == "head" and self.direction == "parallel"),
            koks_needs_none_off=int(self.koks_requires_none_off),
            pass_when=PASS_WHEN.index(self.pass_when),
            head_whole_turn=int(self.head_budget_scope == "whole_turn"),
            extra_roll=int(self.extra_roll),
            chain_moves=self.chain_moves,
            chain_break=CHAIN_BREAKS.index(self.chain_break),
            chain_max_scope=MAX_SCOPES.index(self.chain_max_scope),
            chain_head=CHAIN_HEADS.index(self.chain_head),
            chain_grace_turns=self.chain_grace_turns,
            chain_extra_roll=int(self.chain_extra_roll),
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole rule sheet in plain types: `Variant(**sheet)` gives the same variant."""
        return dataclasses.asdict(self)

    def to_yaml(self) -> str:
        """The whole rule sheet as YAML, as `load_variant` reads it."""
        return yaml.safe_dump(self.to_dict(), sort_keys=False)


def _complaint(option: str, rule: str, demand: str, value: object) -> str:
    return f"option {option} (rule {rule}) {demand}; got {value!r}"


def _check_option(option: dataclasses.Field[Any], value: object) -> None:
    rule = option.metadata.get("rule", "1")
    if "choices" in option.metadata:
        choices = option.metadata["choices"]
        if value not in choices:
            raise ValueError(_complaint(option.name, rule, f"must be one of {', '.join(choices)}", value))
    elif "low" in option.metadata:
        low, high = option.metadata["low"], option.metadata["high"]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(_complaint(option.name, rule, f"must be a whole number from {low} to {high}", value))
    elif isinstance(option.default, bool):
        if not isinstance(value, bool):
            raise ValueError(_complaint(option.name, rule, "must be true or false", value))
    elif not isinstance(value, str) or not value:
        raise ValueError(_complaint(option.name, rule, "must be a text", value))


_LONG = Variant(name="long")
_SHORT = Variant(
    name="short",
    start="24:2,13:5,8:3,6:5",
    direction="contrary",
    hit=True,
    head=0,
    head_exception="none",
    prime_rule="off",
    opening="use_lottery",
    home_mars=NO_POINTS,
    koks=3,
)
_GULBAR = Variant(name="gulbar", pass_when="any_roll", extra_roll=True)
_MAD_A = Variant(name="mad_gulbar_a", pass_when="any_roll", chain_moves=2)
_MAD_B = Variant(name="mad_gulbar_b", pass_when="any_roll", chain_moves=4)
_PRESETS = {preset.name: preset for preset in (_LONG, _SHORT, _GULBAR, _MAD_A, _MAD_B)}

VARIANTS: tuple[str, ...] = tuple(sorted(_PRESETS))
"""Names of the variants in the box."""


class RulesUnpublishedError(ValueError):
    """A variant that is named in a source whose rules are published nowhere (rules 5)."""


def variant(name: str, **options: Any) -> Variant:
    """The preset `name` with some options changed.

    Raises ValueError for an unknown name, option or value, RulesUnpublishedError for `six_one` (A27).
    """
    if name == "six_one":
        raise RulesUnpublishedError(
            "variant six_one is named in a source, but its rules are unpublished; "
            "write the rules you play as a YAML rule sheet and load it with load_variant(path)"
        )
    if name not in _PRESETS:
        raise ValueError(f"unknown variant {name!r}; known are {', '.join(VARIANTS)} (and six_one, unpublished)")
    return _with_options(_PRESETS[name], options)


def load_variant(path: str | Path) -> Variant:
    """The variant of a YAML rule sheet: options by name, and optionally `base`, the preset it starts from.

    Raises ValueError naming the file and what is wrong in it.
    """
    try:
        sheet = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"cannot read the rule sheet {path}: {' '.join(str(error).split())}") from None
    return variant_from_dict(sheet, source=str(path))


def variant_from_dict(sheet: Any, source: str = "rule sheet") -> Variant:
    """The variant of a rule sheet that is already a mapping; `source` names it in messages."""
    if not isinstance(sheet, dict) or not all(isinstance(key, str) for key in sheet):
        raise ValueError(f"{source} must be a mapping of options to values")
    # YAML reads a bare off as false.
    options = {name: "off" if value is False and name == "prime_rule" else value for name, value in sheet.items()}
    base = options.pop("base", None)
    try:
        return _with_options(Variant() if base is None else variant(base), options)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None


def _with_options(preset: Variant, options: dict[str, Any]) -> Variant:
    known = {option.name for option in dataclasses.fields(Variant)}
    for option in options:
        if option not in known:
            raise ValueError(
                f"unknown option {option!r} of variant {preset.name}; known are {', '.join(sorted(known))}"
            )
    return dataclasses.replace(preset, **options)
