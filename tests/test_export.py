"""Bundles: what an export writes is what was trained, in every reader, and says so of itself."""

import errno
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import yaml
from bundles import HIDDEN, ROOT, SHEETS, random_inputs, write_bundle
from nets import opinionated_net

from nardy_rl.bundle import FILES, FORMAT, GOLDEN, POLICY, SMALL_POLICY, read_bundle, read_policy
from nardy_rl.evaluation.match import play_match
from nardy_rl.evaluation.results import result_sheet, sequential_sheet, write_json
from nardy_rl.evaluation.sequential import SequentialResult
from nardy_rl.evaluation.statistics import match_result, new_games
from nardy_rl.export.card import bot_name, training
from nardy_rl.export.check import check, compiled_reader, onnxruntime_reader, torch_reader
from nardy_rl.export.command import Options, export
from nardy_rl.export.golden import TOLERANCE, from_lines, standing_of, tags
from nardy_rl.export.graph import policy
from nardy_rl.export.selection import CASES, golden_cases
from nardy_rl.export.small import Network, small_network
from nardy_rl.export.strength import read_strength
from nardy_rl.export.values import Values
from nardy_rl.network.checkpoint import Checkpoint, save_checkpoint
from nardy_rl.network.fast_net import fast_net, new_scratch
from nardy_rl.network.inference import rate_plays
from nardy_rl.players import box
from nardy_rl.players.bot import HEURISTIC, RANDOM, simple_bot
from nardy_rl.players.registry import load_player
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.protocol import after_play, list_plays, pending_steps
from nardy_rl.rules.variant import VARIANTS, variant

SHORT = variant("short")


@pytest.fixture(scope="module", autouse=True)
def _one_thread(one_torch_thread):
    pass


@pytest.fixture(scope="module")
def short_bundle(tmp_path_factory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("short"), SHORT, int8_games=20)


def network_of(rules) -> Network:
    return Network(*opinionated_net(rules, HIDDEN).parameters_as_arrays())


# The network in ONNX


@pytest.mark.parametrize("rules", SHEETS.values(), ids=SHEETS)
@pytest.mark.parametrize("number", [0, 1, 1000])
def test_every_reader_gives_the_same_probabilities_and_equities_for_any_number_of_positions(rules, number):
    network = network_of(rules)
    positions, pending = random_inputs(number)
    values = Values(*network, rules)
    probabilities = values.probabilities(positions, pending)
    readers = {
        "torch": torch_reader(opinionated_net(rules, HIDDEN), rules),
        "onnxruntime": onnxruntime_reader(policy(*network, rules)),
        "compiled": compiled_reader(*network, rules),
    }
    for name, reader in readers.items():
        found, equities = reader(positions, pending)
        assert found.shape == (number, rules.outputs), name
        assert np.shape(equities) == (number,), name
        np.testing.assert_allclose(found, probabilities, atol=TOLERANCE, rtol=0, err_msg=name)
        bound = TOLERANCE * values.sensitivity
        np.testing.assert_allclose(equities, values.equities(probabilities), atol=bound, rtol=0, err_msg=name)


@pytest.mark.parametrize("rules", [SHORT, variant("gulbar")], ids=lambda rules: rules.name)
def test_the_graph_takes_raw_positions_and_names_its_outputs(rules):
    model = onnx.load_from_string(policy(*network_of(rules), rules))
    assert model.opset_import[0].version >= 17

    def shapes(values):
        return {
            value.name: (
                onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type),
                [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim],
            )
            for value in values
        }

    pending = {"pending": ("INT8", ["N", 7])} if rules.has_pending else {}
    assert shapes(model.graph.input) == {"positions": ("INT8", ["N", 2, 26])} | pending
    assert shapes(model.graph.output) == {
        "probabilities": ("FLOAT", ["N", rules.outputs]),
        "equity": ("FLOAT", ["N"]),
    }


def test_weights_are_read_without_onnx_as_onnx_reads_them():
    network = network_of(SHORT)
    file = policy(*network, SHORT)
    metadata, arrays = read_policy(file)
    model = onnx.load_from_string(file)
    assert metadata == {pair.key: pair.value for pair in model.metadata_props}
    assert list(arrays) == [tensor.name for tensor in model.graph.initializer]
    for tensor in model.graph.initializer:
        np.testing.assert_array_equal(arrays[tensor.name], onnx.numpy_helper.to_array(tensor))
    np.testing.assert_array_equal(arrays["layers.0.weight"].T, network.weights[0])


