"""Write docs/variants/*.md, one page a variant, from the rules as the code has them: python docs/make_variants.py

Titles and terms stand here; rules in words, values, boards, scores and shapes come from the package.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gymnasium.spaces import Box

from nardy_rl.envs.gym_env import observation_space
from nardy_rl.export.wording import rules_text
from nardy_rl.network.features import INPUTS, PENDING_INPUTS
from nardy_rl.rules.board import draw_text, pips
from nardy_rl.rules.kernel import MAX_PLAYS
from nardy_rl.rules.notation import ROLL_NAMES, side_text
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import VARIANTS, Variant, variant

FOLDER = Path(__file__).parent / "variants"

# The version of a variant's page: raise it when what was trained or recorded before no longer fits.
VERSIONS = dict.fromkeys(VARIANTS, 1)

TITLES = {
    "long": ("Long nardy", "длинные нарды"),
    "short": ("Short nardy, or backgammon", "короткие нарды"),
    "gulbar": ("Gyulbar", "гюльбар"),
    "mad_gulbar_a": ("Mad gyulbar, form A", "бешеный гюльбар"),
    "mad_gulbar_b": ("Mad gyulbar, form B", "бешеный гюльбар"),
}
IN_SHORT = {
    "long": "Race once around the board; nobody is hit, a single checker closes a point.",
    "short": "Both sides race towards each other; a lone checker can be hit and has to come in again.",
    "gulbar": "Long nardy in which the other player must play what you cannot, and a full double gives another roll.",
    "mad_gulbar_a": "Gyulbar in which a double stands for a chain of doubles up to 6-6, two moves of each value.",
    "mad_gulbar_b": "Gyulbar in which a double stands for a chain of doubles up to 6-6, four moves of each value.",
}

TERMS = (
    ("доска, пункт (лунка)", "board, point"), ("шашка (фишка, камень)", "checker"), ("зары, кости", "dice"),
    ("голова; ход с головы", "head; head move"), ("дом; двор", "home; yard"), ("выбросить за доску", "bear off"),
    ("дубль (паш, куш, кошка)", "double"), ("заграждение (мост, блок)", "block, prime"), ("заперта", "locked"),
    ("не идет", "cannot move there"), ("недоигранные ходы", "moves left unplayed"), ("доигрывать", "play them for him"),
    ("цепочка дублей", "chain of doubles"), ("жребий", "lottery for the start"), ("оин (ойн)", "single game"),
    ("марс; домашний марс", "gammon; gammon with all at home"), ("кокс", "backgammon, triple game"),
    ("куб даве; бивер", "doubling cube; beaver"),
)  # fmt: skip


def pages() -> dict[str, str]:
    """The text of every page by its variant's name."""
    return {name: "\n\n".join(_page(variant(name))) + "\n" for name in VARIANTS}


def _page(rules: Variant) -> Iterator[str]:
    english, russian = TITLES[rules.name]
    yield f"# {english} (`{rules.name}`, {russian})"
    yield "<!-- Written by docs/make_variants.py: change the code, not this page. -->"
    yield f"{IN_SHORT[rules.name]} Names in brackets, such as (A6), are those of rules: messages use them."
    start = Position.start(rules)
    yield f"## Start\n\n`{side_text(start.array[0])}` on either side, {pips(start.array[0])} pips each."
    yield f"```\n{draw_text(rules, start)}\n```"
    yield "X moves to lower numbers of those shown; O's checkers stand where X sees them."
    yield from rules_text(rules)
    yield from _options(rules)
    yield from _numbers(rules)
    if rules.name == "long":
        yield from _names()


