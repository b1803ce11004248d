"""Reading a bundle: it is a bot, and a damaged one is refused by name."""

import hashlib
import json
import os
import runpy
import shutil
import subprocess
import sys

import numpy as np
import pytest
from bundles import HIDDEN, ROOT, client, write_bundle
from nets import opinionated_net

from nardy_rl.bundle import CARD, FILES, POLICY, card_digest, read_bundle
from nardy_rl.evaluation.match import play_match
from nardy_rl.players.bot import NETWORK
from nardy_rl.players.registry import load_player
from nardy_rl.rules.variant import variant

GULBAR = variant("gulbar")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return write_bundle(tmp_path_factory.mktemp("gulbar"), GULBAR, cases=12)


@pytest.fixture
def bundle(original, tmp_path):
    """A copy to spoil."""
    return shutil.copytree(original, tmp_path / "bot")


def refusal(folder) -> str:
    """The line with which a damaged bundle is refused, by the package and by the client."""
    with pytest.raises(ValueError, match=r".") as caught:
        read_bundle(folder)
    with pytest.raises(client().BundleError):
        client().Bot(folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_bundle_plays_as_the_network_in_it(original):
    bot = load_player(str(original), GULBAR)
    assert (bot.kind, bot.plies) == (NETWORK, 0)
    assert load_player(f"{original}@1", GULBAR).plies == 1
    net = opinionated_net(GULBAR, HIDDEN)
    for ours, theirs in zip(read_bundle(original).parameters_as_arrays(), net.parameters_as_arrays(), strict=True):
        assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
    checkpoint = load_player(str(original.parent / "net.pt"), GULBAR)
    assert play_match(GULBAR, bot, checkpoint, 20, seed=1, workers=1).points_per_game == 0


def test_a_bundle_of_other_rules_is_refused(original):
    with pytest.raises(ValueError, match="was trained for variant gulbar, not long"):
        load_player(str(original), variant("long"))
    with pytest.raises(ValueError, match=r"was trained for variant gulbar with head=1 \(not 2\)"):
        load_player(str(original), variant("gulbar", head=2))
    with pytest.raises(ValueError, match="plies ahead, not '9'"):
        load_player(f"{original}@9", GULBAR)


@pytest.mark.parametrize("name", FILES)
def test_a_byte_more_less_or_other_in_a_file_is_noticed(bundle, name):
    content = (bundle / name).read_bytes()
    for spoilt in (content[:-1], content + b"\n", content[:100] + bytes([content[100] ^ 1]) + content[101:], b""):
        (bundle / name).write_bytes(spoilt)
        assert refusal(bundle) == f"{bundle / name} is damaged: it is not the file of which card.json has the SHA-256"


@pytest.mark.parametrize("name", [*FILES, CARD])
def test_a_missing_file_is_named(bundle, name):
    (bundle / name).unlink()
    assert refusal(bundle) == f"{bundle} is no whole bundle: it has no {name}"


def test_a_truncated_or_altered_card_is_refused(bundle):
    text = (bundle / CARD).read_text()
    (bundle / CARD).write_text(text[:-20])
    assert refusal(bundle) == f"{bundle / CARD} is truncated or no card of a bundle"
    for old, new in (('"head": 1', '"head": 2'), ('"strength": []', '"strength": [1]'), ("gulbar-24-8", "gulbar-24-9")):
        assert old in text
        (bundle / CARD).write_text(text.replace(old, new))
        assert refusal(bundle) == f"{bundle / CARD} is damaged: it is not what was written"
    for content in ("[]", "7", "\udcff".encode("utf-8", "surrogatepass")):
        (bundle / CARD).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert "is truncated or no card" in refusal(bundle)


def test_even_a_card_whose_numbers_were_all_adapted_has_to_fit_its_policy(bundle):
    def rewrite(**changes):
        card = json.loads((bundle / CARD).read_text()) | changes
        (bundle / CARD).write_text(json.dumps(card | {"sha256": card_digest(card)}))

    rewrite(format=1)
    assert refusal(bundle) == f"{bundle / CARD} has bundle format 1; this version reads format 2"
    rewrite(format=2, variant=variant("long").to_dict())
    assert refusal(bundle) == f"{bundle / CARD} and {POLICY} are of different variants or formats"
    rewrite(variant=GULBAR.to_dict())
    read_bundle(bundle)
    policy = (bundle / POLICY).read_bytes()
    files = json.loads((bundle / CARD).read_text())["files"]
    for spoilt in (policy[: len(policy) // 2], b"\xff" * 50, b"", policy.replace(b"layers.1.bias", b"layers.7.bias")):
        (bundle / POLICY).write_bytes(spoilt)
        rewrite(files=files | {POLICY: hashlib.sha256(spoilt).hexdigest()})
        with pytest.raises(ValueError, match="holds no network that nardy_rl can play"):
            read_bundle(bundle)
        if b"layers.7" not in spoilt:
            with pytest.raises(client().BundleError, match="nothing that onnxruntime can load"):
                client().Bot(bundle)
    rewrite(files={"../net.pt": "0"})
    with pytest.raises(ValueError, match="does not list a bundle's files"):
        read_bundle(bundle)


def test_evaluate_refuses_a_damaged_bundle_in_one_line(bundle, monkeypatch, capsys):
    (bundle / POLICY).write_bytes((bundle / POLICY).read_bytes()[:-7])
    monkeypatch.setattr(sys, "argv", ["evaluate.py", "variant=gulbar", f"a={bundle}", "b=random"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(ROOT / "evaluate.py"), run_name="__main__")
    assert caught.value.code == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith(f"error: {bundle / POLICY} is damaged")


def test_a_machine_without_torch_and_onnx_plays_a_bundle(original, tmp_path):
    """The bundle's folder, the package and the script are enough."""
    code = (
        "import sys, runpy\n"
        "for name in ('torch', 'onnx', 'onnxruntime', 'tensorboard'): sys.modules[name] = None\n"
        f"sys.argv = ['evaluate.py', 'variant=gulbar', 'a={original}', 'b=random', 'games=20', 'luck=false']\n"
        f"runpy.run_path({str(ROOT / 'evaluate.py')!r}, run_name='__main__')\n"
    )
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "points per game for A" in done.stdout