def test_int8_weights_are_unfolded_in_the_graph_and_near_enough():
    network = network_of(SHORT)
    small = small_network(network)
    file = policy(small.weights, small.biases, SHORT, small.scales)
    wide = Network(*opinionated_net(SHORT, [256]).parameters_as_arrays())
    folded = small_network(wide)
    assert len(policy(folded.weights, folded.biases, SHORT, folded.scales)) < 0.4 * len(policy(*wide, SHORT))
    assert all(np.abs(weight).max() <= 127 for weight in small.weights)
    positions, pending = random_inputs(200)
    found, _ = onnxruntime_reader(file)(positions, pending)
    unfolded = Values(*small.unfolded(), SHORT).probabilities(positions, pending)
    np.testing.assert_allclose(found, unfolded, atol=TOLERANCE)
    whole = Values(*network, SHORT).probabilities(positions, pending)
    assert 0 < np.abs(found - whole).mean() < 0.005


def test_a_rating_by_int8_weights_depends_on_its_position_alone():
    small = small_network(network_of(SHORT))
    reader = onnxruntime_reader(policy(small.weights, small.biases, SHORT, small.scales))
    positions, pending = random_inputs(50)
    together, _ = reader(positions, pending)
    alone = np.concatenate([reader(positions[i : i + 1], pending[i : i + 1])[0] for i in range(50)])
    np.testing.assert_allclose(together, alone, atol=1e-6)


# Golden cases


@pytest.mark.parametrize("name", VARIANTS)
def test_golden_cases_hold_what_is_odd_in_the_variant(name):
    rules = variant(name)
    cases = golden_cases(rules, Values(*network_of(rules), rules))
    assert len(cases) == CASES >= 500
    assert len({json.dumps([case["position"], case["standing"]]) for case in cases}) == CASES
    least = {"first turn": 20, "bearing off": 30, "won": 10, "no move": 3, "forced": 20}
    if rules.hit:
        least |= {"on the bar": 30, "no move": 20}
    if rules.head:
        least |= {"two off the head": 6}
    if rules.has_pending:
        least |= {"dice passed on": 15, "acts again": 15}
    if rules.chain_moves:
        least |= {"within a chain": 30}
    for tag, number in least.items():
        assert sum(tag in tags(case, rules) for case in cases) >= number, tag
    assert {"game", "opening", "scattered", "home", "ending", "block"} < {case["kind"] for case in cases}
    points = {case["equities"][index] for case in cases for index in won_plays(case)}
    assert points <= set(rules.levels)
    assert len(points) >= 2


def won_plays(case: dict) -> list[int]:
    return [index for index, after in enumerate(case["afterstates"]) if after[0][0] == 15]


@pytest.mark.parametrize("rules", SHEETS.values(), ids=SHEETS)
def test_golden_cases_are_what_the_rules_and_the_compiled_bot_say(rules):
    """From `standing` alone: the plays in their order, who goes on, the choice and all values."""
    network, plays = network_of(rules), new_plays()
    cases = golden_cases(rules, Values(*network, rules), 60)
    readers = {
        "compiled": compiled_reader(*network, rules),
        "torch": torch_reader(opinionated_net(rules, HIDDEN), rules),
    }
    assert check(readers, rules, cases) < TOLERANCE
    net = fast_net(*network, rules)
    scratch = new_scratch(net)
    for case in cases:
        standing, board = standing_of(case), np.array(case["position"], np.int8)
        size, depth, left_over = list_plays(standing, board, rules.rules, plays)
        assert size == len(case["afterstates"])
        coming = after_play(standing, depth, left_over, 0, rules.rules)
        same_player = coming.seat == standing.seat
        assert case["next"]["same_player"] == same_player
        pending = pending_steps(coming)
        chosen = rate_plays(net, board, plays, size, depth, same_player, pending, False, rules.rules, scratch)
        assert chosen == case["choice"]
        np.testing.assert_allclose(scratch.equities[:size], case["equities"], atol=1e-4)
        np.testing.assert_allclose(scratch.probabilities[:size], case["probabilities"], atol=TOLERANCE)


