"""Bots by name, and the adapter to gnubg."""

import json
import pickle
import sys

import numpy as np
import pytest
import torch

from nardy_rl.evaluation.match import play_match
from nardy_rl.network.checkpoint import Checkpoint, save_checkpoint
from nardy_rl.network.value_net import ValueNet
from nardy_rl.players import gnubg
from nardy_rl.players.bot import NETWORK
from nardy_rl.players.box import BOX, boxed
from nardy_rl.players.gnubg import find_play
from nardy_rl.players.registry import BOT_NAMES, load_player, trained_variant
from nardy_rl.rules.game import Game
from nardy_rl.rules.kernel import new_plays
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.protocol import LATER, generate
from nardy_rl.rules.variant import VARIANTS, variant

SHORT = variant("short")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("huristic", "unknown bot 'huristic'; known are random, heuristic, .*did you mean heuristic?"),
        ("gnubg", "unknown bot 'gnubg'.*did you mean gnubg:0?"),
        ("gnubg:3", "unknown bot 'gnubg:3'"),
        ("best.onnx", r"checkpoints by their path \(\*\.pt\)"),
        ("nowhere/best.pt", "cannot read the checkpoint nowhere/best.pt: No such file"),
    ],
)
def test_an_unknown_bot_is_refused_with_what_is_known(name, said):
    with pytest.raises(ValueError, match=said) as caught:
        load_player(name, SHORT)
    assert "\n" not in str(caught.value)


def test_a_trained_bot_says_of_which_variant_it_is(tmp_path):
    path, long = tmp_path / "net.pt", variant("long", koks=3)
    save_checkpoint(path, Checkpoint(long, ValueNet([8], long)))
    assert trained_variant(str(path)) == trained_variant(f"{path}@2") == long
    assert [trained_variant(name) for name in BOT_NAMES] == [None] * len(BOT_NAMES)
    with pytest.raises(ValueError, match=r"unknown bot 'huristic'.*did you mean heuristic\?"):
        trained_variant("huristic")


def test_a_bot_in_the_box_has_its_variants_name():
    """Found from wherever one stands."""
    assert set(boxed()) == set(VARIANTS)
    listed = json.loads((BOX / "bundles.json").read_text(encoding="utf-8"))["bundles"]  # for the page in a browser
    assert listed == [f"{name}/bundle" for name in boxed()]
    for name, path in boxed().items():
        rules = variant(name)
        assert trained_variant(name) == trained_variant(f"{name}@1") == rules
        assert path.stat().st_size < 5_000_000
        bare, ahead = load_player(name, rules), load_player(f"{name}@2", rules)
        assert (bare.kind, bare.plies, ahead.plies) == (NETWORK, 0, 2)
        np.testing.assert_array_equal(bare.rater.net.bias, load_player(str(path), rules).rater.net.bias)
    with pytest.raises(ValueError, match=r"was trained for variant short with koks=3 \(not 4\)"):
        load_player("short", variant("short", koks=4))
    with pytest.raises(ValueError, match="a bot looks 0, 1, 2, 3 plies ahead, not '4': short@4"):
        load_player("short@4", SHORT)
    with pytest.raises(ValueError, match=r"of trained ones .*short, .*did you mean short\?"):
        load_player("shorts", SHORT)


@pytest.mark.parametrize("name", ["gnubg:0", "pubeval"])
@pytest.mark.parametrize("rules", [variant("long"), variant("short", koks=4)])
def test_gnubg_plays_no_other_rules_than_its_own(name, rules):
    pytest.importorskip("gnubg_nn")
    with pytest.raises(ValueError, match="gnubg and pubeval play variant short by its preset rules only"):
        load_player(name, rules)


def test_without_gnubg_the_way_to_get_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gnubg_nn", None)
    gnubg._engine.cache_clear()
    with pytest.raises(ValueError, match="pip install gnubg-nn"):
        load_player("gnubg:0", SHORT)


def test_a_checkpoint_plays_as_the_network_in_it(tmp_path):
    torch.manual_seed(1)
    net = ValueNet([8], SHORT)
    save_checkpoint(tmp_path / "net.pt", Checkpoint(SHORT, net))
    bot = load_player(str(tmp_path / "net.pt"), SHORT)
    assert bot.kind == NETWORK
    np.testing.assert_array_equal(bot.rater.net.bias[:8], net.layers[0].bias.detach().numpy())
    with pytest.raises(ValueError, match="was trained for variant short, not long"):
        load_player(str(tmp_path / "net.pt"), variant("long"))


def test_the_play_that_hits_on_its_way_is_told_from_the_one_that_does_not():
    position = Position.from_points({24: 1, 1: 14}, {2: 1, 12: 14})
    afters = [play.after.array for play in legal_plays(SHORT, position, (2, 1))]
    plays, room = new_plays(), np.empty((2, 26), np.int8)
    _, size, _, _ = generate(position.array, 2, 1, LATER, SHORT.rules, plays)
    assert [find_play(after, position.array, plays, size, SHORT.rules, room) for after in afters] == list(range(size))
    rows = [after[0].tobytes() for after in afters]
    assert len(set(rows)) < size
    assert find_play(position.array, position.array, plays, size, SHORT.rules, room) == -1


@pytest.mark.parametrize("name", [name for name in BOT_NAMES if name in ("gnubg:0", "gnubg:1", "pubeval")])
def test_gnubg_always_makes_a_legal_play(name):
    pytest.importorskip("gnubg_nn")
    player = pickle.loads(pickle.dumps(load_player(name, SHORT)))
    plays = new_plays()
    chosen = []
    game = Game.begin(SHORT, key=4)
    for _ in range(60 if name == "gnubg:1" else 600):
        if game.finished:
            game = Game.begin(SHORT, game.key, game.counter)
        board, dice = game.position.array, game.dice[:2]
        _, size, _, _ = generate(board, *dice, LATER, SHORT.rules, plays)
        # Raises RuntimeError if the engine's play is not among the generator's.
        chosen.append((player.choose(board, plays, size, dice), size))
        game.play(game.random_index())
    assert all(0 <= index < size for index, size in chosen)
    assert any(index for index, _ in chosen)


@pytest.mark.parametrize("name", ["gnubg:0", "pubeval"])
def test_the_engines_open_as_the_books_do(name):
    pytest.importorskip("gnubg_nn")
    start = Position.start(SHORT)
    player, plays = load_player(name, SHORT), new_plays()
    made_points = {(3, 1): (5, 8), (4, 2): (4, 8), (6, 1): (7, 8)}
    for dice, (point, source) in made_points.items():
        _, size, _, _ = generate(start.array, *dice, LATER, SHORT.rules, plays)
        after = legal_plays(SHORT, start, dice)[player.choose(start.array, plays, size, dice)].after
        assert after.array[0, point] == 2
        assert after.array[0, source] < 3


def test_gnubg_against_pubeval_scores_as_published():
    pytest.importorskip("gnubg_nn")
    gnubg_0, pubeval = (load_player(name, SHORT) for name in ("gnubg:0", "pubeval"))
    result = play_match(SHORT, gnubg_0, pubeval, 300, seed=1, workers=1)
    assert abs(result.points_per_game - 0.63) < 4 * result.standard_error
    assert result.points_per_game - 3.1 * result.standard_error > 0
    swapped = play_match(SHORT, pubeval, gnubg_0, 40, seed=1, workers=1)
    again = play_match(SHORT, gnubg_0, pubeval, 40, seed=1, workers=1)
    assert swapped.points_per_game == -again.points_per_game
