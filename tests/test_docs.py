"""The pages in docs/: those of the variants are what the code gives, the examples can be played."""

import dataclasses
import re
import runpy
from pathlib import Path

import pytest

from nardy_rl.export.wording import MEANING
from nardy_rl.formats.files import reading
from nardy_rl.formats.played import Part
from nardy_rl.formats.positions import read_position
from nardy_rl.formats.record import RecordWriter
from nardy_rl.protocols.ubgi import Engine
from nardy_rl.rules.game import Game
from nardy_rl.rules.variant import VARIANTS, Variant, load_variant, variant

DOCS = Path(__file__).parents[1] / "docs"
MAKER = runpy.run_path(str(DOCS / "make_variants.py"))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variants_page_is_what_the_code_gives(name):
    page = (DOCS / "variants" / f"{name}.md").read_text(encoding="utf-8")
    assert page == MAKER["pages"]()[name], "run python docs/make_variants.py"
    assert sorted(path.stem for path in (DOCS / "variants").iterdir()) == list(VARIANTS)


def test_every_option_and_each_of_its_values_is_told_in_words():
    worth = {"name", "start", "single", "mars", "home_mars", "koks"}  # these are drawn, or tabled as points
    for option in dataclasses.fields(Variant):
        meaning = MEANING.get(option.name)
        if option.name in worth:
            assert meaning is None
        elif "choices" in option.metadata:
            assert set(meaning) == set(option.metadata["choices"])
        elif isinstance(option.default, bool):
            assert set(meaning) == {False, True}
        else:
            assert "{}" in meaning


@pytest.mark.parametrize("sheet", sorted(DOCS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_example_sheets_can_be_played(sheet):
    rules = load_variant(sheet)
    assert rules.name == sheet.stem
    game = Game.begin(rules, key=3)
    while not game.finished:
        game.play(game.random_index())
    assert game.points in rules.levels
    text = (DOCS / "own_rules.md").read_text(encoding="utf-8")
    assert sheet.read_text(encoding="utf-8") in text


@pytest.mark.parametrize("number", range(2))
def test_the_programs_on_the_page_of_protocols_run(number):
    pytest.importorskip("pyspiel")
    programs = re.findall(r"```python\n(.*?)```", (DOCS / "protocols.md").read_text(encoding="utf-8"), re.S)
    assert len(programs) == 2
    exec(compile(programs[number], "docs/protocols.md", "exec"), {})


def test_the_session_on_the_page_of_protocols_is_what_the_engine_says():
    page = (DOCS / "protocols.md").read_text(encoding="utf-8")
    *commands, answer = re.search(r"```\n(set game.variant.*?)\n```", page, re.S)[1].split("\n")
    engine = Engine("heuristic")
    assert [reply for command in commands for reply in engine.answer(command)] == [answer]


def test_the_example_of_a_record_is_one_and_has_every_kind_of_line():
    path = DOCS / "record_example.txt"
    with reading(path) as (heading, games):
        (game,) = games
    writer = RecordWriter(heading)
    assert writer.opening() + writer.game(game) + writer.closing() == path.read_text(encoding="utf-8")
    assert {decision.part for decision in game.decisions} == set(Part)
    assert path.read_text(encoding="utf-8") in (DOCS / "formats.md").read_text(encoding="utf-8")


def test_the_notations_of_positions_are_read_as_the_page_has_them():
    text = (DOCS / "formats.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (all|short) \|", text, re.MULTILINE)
    assert len(rows) == 4
    for notation, games in rows:
        assert read_position(variant("long" if games == "all" else "short"), notation)
    for code in re.findall(r"```python\n(.+?)```", text, re.DOTALL):
        exec(code, {})
