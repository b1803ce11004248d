"""The rules of a variant in words, option by option: for the pages in docs/ and for the sheet in a bundle."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from nardy_rl.rules.variant import NO_POINTS, Variant

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


def rules_text(rules: Variant) -> Iterator[str]:
    """What holds in this variant, a section after the other, in Markdown."""
    for title, options in SECTIONS.items():
        if title == "Cube":
            yield from _scoring(rules)
        sentences = [f"- {sentence}" for name in options if (sentence := _sentence(rules, name))]
        yield "\n\n".join(filter(None, (f"## {title}", ALWAYS.get(title), "\n".join(sentences))))


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