def test_a_reader_that_is_wrong_is_found_out():
    network = network_of(SHORT)
    cases = golden_cases(SHORT, Values(*network, SHORT), 20)
    right = compiled_reader(*network, SHORT)

    def wrong(positions, pending):
        probabilities, equities = right(positions, pending)
        return probabilities + 2 * TOLERANCE, equities

    with pytest.raises(ValueError, match="the cat does not reproduce the network: it differs by 2"):
        check({"the cat": wrong}, SHORT, cases)
    with pytest.raises(ValueError, match="the cat does not reproduce"):
        check({"the cat": lambda *inputs: (right(*inputs)[0], -right(*inputs)[1])}, SHORT, cases)


def test_a_network_without_an_opinion_makes_no_golden_cases():
    network = network_of(SHORT)
    for part in (*network.weights, *network.biases):
        part[:] = 0
    with pytest.raises(ValueError, match=r"no clear choice in \d+ of \d+ decisions, too many for golden cases"):
        golden_cases(SHORT, Values(*network, SHORT), 20)


# The folder


def test_a_bundle_is_small_and_says_what_it_is(short_bundle):
    assert sorted(path.name for path in short_bundle.iterdir()) == sorted([*FILES, "card.json"])
    assert sum(path.stat().st_size for path in short_bundle.iterdir()) < 3_000_000
    card = json.loads((short_bundle / "card.json").read_text())
    assert card["format"] == FORMAT
    assert card["name"] == "short-24-8"
    assert card["variant"] == SHORT.to_dict()
    assert (card["levels"], card["has_pending"]) == ([1, 2, 3], False)
    assert card["outputs"] == ["win", "win_2", "win_3", "loss_2", "loss_3"]
    assert (card["training"]["games"], card["training"]["hidden"]) == (1234, [24, 8])
    assert card["strength"] == []
    assert set(card["files"]) == set(FILES)
    assert card["int8"]["games"] == 20
    page = (short_bundle / "README.md").read_text(encoding="utf-8")
    assert "Not measured." in page
    assert all(f"`{option}`" in page for option in SHORT.to_dict())
    assert all(card["files"][name] in page for name in (POLICY, SMALL_POLICY, GOLDEN))


def test_the_example_of_a_default_name_is_that_of_a_medium_network():
    layers = yaml.safe_load((ROOT / "configs" / "network" / "medium.yaml").read_text(encoding="utf-8"))["hidden"]
    name = bot_name(SHORT, Network(*opinionated_net(SHORT, layers).parameters_as_arrays()))
    options = ROOT / "nardy_rl" / "export" / "configs" / "export.yaml"
    told = {"doc": bot_name.__doc__, "options": options.read_text(encoding="utf-8")}
    assert {key: re.findall(r"short-[\d-]*\d", text) for key, text in told.items()} == {key: [name] for key in told}


def test_the_same_checkpoint_gives_the_same_bundle_byte_for_byte(short_bundle, tmp_path):
    again = write_bundle(tmp_path / "again", SHORT, int8_games=20)
    for path in short_bundle.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name


def test_an_earlier_bundle_is_replaced_and_nothing_else_is_overwritten(tmp_path):
    folder = write_bundle(tmp_path / "one", SHORT, cases=5)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="it holds other things than a bundle, such as notes"):
        write_bundle(tmp_path / "one", SHORT, cases=5)
    (folder / "notes.txt").unlink()
    write_bundle(tmp_path / "one", SHORT, cases=6, int8=False)
    assert not (folder / SMALL_POLICY).exists()
    assert len(from_lines((folder / GOLDEN).read_bytes())) == 6
    assert read_bundle(folder).card["int8"] is None
    with pytest.raises(ValueError, match=r"net\.pt: it is no folder"):
        export(Options(checkpoint=str(tmp_path / "one" / "net.pt"), out=str(tmp_path / "one" / "net.pt")))