def _options(rules: Variant) -> Iterator[str]:
    other = variant("short" if rules.name == "long" else "long")
    yield (
        f"## Options\n\nEvery line of `configs/variant/{rules.name}.yaml`; **bold**: not as in {other.name} nardy."
        f" Change one with `variant.OPTION=VALUE` on the command line, or in [a sheet of your own](../own_rules.md)."
    )
    rows = ["| option | rule | value | can be |", "|---|---|---|---|"]
    for option in dataclasses.fields(Variant):
        if option.name == "name":
            continue
        value = getattr(rules, option.name)
        shown = f"`{str(value).lower() if isinstance(value, bool) else value}`"
        shown = f"**{shown}**" if value != getattr(other, option.name) else shown
        rows.append(f"| `{option.name}` | {option.metadata['rule']} | {shown} | {_choices(option)} |")
    yield "\n".join(rows)


def _choices(option: dataclasses.Field[object]) -> str:
    if "choices" in option.metadata:
        return ", ".join(f"`{choice}`" for choice in option.metadata["choices"])
    if "low" in option.metadata:
        return f"{option.metadata['low']} to {option.metadata['high']}"
    return "`false`, `true`" if isinstance(option.default, bool) else "points and counts, as in `24:2,13:13`"


def _numbers(rules: Variant) -> Iterator[str]:
    space = observation_space()
    meaning = {
        "position": "row 0 you, row 1 the other, each in his own numbering: 0 borne off, 1…24 points, 25 the bar",
        "dice": "the dice to play now, larger first; of equal ones two while two moves or more are left; 0: none",
        "pending": "moves of the values 1…6 to play, now and after; then 1 if the dice are of your own roll",
    }
    rows = ["| observation | shape | values | meaning |", "|---|---|---|---|"]
    for name, part in space.items():
        assert isinstance(part, Box)
        shape = ", ".join(map(str, part.shape))
        span = f"{int(np.min(part.low))} to {int(np.max(part.high))}"
        rows.append(f"| `{name}` | {part.dtype}[{shape}] | {span} | {meaning[name]} |")
    yield "## Observation and outputs\n\n" + "\n".join(rows)
    inputs = INPUTS + PENDING_INPUTS * rules.has_pending
    pending = f", and {PENDING_INPUTS} for the dice still to play" if rules.has_pending else ""
    yield (
        f"An action is the number of a legal play, 0 to at most {MAX_PLAYS - 1}. The network has {inputs} inputs:"
        f" {INPUTS // 2} for each side{pending} (`nardy_rl/network/features.py`). Its {rules.outputs} outputs are:"
    )
    won = [f"P(win{_at_least(rules, level)})" for level in range(len(rules.levels))]
    lost = [f"P(loss{_at_least(rules, level)})" for level in range(1, len(rules.levels))]
    yield "\n".join(f"{number}. {output}" for number, output in enumerate(won + lost))
    yield f"## Version\n\n{VERSIONS[rules.name]}, sheet and shapes `{_fingerprint(rules)}`."


def _at_least(rules: Variant, level: int) -> str:
    return f" of {rules.levels[level]} points or more" if level else ""


def _fingerprint(rules: Variant) -> str:
    """Eight digits that change with any rule, any shape of the observation, and the number of inputs and outputs."""
    shapes = [(name, part.shape, str(part.dtype)) for name, part in observation_space().items()]
    inputs = INPUTS + PENDING_INPUTS * rules.has_pending
    return hashlib.sha256(f"{rules.to_dict()}{shapes}{inputs}{rules.outputs}".encode()).hexdigest()[:8]


def _names() -> Iterator[str]:
    rows = [f"| {name.dice[0]}-{name.dice[1]} | {name.russian} | `{name.identifier}` |" for name in ROLL_NAMES]
    yield "## Names of the rolls\n\nThe same in every variant (12)."
    yield "\n".join(["| roll | name | identifier |", "|---|---|---|", *rows])
    terms = "\n".join(f"| {russian} | {english} |" for russian, english in TERMS)
    yield f"## Terms\n\n| Russian | English |\n|---|---|\n{terms}"


def main() -> None:
    """Write all pages."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
