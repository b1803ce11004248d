"""The README of a bundle: the same as its card, and the rules, for people."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from nardy_rl.bundle import CARD, GOLDEN, POLICY, README, SMALL_POLICY
from nardy_rl.export.golden import TOLERANCE
from nardy_rl.export.graph import OPSET
from nardy_rl.export.wording import rules_text
from nardy_rl.rules.variant import Variant

_SAY = {
    POLICY: f"the network in ONNX, opset {OPSET}: raw positions in, probabilities and equity out",
    SMALL_POLICY: "the same with int8 weights, for where every kilobyte counts",
    GOLDEN: "positions with dice, their legal plays, values and choices: proof for whoever ports the bot",
    CARD: "this page for programs",
}


def readme(card: dict[str, Any], variant: Variant, sizes: dict[str, int]) -> str:
    """The page of a card that does not list it yet; sizes: of the files that it lists, in bytes."""
    sections = [
        f"# {card['name']}, version {card['version']}",
        f"A bot for the game `{variant.name}`, made by nardy_rl. It rates positions; the best play of a roll is the one"
        " with the best equity after it.",
        *_files(card, sizes),
        *_use(card, variant),
        *_training(card["training"]),
        *_strength(card),
        *_proof(card),
        *_rules(variant),
    ]
    return "\n\n".join(sections) + "\n"


def _files(card: dict[str, Any], sizes: dict[str, int]) -> Iterator[str]:
    rows = [f"| `{name}` | {_SAY[name]} | {sizes[name]:,} | `{digest}` |" for name, digest in card["files"].items()]
    yield "## Files\n\n" + "\n".join(["| file | what it is | bytes | SHA-256 |", "|---|---|---|---|", *rows])
    yield f"`{CARD}` has these numbers, that of `{README}`, and all else that is said here, for programs."


def _use(card: dict[str, Any], variant: Variant) -> Iterator[str]:
    rows = ["| | name | type | meaning |", "|---|---|---|---|"]
    rows.append(
        "| input | `positions` | int8[N, 2, 26] | how many checkers are where: row 0 the player who acts, row 1 the"
        " other, each in his own numbering: 0 borne off, 1…24 the points (24 farthest, 6…1 home), 25 the bar |"
    )
    if variant.has_pending:
        rows.append(
            "| input | `pending` | int8[N, 7] | what the player who acts has still to play: how many steps of each"
            " value 1…6, then 1 if they are of his own roll, 0 if they were passed on to him; all 0 if he is about"
            " to roll |"
        )
    number = len(card["outputs"])
    rows.append(f"| output | `probabilities` | float32[N, {number}] | for the player who acts, see below |")
    rows.append("| output | `equity` | float32[N] | points that he wins on average, cube aside |")
    yield "## Inputs and outputs\n\n" + "\n".join(rows)
    meaning = [f"{index}. `{name}`: {_probability(name)}" for index, name in enumerate(card["outputs"])]
    yield "The probabilities are nested, each includes those of higher levels:\n\n" + "\n".join(meaning)
    acts = (
        "He acts again where dice of his remain or another roll is his; else the other does, and the rows change places"
        if variant.has_pending or variant.extra_roll
        else "After a play the other player is about to roll, so the rows change places"
    )
    yield (
        "To choose a play, list the positions after all legal ones, put the player who acts next in row 0 and ask for"
        f" equities. {acts}; an equity of the other player counts with its sign changed. A play that bears off the last"
        " checker is worth its points, and is not asked for."
    )
    yield (
        "With nardy_rl the folder itself is a bot: `python evaluate.py variant=… a=FOLDER b=random`. Without it,"
        " `clients/python/nardy_client.py` of nardy_rl plays it with numpy and onnxruntime alone."
    )


def _probability(name: str) -> str:
    side, _, level = name.partition("_")
    return f"of a {side} of {level} points or more" if level else f"of a {side}"


def _training(training: dict[str, Any]) -> Iterator[str]:
    widths = " → ".join(map(str, [training["inputs"], *training["hidden"]]))
    yield (
        f"## Training\n\n{training['method']}, {training['games']:,} games. The network: {widths} → outputs,"
        f" {training['parameters']:,} numbers."
    )
    if "phases" in training:
        shares = [{"done": f"{share:.1%}"} for share in training.get("done", ())] or [{}] * len(training["phases"])
        phases = [phase | share for phase, share in zip(training["phases"], shares, strict=True)]
        keys = sorted({key for phase in phases for key in phase})
        rows = [f"| {' | '.join(keys)} |", "|---" * len(keys) + "|"]
        rows += [f"| {' | '.join(str(phase.get(key, '')) for key in keys)} |" for phase in phases]
        yield (
            f"The schedule of its run, seed {training['seed']}, {training['batch_games']} games a batch,"
            f" {training['minibatch']} positions a step; a pair goes from its first value to its second:"
        )
        yield "\n".join(rows)


def _strength(card: dict[str, Any]) -> Iterator[str]:
    if not card["strength"]:
        yield "## Strength\n\nNot measured."
    else:
        rows = [
            "| against | look-ahead | games | points per game, 95 % interval | games won, 95 % interval |",
            "|---|---|---|---|---|",
        ]
        for entry in card["strength"]:
            (low, high), win_interval = entry["interval"], entry["win_interval"]
            wins = f" ({win_interval[0]:.2%} … {win_interval[1]:.2%})" if win_interval else ""
            adjusted = ", luck of the dice taken off" if entry["luck_adjusted"] else ""
            rows.append(
                f"| {entry['against']} | {entry['plies']}-ply | {entry['games']:,} | {entry['points_per_game']:+.4f}"
                f" ({low:+.4f} … {high:+.4f}{adjusted}) | {entry['win_rate']:.2%}{wins} |"
            )
        yield "## Strength\n\n" + "\n".join(rows)
        yield (
            "Points are cubeless; every throw of the dice was played from both seats. nardy_rl played the endings from"
            " its bear-off tables where it has them; a client plays them by the network."
        )
    if card["int8"]:
        yield _loss(card["int8"])


def _loss(small: dict[str, Any]) -> str:
    played = (
        f" In {small['games']:,} games against the whole network it scores {small['points_per_game']:+.4f} ±"
        f" {small['standard_error']:.4f} points per game (standard error, luck of the dice taken off)."
        if "games" in small
        else " What that costs in play was not measured."
    )
    return (
        f"`{SMALL_POLICY}` differs by {small['mean_probability_difference']:.5f} in a probability on average, by"
        f" {small['largest_probability_difference']:.5f} at most, and chooses another play in"
        f" {small['golden_choices_changed']} of the {small['golden_cases']} golden cases.{played}"
    )


def _proof(card: dict[str, Any]) -> Iterator[str]:
    golden = card["golden"]
    kinds, remarkable = (
        ", ".join(f"{tag} {number}" for tag, number in golden[key].items()) for key in ("kinds", "remarkable")
    )
    yield (
        f"## Golden cases\n\n`{GOLDEN}` has {golden['cases']} decisions, one a line, with {golden['afterstates']:,}"
        f" plays. Where they come from: {kinds}. What they have: {remarkable}. A reader whose probabilities are right"
        f" to {TOLERANCE:.0e} chooses the same play in each."
    )
    yield "\n".join(
        [
            "| key | meaning |",
            "|---|---|",
            "| `position`, `dice` | row 0 the player who acts; the last roll, of whoever threw it |",
            '| `first_turn` | "starter" or "second" if that was his own first roll of the game, else null |',
            "| `standing` | `now` the dice of this decision; `steps` all that he has to play, as `pending`; `own` of"
            " his own roll; `fresh` all this follows from `dice` and `first_turn`; `chain` one value of a chain;"
            " `extra` a full play gives another roll; `head_left` how many checkers may leave his point 24, `patient`"
            " the last of them only when nothing else can move; `passing` steps that wait for the other |",
            "| `afterstates` | the positions after all legal plays, row 0 as before |",
            "| `next` | whether the same player acts next, and what he has then to play |",
            "| `probabilities` | of each afterstate, for who acts next; of a won game the loser's, exactly |",
            "| `equities`, `choice` | of each afterstate for who made the play; the number of the best |",
        ]
    )


def _rules(variant: Variant) -> Iterator[str]:
    yield f"## Rules\n\nEach side begins with `{variant.start}`. Names in brackets are those of nardy_rl's messages."
    yield from ("#" + section if section.startswith("## ") else section for section in rules_text(variant))
    rows = ["| option | rule | value |", "|---|---|---|"]
    for option in dataclasses.fields(variant):
        value = getattr(variant, option.name)
        shown = str(value).lower() if isinstance(value, bool) else value
        rows.append(f"| `{option.name}` | {option.metadata.get('rule', '')} | `{shown}` |")
    yield "### The whole rule sheet\n\n" + "\n".join(rows)