def test_an_earlier_bundle_outlives_a_disk_that_fills_up(tmp_path, monkeypatch):
    folder = write_bundle(tmp_path, SHORT, cases=5, int8=False)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    calls = []

    def full(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as caught:
        export(Options(checkpoint=str(tmp_path / "net.pt"), out=str(folder), cases=6, int8=False))
    assert Path(caught.value.filename) == folder / GOLDEN
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_schedule_of_the_run_around_a_checkpoint_is_told(tmp_path):
    phases = "[{games: 9, trace: [0.7, 0.1], minutes: null}]"
    schedule = f"{{batch_games: 512, minibatch: 1024, phases: {phases}}}"
    config = f"variant: {{base: short}}\nseed: 7\nstart: other.pt\nschedule: {schedule}\n"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.yaml").write_text(config)
    folder = write_bundle(tmp_path / "run", SHORT, cases=5)
    told = read_bundle(folder).card["training"]
    assert told["method"] == "TD(λ) by self-play from another net"
    assert (told["seed"], told["minibatch"], told["phases"]) == (7, 1024, [{"games": 9, "trace": [0.7, 0.1]}])
    assert "| 9 | [0.7, 0.1] |" in (folder / "README.md").read_text(encoding="utf-8")


def test_a_network_in_mid_run_says_how_much_of_the_schedule_is_behind_it(tmp_path):
    phases = [{"games": 100, "minutes": None}, {"games": None, "minutes": 10.0}, {"games": 50, "minutes": None}]
    place = {"phase": 1, "phase_games": 12, "phase_seconds": 150.0}
    run = {"options": {"schedule": {"phases": phases}}, "place": place}
    network = network_of(SHORT)
    assert training("net.pt", run, 112, network, SHORT)["done"] == [1.0, 0.25, 0.0]
    place |= {"phase": 2, "phase_games": 50}
    assert training("net.pt", run, 300, network, SHORT)["done"] == [1.0, 1.0, 1.0]
    place |= {"phase": 3, "phase_games": 0}
    assert training("net.pt", run, 300, network, SHORT)["done"] == [1.0, 1.0, 1.0]
    assert "done" not in training("net.pt", {}, 300, network, SHORT)
    save_checkpoint(tmp_path / "net.pt", Checkpoint(SHORT, opinionated_net(SHORT), 112, run=run))
    out = tmp_path / "bot"
    export(Options(checkpoint=str(tmp_path / "net.pt"), out=str(out), cases=5, int8=False))
    assert "| 100.0% |" in (out / "README.md").read_text(encoding="utf-8")


def test_strength_is_taken_from_results_of_either_seat(tmp_path):
    result = play_match(SHORT, simple_bot(HEURISTIC, SHORT), simple_bot(RANDOM, SHORT), 40, 1, 1)
    net = str(tmp_path / "net.pt")
    write_json(tmp_path / "a.json", result_sheet(result, SHORT, f"{net}@1", "/home/me/runs/old/best.pt"))
    write_json(tmp_path / "b.json", result_sheet(result, SHORT, "random", net))
    stopped = SequentialResult(result=result, bound=0, interval=(0.5, 2.5), most_games=100)
    write_json(tmp_path / "c.json", sequential_sheet(stopped, SHORT, "gnubg:2", net))
    results = [str(tmp_path / name) for name in ("a.json", "b.json", "c.json")]
    one, other, early = read_bundle(write_bundle(tmp_path, SHORT, cases=5, strength=results)).card["strength"]
    assert (one["against"], one["plies"], other["against"], other["plies"]) == ("old/best.pt", 1, "random", 0)
    assert one["points_per_game"] == pytest.approx(result.points_per_game, abs=1e-5)
    assert one["interval"] == pytest.approx(result.points_interval, abs=1e-4)
    assert other["points_per_game"] == -one["points_per_game"]
    assert other["win_interval"] == pytest.approx([1 - high for high in reversed(one["win_interval"])], abs=1e-5)
    assert (early["against"], early["interval"], early["win_interval"]) == ("gnubg:2", [-2.5, -0.5], None)
    page = (tmp_path / "bot" / "README.md").read_text(encoding="utf-8")
    assert "| old/best.pt | 1-ply | 40 |" in page
    assert "/home/me" not in page + (tmp_path / "bot" / "card.json").read_text()


@pytest.fixture
def boxed_short(tmp_path, monkeypatch) -> str:
    """The path, from the folder in which it runs, of a checkpoint in a box of its own, whose name is short."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(box, "BOX", tmp_path / "checkpoints")
    (tmp_path / "checkpoints" / "short").mkdir(parents=True)
    (tmp_path / "checkpoints" / "short" / "best.pt").touch()
    (tmp_path / "link.pt").symlink_to("checkpoints/short/best.pt")
    return "checkpoints/short/best.pt"


def strength(checkpoint, a, b):
    """What is read of a match in which each of two pairs won A 1 and then 2 points, of these names."""
    games = new_games(2)
    games.games[:] = [(1, 0, 50, 0), (2, 1, 50, 0)]
    result = match_result(SHORT, games, judged=False, seconds=1.0, seed=1)
    write_json(Path("result.json"), result_sheet(result, SHORT, a, b))
    return read_strength("result.json", checkpoint, SHORT)


@pytest.mark.parametrize(
    "name", ["short", "checkpoints/short/best.pt", "link.pt", "checkpoints/../link.pt", "{}/link.pt"]
)
def test_a_bot_is_known_by_where_it_lies_however_that_is_written(boxed_short, name):
    name = name.format(Path.cwd())
    for checkpoint in (boxed_short, str(Path(boxed_short).resolve()), "./link.pt"):
        told = strength(checkpoint, f"{name}@1", "gnubg:0")
        assert (told["points_per_game"], told["plies"], told["against"]) == (1.5, 1, "gnubg:0")
        told = strength(checkpoint, "gnubg:0", name)
        assert (told["points_per_game"], told["plies"], told["against"]) == (-1.5, 0, "gnubg:0")


def test_of_a_bot_against_itself_a_result_counts_for_the_first(boxed_short):
    told = strength(boxed_short, "short@2", "short@1")
    assert (told["points_per_game"], told["plies"], told["against"]) == (1.5, 2, "short (1-ply)")


@pytest.mark.parametrize("other", ["runs/other/best.pt", "best.pt@1", "random", "my_bot"])
def test_a_result_of_other_bots_is_refused(boxed_short, other):
    said = f"result.json is a result of {other} against gnubg:0: neither is checkpoints/short/best.pt"
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        strength(boxed_short, other, "gnubg:0")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is truncated or no result"),
        ("[]", "is no result of evaluate.py"),
        ('{"variant": {"base": "long"}}', "is a result of other rules"),
        ('{"variant": {"base": "short"}}', "is no result of evaluate.py"),
        (None, "cannot read the result"),
    ],
)
def test_a_result_that_says_nothing_of_the_bot_is_refused(tmp_path, content, said):
    if content is not None:
        (tmp_path / "result.json").write_text(content)
    with pytest.raises(ValueError, match=said):
        write_bundle(tmp_path, SHORT, strength=[str(tmp_path / "result.json")])


# The command


def test_the_command_writes_a_bundle_and_nothing_else(tmp_path):
    save_checkpoint(tmp_path / "net.pt", Checkpoint(SHORT, opinionated_net(SHORT, HIDDEN)))
    options = ["checkpoint=net.pt", "out=bot", "name=Anna", "cases=10", "int8_games=4", "workers=1"]
    command = [sys.executable, "-m", "nardy_rl.export", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "torch, onnxruntime, the compiled network: the same plays in 10 golden cases" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bot", "net.pt"]
    assert read_bundle(tmp_path / "bot").card["name"] == "Anna"
    load_player(str(tmp_path / "bot"), SHORT)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["checkpoint=none.pt", "out=bot"], "cannot read the checkpoint none.pt: No such file"),
        (["checkpoint=none.pt"], "option out has no default: write out=…"),
        (["checkpoint=none.pt", "out=bot", "nane=x"], "unknown option nane; known are cases, checkpoint, int8, "),
        (["checkpoint=none.pt", "out=bot", "variant=long"], "unknown option variant; known are cases, checkpoint, "),
        (["checkpoint=none.pt", "out=bot", "--cases=7"], "options are written without dashes: cases=7"),
        (["checkpoint=none.pt", "out=bot", "cases=0"], "option cases must be a whole number from 1; got 0"),
        (["checkpoint=none.pt", "out=bot", "int8_games=3"], "option int8_games must be 0 or an even number from 4"),
    ],
)
def test_a_refusal_of_the_command_is_one_line_and_exit_code_2(monkeypatch, capsys, tmp_path, arguments, said):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["export", *arguments])
    with pytest.raises(SystemExit) as caught:
        runpy.run_module("nardy_rl.export", run_name="__main__")
    assert caught.value.code == 2
    output = capsys.readouterr()
    assert (output.out, output.err.count("\n")) == ("", 1)
    assert output.err.startswith(f"error: {said}"), output.err
    assert list(tmp_path.iterdir()) == []


def test_onnxruntime_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ValueError, match=r"pip install 'nardy_rl\[export\]'"):
        onnxruntime_reader(b"")
