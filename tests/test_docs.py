"""The pages in docs/: those of the variants are what the code gives, the examples can be played, and what a page names,
tables or draws is there."""

import dataclasses
import importlib.util
import json
import re
import runpy
import shlex
from itertools import chain
from pathlib import Path

import pytest
from bundles import write_bundle
from test_architecture import FLOORS

from nardy_rl.evaluation import command as evaluation
from nardy_rl.evaluation.quality import Quality
from nardy_rl.evaluation.results import match_table, result_sheet, sequential_sheet, sequential_table
from nardy_rl.evaluation.sequential import SequentialResult
from nardy_rl.evaluation.statistics import TURNS, match_result, new_games
from nardy_rl.evaluation.tables import quality_table
from nardy_rl.export import command as exporting
from nardy_rl.export.wording import MEANING
from nardy_rl.formats.files import reading
from nardy_rl.formats.played import Part
from nardy_rl.formats.positions import read_position
from nardy_rl.formats.record import RecordWriter
from nardy_rl.players.box import boxed
from nardy_rl.players.registry import locate
from nardy_rl.protocols.ubgi import Engine
from nardy_rl.rules.game import Game
from nardy_rl.rules.variant import VARIANTS, Variant, load_variant, variant
from nardy_rl.training import options as training

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md"), *ROOT.glob("clients/*/README.md")])
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


def test_the_page_of_protocols_names_a_bot_in_the_box():
    page = (DOCS / "protocols.md").read_text(encoding="utf-8")
    named = re.search(r"in the box go by (.*?)\. ", page, re.DOTALL)[1]
    assert quoted([named])
    assert {locate(name)[0] for name in quoted([named])} <= {str(path) for path in boxed().values()}


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


# What pages point to


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose_of(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)


def anchors_of(page: Path) -> set[str]:
    """What its headings are called in links, as GitHub names them."""
    headings = re.findall(r"^#+ (.*)$", prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose_of(page))):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not re.match(r"\w+:", link) and (not target.exists() or (anchor and anchor not in anchors_of(target))):
            broken.append(link)
    return broken


def missing_paths(text: str) -> list[str]:
    """What is named in backticks by its path from the root, and is not there; words in capitals stand for any."""
    text = text.replace("nardy_rl/Nardy-v0", "")  # an environment's id
    named = re.findall(r"`((?:nardy_rl|benchmarks|checkpoints|clients|configs|docs|tests)/[^`\s:]*)`", text)
    patterns = {path: re.sub(r"\b(?!README)[A-Z]{2,}\b", "*", path) for path in named}
    return [path for path, pattern in patterns.items() if not list(ROOT.glob(pattern))]


def unknown_words(text: str) -> list[str]:
    """Of the commands in a page the modules that do not exist, and the options that a script does not have."""
    unknown = []
    for name in re.findall(r"python -m ((?:nardy_rl|benchmarks)[\w.]*)", text):
        unknown += [] if importlib.util.find_spec(name.rstrip(".")) else [name]
    scripts = {"evaluate.py": evaluation, "train.py": training, "-m nardy_rl.export": exporting}
    for script, words in re.findall(rf"python ({'|'.join(map(re.escape, scripts))}) ([^`\n]*)", text):
        known = {"variant", *(field.name for field in dataclasses.fields(scripts[script].Options))}
        keys = [word.partition("=")[0] for word in shlex.split(words, comments=True) if "=" in word]
        unknown += [key for key in keys if key.split(".")[0] not in known]
    return unknown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_links_to_names_or_types_is_there(page):
    assert broken_links(page) == []
    assert missing_paths(text_of(page)) == []
    assert unknown_words(text_of(page)) == []


def test_a_link_a_path_or_an_option_that_is_not_there_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A page\n\n[fine](#a-page), [fine](page.md#a-page), [fine](https://a.b/c), `[no](link)`\n"
        "```\n[no](link)\n```\n[bad](lost.md) and [bad](#b-page) and [bad](page.md#c)\n"
    )
    assert broken_links(page) == ["lost.md", "#b-page", "page.md#c"]
    assert missing_paths("`nardy_rl/bundle.py`, `nardy_rl/rules`, `configs/*/quick.yaml`, `checkpoints/VARIANT`") == []
    assert missing_paths("`nardy_rl/bungle.py` and `tests/cats/`") == ["nardy_rl/bungle.py", "tests/cats/"]
    assert unknown_words("python evaluate.py a=x bots=[x,y]\n`python train.py variant.head=2 schedule.phases=[]`") == []
    typed = "python -m nardy_rl.exports\npython -m nardy_rl.export cat=1 out=x  # a=b\n`python train.py games=5`"
    assert unknown_words(typed) == ["nardy_rl.exports", "cat", "games"]


# The guides


def rows_of(page: str, *head: str) -> list[list[str]]:
    """The cells of the table with this head on a page of docs/."""
    top = f"| {' | '.join(head)} |\n|{'---|' * len(head)}\n".replace("|  |", "| |")
    _, found, rest = text_of(DOCS / page).partition(top)
    assert found, f"{page} has no table {head}"
    lines = rest.split("\n\n")[0].strip().split("\n")
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def quoted(cells: list[str]) -> list[str]:
    """All that stands in backticks."""
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def first_column(rows: list[list[str]]) -> list[str]:
    return quoted([row[0] for row in rows])


def python_blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text_of(DOCS / page), re.DOTALL)


def a_match(rules: Variant):
    """The result of two pairs of games that nobody has played."""
    played = new_games(2)
    played.games[:] = 1
    played.games[:, :, TURNS] = 50
    return match_result(rules, played, judged=True, seconds=1.0, seed=1)


def test_every_line_of_a_match_is_shown_and_explained():
    rules, result = variant("short"), a_match(variant("short"))
    stopped = SequentialResult(result=result, bound=0.0, interval=(0.5, 1.5), most_games=100)
    page = text_of(DOCS / "evaluation.md")
    tables = match_table(result, rules, "a", "b"), sequential_table(stopped, rules, "a", "b")
    match, sequential = (list(table.columns[0].cells) for table in tables)
    assert first_column(rows_of("evaluation.md", "row", "how to read it")) == match
    nothing_lost = Quality(**dict.fromkeys((f.name for f in dataclasses.fields(Quality)), 0) | {"judge": "a judge"})
    quality = quality_table(nothing_lost, "a", "short")
    for row in {*match, *sequential, *quality.columns[0].cells}:
        assert f"│ {row} " in page
    assert "A is above 0 points per game" in list(tables[1].columns[1].cells)
    keys = result_sheet(result, rules, "a", "b").keys() | sequential_sheet(stopped, rules, "a", "b").keys()
    assert set(first_column(rows_of("evaluation.md", "key", "meaning"))) == keys


@pytest.fixture(scope="module")
def bundles(tmp_path_factory, one_torch_thread) -> dict[str, Path]:
    """Bundles called my_bot, each in a folder of its own: without dice that are passed on, and with them."""
    pytest.importorskip("onnxruntime")
    folders = {name: tmp_path_factory.mktemp(name) for name in ("short", "gulbar")}
    return {
        name: write_bundle(folder, variant(name), cases=24).rename(folder / "my_bot")
        for name, folder in folders.items()
    }


@pytest.mark.parametrize("name", ["short", "gulbar"])
def test_the_programs_on_the_page_of_export_run_and_find_out_a_wrong_choice(name, bundles, monkeypatch, capsys):
    monkeypatch.chdir(bundles[name].parent)
    rate, prove = python_blocks("export.md")
    names: dict = {}
    exec(compile(rate, "docs/export.md", "exec"), names)
    said = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert said == [*names["card"]["outputs"], "equity"]
    exec(compile(prove, "docs/export.md", "exec"), names)
    assert capsys.readouterr().out.endswith(", 0 other choices\n")
    golden = bundles[name] / "golden.jsonl"
    whole = golden.read_text(encoding="utf-8")
    *cases, last = (json.loads(line) for line in whole.splitlines())
    last["choice"] += 1
    golden.write_text("".join(json.dumps(case) + "\n" for case in [*cases, last]), encoding="utf-8")
    with pytest.raises(AssertionError):
        exec(compile(prove, "docs/export.md", "exec"), names)
    golden.write_text(whole, encoding="utf-8")


def test_the_page_of_export_lists_what_a_bundle_has(bundles):
    import onnxruntime

    folder = bundles["gulbar"]
    files = first_column(rows_of("export.md", "file", "bytes", "what it is"))
    assert sorted(files) == sorted(path.name for path in folder.iterdir())
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    assert set(first_column(rows_of("export.md", "key", "meaning"))) == card.keys()
    case = json.loads((folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert set(first_column(rows_of("export.md", "key of a case", "meaning"))) == case.keys()
    session = onnxruntime.InferenceSession(str(folder / "policy.onnx"), providers=["CPUExecutionProvider"])
    kinds = {"tensor(int8)": "int8", "tensor(float)": "float32"}
    told = [
        [way, f"`{each.name}`", f"{kinds[each.type]}[{', '.join(map(str, each.shape))}]"]
        for way, there in (("input", session.get_inputs()), ("output", session.get_outputs()))
        for each in there
    ]
    rows = rows_of("export.md", "", "name", "type", "meaning")
    assert [[way, name, kind.replace("outputs", str(len(card["outputs"])))] for way, name, kind, _ in rows] == told


def test_the_options_of_an_export_are_those_of_the_page():
    rows = rows_of("export.md", "option", "meaning", "default")
    defaults = {field.name: field.default for field in dataclasses.fields(exporting.Options)}
    assert first_column(rows) == list(defaults)
    for option, _, default in rows:
        (name,), told = quoted([option]), quoted([default])
        if told and name != "name":
            assert told == [str(defaults[name]).lower()]


def test_the_drawing_of_the_house_is_the_table_of_its_floors():
    (drawing,) = re.findall(r"```mermaid\n(.*?)```", text_of(DOCS / "architecture.md"), re.DOTALL)
    arrows = re.findall(r"^ +(\w+) --> (\w+)", drawing, re.MULTILINE)
    labels = dict(re.findall(r'(\w+)\["(.*?)"\]', drawing))
    floors = {box: labels.get(box, box).split(" · ") for box in chain(*arrows)}
    assert len(arrows) == drawing.count("-->")
    assert sorted(chain(*floors.values())) == sorted(FLOORS), "each floor is in one box"
    for upper, lower in arrows:
        assert any(FLOORS[floor] & set(floors[lower]) for floor in floors[upper]), f"{upper} may not import {lower}"
    below = {box: {box} for box in floors}
    for _ in floors:
        for upper, lower in arrows:
            below[upper] |= below[lower]
    for box, inside in floors.items():
        reached = set(chain(*(floors[lower] for lower in below[box])))
        for floor in inside:
            assert FLOORS[floor] <= reached, f"no arrows lead from {floor} to {FLOORS[floor] - reached}"
    table = first_column(rows_of("architecture.md", "floor", "what lives there", "a good first file"))
    assert {word for word in table if word in FLOORS} == set(FLOORS)
