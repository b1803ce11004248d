"""Write docs/variants/*.md, one page a variant, from the rules as the code has them: python docs/make_variants.py

What an option means in words stands here, beside nothing else; values, boards, scores and shapes come from the package.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from gymnasium.spaces import Box

from nardy_rl.envs.gym_env import observation_space
from nardy_rl.network.features import INPUTS, PENDING_INPUTS
from nardy_rl.rules.board import draw_text, pips
from nardy_rl.rules.kernel import MAX_PLAYS
from nardy_rl.rules.notation import ROLL_NAMES, side_text
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import NO_POINTS, VARIANTS, Variant, variant

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

# What an option says at each of its values, or, with {}, at any number. An empty text says nothing.
MEANING: dict[str, str | dict[object, str]] = {
    "checkers": "Each side has {} checkers (шашки).",
    "direction": {
        "parallel": "Both sides move the same way round; the other's point 24 is your 12.",
        "contrary": "The sides move towards each other; the other's point 24 is your 1.",
    },
    "hit": {
        False: "A point (пункт) with an enemy checker on it is closed; nobody is hit.",
        True: "A point with two enemy checkers is closed. A lone one (блот) is hit and goes to the bar (бар), and its"
        " owner moves nothing else until it has come in: with a die d on his point 25 - d.",
    },
    "head": "With one roll no more than {} may leave the head (голова, point 24).",
    "head_exception": {
        "blocked": "One more may on a player's first turn, if the whole roll cannot be played without it.",
        "seed_list": "One more may on a player's first turn, if the whole roll cannot be played without it, with"
        " 3-3, 4-4 and 6-6, for the second player also 5-5 and 6-2.",
        "d346": "One more may on a player's first turn with 3-3, 4-4 and 6-6.",
        "d46": "One more may on a player's first turn with 4-4 and 6-6.",
        "any_double": "One more may on a player's first turn with any double.",
        "none": "There is no exception on the first turn.",
    },
    "head_exception_mode": {
        "allowance": "It may be moved at any time in the turn.",
        "last_resort": "It may be moved only when nothing else can.",
    },
    "head_budget_scope": {
        "segment": "Each roll, and all dice passed on together, have this allowance anew.",
        "whole_turn": "Passed dice, a player's roll and his extra rolls share one allowance.",
    },
    "prime_rule": {
        "ahead": "Six points in a row (заграждение) may be taken only while an enemy checker stands ahead of them, or"
        " is off.",
        "home": "Six points in a row (заграждение) may be taken only while an enemy checker is in his home, or off.",
        "forbid": "Six points in a row (заграждение) may not be taken.",
        "off": "Six points in a row (заграждение) may always be taken.",
    },
    "prime_check": {
        "each_step": "This holds after every single step.",
        "turn_end": "This holds for the position after the last die of the roll, the steps between are free.",
    },
    "prime_edge": {
        "linear": "A row over the enemy's points 1 and 24 counts for none.",
        "closed": "A row over the enemy's points 1 and 24 counts too, and needs one of his checkers off.",
    },
    "opening": {
        "reroll": "Each throws a die, equal ones again (жребий); the higher begins and rolls anew.",
        "use_lottery": "Each throws a die, equal ones again (жребий); the higher begins and plays these two dice.",
    },
    "next_starter": {
        "lottery": "Every game of a match begins so.",
        "winner": "The winner begins the next game of a match.",
        "alternate": "The players begin the games of a match in turn.",
    },
    "doubles_moves": "A double (дубль) is {} moves of its value.",
    "pass_when": {
        "never": "Dice that cannot be played are lost.",
        "any_roll": "Dice that cannot be played are passed on (недоигранные ходы): the other player plays as many of"
        " them as he can with his own checkers, loses the rest, and then rolls.",
        "doubles_only": "What cannot be played of a double is passed on (недоигранные ходы): the other player plays as"
        " much of it as he can with his own checkers, loses the rest, and then rolls. Other dice are lost.",
    },
    "extra_roll": {False: "", True: "Who has played all of a double rolls again, without limit."},
    "chain_moves": "A double begins a chain (цепочка дублей): {} moves of its value, then as many of each higher"
    " value up to 6. Each value is played as far as possible before the next.",
    "chain_break": {
        "pass_rest": "At the first value that cannot be played in full the chain ends; the rest is passed on.",
        "skip": "What is missing of a value is passed on when the chain has ended; the chain goes on.",
        "lose_rest": "At the first value that cannot be played in full the chain ends; the rest is lost.",
    },
    "chain_max_scope": {
        "group": "Which of its plays leaves more moves of the later values does not matter.",
        "chain": "Only those of its plays are legal that leave the most moves of the later values; a win leaves all.",
    },
    "chain_head": {
        "roll": "The whole chain has the head allowance of one roll.",
        "group": "Each value of a chain has the head allowance anew.",
        "free": "In a chain any number of checkers may leave the head.",
    },
    "chain_grace_turns": "In the first {} rolls of a player a double is a plain one.",
    "chain_extra_roll": {
        False: "A chain played in full gives no extra roll.",
        True: "Who plays all of it rolls again.",
    },
    "bearoff": {
        "standard": "Once all are home (дом, points 6…1) checkers are borne off: with the exact die, or from the"
        " highest point if the die is larger than all of them. A smaller die moves inside.",
        "exact_only": "Once all are home (дом, points 6…1) checkers are borne off with the exact die only.",
    },
    "bearoff_ban": {
        "all_home": "From then on nothing moves inside home.",
        "each_checker": "A checker that is home does not move inside.",
    },
    "bearoff_from_higher": {False: "", True: "If the die's point is empty, a checker of any higher point may go off."},
    "koks_long_area": {"first_quarter": "", "head": ""},
    "koks_requires_none_off": {
        True: "",
        False: "The highest class needs no bare tray: borne-off checkers do not save.",
    },
    "cube": {False: "There is no doubling cube (куб даве).", True: "There is a doubling cube (куб даве)."},
    "cube_max": "It goes up to {}.",
    "beaver": {False: "", True: "The taker may redouble at once and keep the cube (бивер)."},
    "jacoby": {False: "", True: "Only single games count while the cube has not been turned (Jacoby)."},
    "crawford": {False: "", True: "The first game after a player is one point short of the match is without it."},
    "auto_doubles": "Up to {} equal throws of the lottery double it.",
}
SECTIONS = {
    "Moves": ("checkers", "direction", "hit", "head", "head_exception", "head_exception_mode", "head_budget_scope"),
    "Blocks": ("prime_rule", "prime_check", "prime_edge"),
    "The turn": (
        *("opening", "next_starter", "doubles_moves", "pass_when", "extra_roll", "chain_moves"),
        *("chain_max_scope", "chain_break", "chain_head", "chain_grace_turns", "chain_extra_roll"),
    ),
    "Bearing off": ("bearoff", "bearoff_ban", "bearoff_from_higher"),
    "Cube": ("cube", "cube_max", "beaver", "jacoby", "crawford", "auto_doubles"),
}
ALWAYS = {
    "Moves": (
        "Each player numbers the points from his own side: 24 is the farthest, 6…1 are his home, and every move lowers"
        " the number by its die (rule 1). One checker may use several dice, and lands legally each time (rule 2.4)."
    ),
    "The turn": (
        "As many dice as possible must be played; if only one of two can be, the larger (rules 2.5, 2.6). Where nothing"
        " can be moved (не идет) the turn passes (rule 2.7). Who has borne off his last checker has won at once (rule"
        " 2.9)."
    ),
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
    yield f"{IN_SHORT[rules.name]} Numbers in brackets are rules, as messages name them."
    start = Position.start(rules)
    yield f"## Start\n\n`{side_text(start.array[0])}` on either side, {pips(start.array[0])} pips each."
    yield f"```\n{draw_text(rules, start)}\n```"
    yield "X moves to lower numbers of those shown; O's checkers stand where X sees them."
    for title, options in SECTIONS.items():
        if title == "Cube":
            yield from _scoring(rules)
        sentences = [f"- {sentence}" for name in options if (sentence := _sentence(rules, name))]
        yield "\n\n".join(filter(None, (f"## {title}", ALWAYS.get(title), "\n".join(sentences))))
    yield from _options(rules)
    yield from _numbers(rules)
    if rules.name == "long":
        yield from _names()


def _sentence(rules: Variant, name: str) -> str:
    """What the option says in these rules; nothing where it has nothing to say."""
    meaning, value = MEANING[name], getattr(rules, name)
    text = meaning.format(value) if isinstance(meaning, str) else meaning[value]
    return f"{text} ({_rule(name)})" if text and _matters(rules, name) else ""


def _rule(name: str) -> str:
    return str(next(option for option in dataclasses.fields(Variant) if option.name == name).metadata["rule"])


def _matters(rules: Variant, name: str) -> bool:
    """Whether the option changes anything, the others being as they are."""
    if name in ("head_exception", "head_exception_mode", "head_budget_scope", "chain_head") and not rules.head:
        return False
    if name == "doubles_moves":
        return rules.chain_moves == 0 or rules.chain_grace_turns > 0
    if name.startswith("chain_"):
        return rules.chain_moves > 0 and (name != "chain_grace_turns" or rules.chain_grace_turns > 0)
    return {
        "head": rules.head > 0,
        "head_exception_mode": rules.head_exception != "none",
        "head_budget_scope": rules.has_pending or rules.extra_roll,
        "prime_check": rules.prime_rule != "off",
        "prime_edge": rules.prime_rule != "off",
        "bearoff_ban": rules.bearoff == "exact_only",
        "cube_max": rules.cube,
        "beaver": rules.cube,
        "jacoby": rules.jacoby,
        "crawford": rules.cube,
        "auto_doubles": rules.auto_doubles > 0,
    }.get(name, True)


def _scoring(rules: Variant) -> Iterator[str]:
    points = (rules.single, rules.mars, rules.home_mars, rules.koks)
    contrary = rules.direction == "contrary"
    behind = "on the bar or in the winner's home" if contrary else "on his points 24…19"
    behind = "on his head" if rules.koks_long_area == "head" and not contrary else behind
    none_off = "has borne off nothing and " if rules.koks_requires_none_off else ""
    when = (
        "has borne off a checker",
        "has borne off nothing",
        "has borne off nothing and has all at home",
        f"{none_off}has a checker {behind}",
    )
    rows = [
        f"| {name} | the loser {condition} | {worth} |"
        for name, condition, worth in zip(rules.class_names, when, points, strict=True)
        if worth != NO_POINTS
    ]
    yield "## Scoring\n\nThe highest class that holds counts; there are no draws (8.1)."
    yield "| class | when | points |\n|---|---|---|\n" + "\n".join(rows)


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
