"""How the package is built: floors that import only what is below, light imports, short files."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nardy_rl

PACKAGE = Path(nardy_rl.__file__).parent
ROOT = PACKAGE.parent
# Each floor may import itself and what is listed for it: the house from the ground up.
FLOORS: dict[str, set[str]] = {
    "compiled": set(),
    "files": set(),
    "spelling": set(),
    "rules": {"compiled"},
    "envs": {"compiled", "rules"},
    "network": {"compiled", "files", "rules"},
    "bundle": {"rules", "network"},
    "search": {"compiled", "files", "rules", "network"},
    "players": {"compiled", "spelling", "rules", "network", "bundle", "search"},
    "formats": {"files", "rules", "cli"},
    "selfplay": {"compiled", "rules", "network", "search", "players"},
    "evaluation": {"compiled", "files", "rules", "formats", "network", "search", "players"},
    "training": {"files", "rules", "envs", "network", "players", "selfplay", "evaluation"},
    "protocols": {"rules", "formats", "search", "players", "evaluation", "cli"},
    "export": {"files", "rules", "network", "bundle", "players", "evaluation", "cli"},
    "cli": {"spelling", "rules"},
}
# What may need torch at the moment it is imported; all else plays without.
TORCH = {"network/glance.py", "network/value_net.py", "network/checkpoint.py"}
LINES = 300

MODULES = sorted(PACKAGE.rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def imports_of(path: Path) -> list[tuple[str, bool]]:
    """The full names of all that a module imports, and whether it does so when it is itself imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, id(node) not in late) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports by a relative name"
            base = node.module or ""
            # `from nardy_rl import envs` imports the floor envs.
            found += [(f"{base}.{alias.name}", id(node) not in late) for alias in node.names]
    return found


def floor_of(full_name: str) -> str | None:
    parts = full_name.split(".")
    return parts[1] if parts[0] == "nardy_rl" and len(parts) > 1 else None


def test_the_table_of_floors_is_complete_and_has_no_circle():
    there = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir()}
    assert there - {"__init__", "__pycache__", "py.typed"} == set(FLOORS)
    built: set[str] = set()
    while len(built) < len(FLOORS):
        ready = {floor for floor, below in FLOORS.items() if below <= built} - built
        assert ready, f"floors that need each other: {set(FLOORS) - built}"
        built |= ready


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_what_is_below_it(path):
    floor = name_of(path).split("/")[0].removesuffix(".py")
    allowed = set(FLOORS) - {"cli", "training"} if floor == "__init__" else FLOORS[floor] | {floor}
    # Imports for typing's sake count too: they say what a module knows of.
    used = {used for name, _ in imports_of(path) if (used := floor_of(name)) is not None}
    assert used <= allowed


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_learning_needs_torch(path):
    if name_of(path) in TORCH or name_of(path).startswith("training/"):
        return
    heavy = {"torch", "tensorboard"}
    assert not [name for name, at_once in imports_of(path) if at_once and name.split(".")[0] in heavy]
    needs_torch = {f"nardy_rl.{name.removesuffix('.py').replace('/', '.')}" for name in TORCH}
    at_once = {name.rpartition(".")[0] for name, at_once in imports_of(path) if at_once}
    assert not at_once & needs_torch


def test_games_are_played_without_torch():
    """As a whole, too: nothing on the way to a bot, an environment or a match imports it."""
    code = (
        "import sys; sys.modules['torch'] = None; import nardy_rl, nardy_rl.cli, nardy_rl.evaluation.match; "
        "import nardy_rl.selfplay.batch, nardy_rl.players.registry, nardy_rl.network.inference"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_is_short_and_says_what_it_is(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LINES
    assert ast.get_docstring(ast.parse(text))


def test_scripts_only_hand_over_to_the_package():
    """Options, one function and the call: whatever else a script did could not be imported."""
    for script in ("train.py", "evaluate.py"):
        text = (ROOT / script).read_text(encoding="utf-8")
        assert text.count("\n") <= 60
        assert "cli.run(__file__" in text


def test_the_public_names_are_sorted_and_exist():
    names = nardy_rl.__all__
    # As the linter sorts: constants, classes, functions and modules.
    assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert len(names) == len(set(names))
    assert all(hasattr(nardy_rl, name) for name in names)
