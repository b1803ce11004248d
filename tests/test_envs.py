"""The environments: Gymnasium with one game and with many, PettingZoo, and their pictures."""

import dataclasses
import itertools
import json
import warnings
from collections import Counter

import gymnasium
import numpy as np
import pettingzoo.test
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

from nardy_rl.envs import NardyAEC, NardyEnv, NardyVectorEnv, draw_board
from nardy_rl.envs.gym_env import observe
from nardy_rl.rules.dice import opening_roll, roll, stream
from nardy_rl.rules.game import Game
from nardy_rl.rules.kernel import MAX_PLAYS
from nardy_rl.rules.notation import parse_position
from nardy_rl.rules.plays import legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import VARIANTS, variant

ID = "nardy_rl/Nardy-v0"
LONG, SHORT = variant("long"), variant("short")
MANY = parse_position(SHORT, "X=24:1,22:2,20:2,18:1,16:2,14:1,12:2,10:2,8:2; O=24:15")


def make(name="long", **options):
    return gymnasium.make(ID, variant=name, **options).unwrapped


def make_many(number: int, **options) -> NardyVectorEnv:
    return gymnasium.make_vec(ID, num_envs=number, vectorization_mode="vector_entry_point", **options)


def random_episode(env, rng: np.random.Generator):
    """Play the env's game out at random; everything it gave on the way."""
    while True:
        result = env.step(int(rng.integers(env.action_space.number)))
        yield result
        if result[2]:
            return


# The dice


def test_dice_depend_on_seed_index_and_counter_alone_and_are_fair():
    keys = [stream(seed, index) for seed in range(20) for index in range(50)]
    assert len(set(keys)) == 1000
    draws = [(key, counter) for key in keys for counter in range(36)]
    rolls = Counter(roll(*draw) for draw in draws)
    assert len(rolls) == 36
    assert all(850 < count < 1150 for count in rolls.values()), rolls  # 1000 ± 4.8 standard deviations
    openings = Counter(opening_roll(*draw) for draw in draws)
    assert len(openings) == 30
    assert not any(first == second for first, second in openings)
    assert all(1020 < count < 1380 for count in openings.values()), openings
    assert [roll(*draw) for draw in draws[:50]] == [roll(*draw) for draw in draws[:50]]


# Gymnasium, one game


@pytest.mark.parametrize("name", VARIANTS)
def test_gymnasiums_own_check_finds_nothing_to_warn_about(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name, render_mode="rgb_array"))
        check_env(make(name, render_mode="ansi"))


@pytest.mark.parametrize("name", VARIANTS)
def test_one_seed_gives_one_game_and_every_observation_lies_in_the_space(name):
    games = []
    for _ in range(2):
        env = make(name)
        observation, info = env.reset(seed=11)
        seen = [observation["position"].tolist()]
        for observation, reward, finished, truncated, info in random_episode(env, np.random.default_rng(1)):
            assert env.observation_space.contains(observation)
            assert observation["dice"][0] >= observation["dice"][1]
            assert info["action_mask"].sum() == len(info["afterstates"]) == len(info["moves"])
            assert (reward == 0) != finished
            assert not truncated
            seen.append(observation["position"].tolist())
        assert abs(reward) in env.variant.levels
        assert observation["dice"].tolist() == [0, 0]
        assert info["afterstates"].shape == (0, 2, 26)
        games.append(seen)
    assert games[0] == games[1]


def test_an_opponent_of_your_own_sees_the_position_from_his_side():
    seen = []

    def last(position, plays, rng):
        seen.append((position, plays))
        return len(plays) - 1

    env = make("short", opponent=last)
    env.reset(seed=3)
    for _ in random_episode(env, np.random.default_rng(2)):
        pass
    assert len(seen) > 10
    for position, plays in seen:
        assert all(play.after.array[1].sum() == 15 for play in plays)
        assert any((play.after.array[0] != position.array[0]).any() for play in plays) or not plays[0].moves


def test_either_seat_begins_by_the_lottery_of_the_seed():
    env = make("long")
    env.reset(seed=0)
    starts = Counter()
    for _ in range(200):
        observation, _ = env.reset()
        starts[int(observation["position"][1].tolist()[24])] += 1
    # 15 on the opponent's head: the learner began; fewer: the opponent has played.
    assert 70 < starts[15] < 130


def test_p25_the_same_board_with_other_dice_is_another_observation():
    env = make("short")
    seen = {}
    for dice in ((6, 1), (1, 6), (4, 2)):
        observation, info = env.reset(seed=1, options={"dice": dice})
        assert env.observation_space.contains(observation)
        assert (observation["position"] == Position.start(SHORT).array).all()
        seen[dice] = observation["dice"].tolist(), info["afterstates"].tolist()
    assert seen[6, 1] == seen[1, 6]
    assert seen[6, 1][0] != seen[4, 2][0]
    assert seen[6, 1][1] != seen[4, 2][1]


P26 = [
    ("long", "X=24:10,20:1,17:2,11:1,9:1; O=24:11,16:1,14:1,10:1,3:1", {(6, 3): (21, 9), (2, 2): (10, 4)}),
    ("short", "X=24:1,21:1,13:4,8:4,6:5; O=5:1,6:4,8:4,13:4,24:2", {(6, 2): (18, 17)}),
]


@pytest.mark.parametrize(("name", "text", "counts"), P26)
def test_p26_both_seats_see_the_same_game(name, text, counts):
    position = parse_position(variant(name), text)
    assert position.swapped().swapped() == position
    for dice, expected in counts.items():
        for mover, number in zip((position, position.swapped()), expected, strict=True):
            _, info = make(name).reset(options={"position": mover, "dice": dice})
            afterstates = {after.tobytes() for after in info["afterstates"]}
            assert len(afterstates) == number
            other_seat = Game.from_position(variant(name), mover, key=0, dice=dice)
            other_seat.standing = other_seat.standing._replace(seat=1)
            assert {play.after.array.tobytes() for play in other_seat.plays} == afterstates
            assert other_seat.view(0) == mover.swapped()


def test_p35_a_double_that_cannot_be_finished_is_one_normal_action():
    env = make("long")
    _, info = env.reset(seed=1, options={"dice": (6, 6), "first_turn": "starter"})
    assert len(info["moves"]) == 1
    assert info["afterstates"][0, 0, [24, 18]].tolist() == [13, 2]
    observation, reward, finished, _, _ = env.step(0)
    assert (reward, finished) == (0, False)
    assert observation["position"][0, [24, 18]].tolist() == [13, 2]
    assert observation["position"][1, 24] < 15


def test_p35_a_pass_is_one_normal_action():
    shut = parse_position(LONG, "X=24:15; O=24:13,10:1,8:1")
    env = make("long")
    _, info = env.reset(seed=1, options={"position": shut, "dice": (4, 2)})
    assert info["moves"] == [()]
    observation, reward, finished, _, _ = env.step(0)
    assert (reward, finished) == (0, False)
    assert (observation["position"][0] == shut.array[0]).all()
    game = Game.from_position(LONG, shut, stream(1, 0), dice=(4, 2))
    game.play(0)
    assert game.seat == 1
    assert game.position == shut.swapped()


def test_p36_each_of_711_plays_can_be_chosen_by_its_action():
    env = make("short")
    options = {"position": MANY, "dice": (1, 1)}
    _, info = env.reset(seed=1, options=options)
    assert len({after.tobytes() for after in info["afterstates"]}) == 711
    assert info["action_mask"].tolist() == [1] * 711 + [0] * (MAX_PLAYS - 711)
    game = Game.from_position(SHORT, MANY, key=0, dice=(1, 1))
    assert [play.after.array.tolist() for play in game.plays] == info["afterstates"].tolist()
    for action, after in enumerate(info["afterstates"]):
        played = dataclasses.replace(game)
        played.play(action)
        assert (played.position.array == after[::-1]).all()
    for action in (0, 127, 128, 255, 256, 710):
        env.reset(seed=1, options=options)
        observation, *_ = env.step(action)
        # The opponent has answered since, and may have hit: nobody of the learner's stands elsewhere than on the bar.
        left = info["afterstates"][action, 0] - observation["position"][0]
        assert left[25] == min(left) == -left[left > 0].sum()
    with pytest.raises(ValueError, match=r"action 711 names no play: this roll has 711 plays, 0 to 710"):
        game.play(711)


@pytest.mark.parametrize("action", [-1, 18, MAX_PLAYS, 0.0, None])
def test_an_action_that_is_no_play_is_named_and_changes_nothing(action):
    env = make("short")
    env.reset(seed=1, options={"dice": (6, 2)})
    before = env.state()
    with pytest.raises(ValueError, match="names no play"):
        env.step(action)
    assert env.state() == before


def test_a_step_after_the_end_is_refused():
    env = make("short", render_mode="ansi")
    env.reset(options={"position": parse_position(SHORT, "X=1:1; O=6:15"), "dice": (6, 5)})
    _, reward, finished, _, _ = env.step(0)
    assert (reward, finished) == (2, True)
    assert "X wins 2" in env.render()
    with pytest.raises(ValueError, match="the game is finished"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"die": 6}, "unknown option 'die'"),
        ({"dice": (7, 1)}, "dice are two whole numbers"),
        ({"position": [24]}, "option position must be a Position"),
        ({"position": Position.from_points({24: 15}, {12: 15})}, "both sides stand on"),
        ({"position": Position.from_points({}, {24: 15})}, "the game is finished"),
        ({"first_turn": "third"}, "first_turn is None"),
    ],
)
def test_options_that_cannot_be_are_named(options, fault):
    with pytest.raises(ValueError, match=fault):
        make("long").reset(options=options)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"variant": "lnog"}, "unknown variant 'lnog'"),
        ({"opponent": "gnubg"}, "opponent is"),
        ({"render_mode": "svg"}, "render_mode is"),
    ],
)
def test_an_env_that_cannot_be_made_says_why(options, fault):
    with pytest.raises(ValueError, match=fault):
        NardyEnv(**options)


def test_an_env_before_its_first_reset_says_what_to_do():
    for call in (lambda: make().step(0), lambda: make_many(2).step(np.zeros(2, int)), lambda: NardyAEC().game):
        with pytest.raises(ValueError, match="call reset first"):
            call()


def test_p22_a_saved_game_remembers_whose_first_turn_has_been():
    def double_two(position, plays, rng):
        return next(i for i, play in enumerate(plays) if play.after.array[0, [24, 16]].tolist() == [14, 1])

    env = make("long", opponent=double_two)
    env.reset(seed=1, options={"dice": (2, 2)})
    env.game.play(env.game.find("24/16"), dice=(2, 2))
    env.game.play(double_two(None, env.game.plays, None), dice=(6, 6))
    saved = json.loads(json.dumps(env.state()))
    loaded = make("long")
    _, info = loaded.restore(saved)
    assert info["afterstates"][:, 0, [24, 18, 10]].tolist() == [[13, 1, 1]]
    assert loaded.game.first_turn is None


@pytest.mark.parametrize("name", VARIANTS)
def test_a_saved_game_goes_on_exactly(name):
    def anything(position, plays, rng):
        return int(rng.integers(len(plays)))

    env, loaded = make(name, opponent=anything), make(name, opponent=anything)
    env.reset(seed=4)
    for _ in range(3):
        env.step(0)
    _, info = loaded.restore(json.loads(json.dumps(env.state())))
    assert info["moves"] == [play.moves for play in env.game.plays]
    runs = [
        [step[0]["position"].tolist() for step in random_episode(e, np.random.default_rng(3))] for e in (env, loaded)
    ]
    assert runs[0] == runs[1]
    assert (env.reset()[0]["position"] == loaded.reset()[0]["position"]).all()


@pytest.mark.parametrize("state", [{}, {"game": {}, "generator": {}}, 7])
def test_what_is_no_saved_state_is_refused(state):
    with pytest.raises(ValueError, match="this is no saved"):
        make("long").restore(state)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("key", "x"),
        ("standing", 6),
        ("standing", {"seat": 0}),
        *(
            ("standing", {**Game.begin(LONG, 1).state()["standing"], field: value})
            for field, value in [
                ("seat", 2),
                ("starter", True),
                ("rolls_1", -1),
                ("rolls_0", "many"),
                ("first", 0),
                ("first", 7),
                ("number", 0),
                ("number", 5),
                ("number", 1),
                ("later", 5 << 4),
                ("passing", 1),
                ("own", 2),
                ("head_left", 16),
            ]
        ),
    ],
)
def test_a_saved_game_that_was_tampered_with_is_refused(key, value):
    env = make("long")
    env.reset(seed=1)
    state = env.state()
    env.restore(state)
    with pytest.raises(ValueError, match="this is no saved game"):
        env.restore({**state, "game": {**state["game"], key: value}})
    with pytest.raises(ValueError, match="generator is not"):
        env.restore({**state, "generator": {"bit_generator": "MT19937"}})


def test_a_state_of_another_variant_is_refused():
    env = make("short")
    env.reset(seed=1)
    with pytest.raises(ValueError, match="one of short"):
        make("long").restore(env.state())


# Gymnasium, many games


@pytest.mark.parametrize("name", VARIANTS)
def test_p35_a_thousand_random_games_end_in_a_result(name):
    number = 250
    env = make_many(number, variant=name)
    observations, info = env.reset(seed=7)
    rng = np.random.default_rng(7)
    played = np.zeros(number, np.int64)
    results = []
    while len(results) < 1000:
        sizes = np.diff(info["offsets"])
        observations, rewards, finished, truncated, info = env.step((rng.random(number) * sizes).astype(np.int64))
        assert (observations["position"].sum(axis=2) == 15).all()
        assert (info["afterstates"].sum(axis=2) == 15).all()
        played += 1
        assert played.max() < 1000
        played[finished] = 0
        assert ((rewards != 0) == finished).all()
        assert not truncated.any()
        results += rewards[finished].tolist()
    assert env.observation_space.contains(observations)
    assert {abs(result) for result in results} == set(env.variant.levels)
    assert 0.42 < np.mean(np.array(results) > 0) < 0.58


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_many_games_at_once_are_the_games_played_one_by_one(name, mode):
    """Two episodes of every game against `Game` on the same stream, every play of every turn compared."""
    number, seed = 4, 5
    env = make_many(number, variant=name, autoreset_mode=mode)
    observations, info = env.reset(seed=seed)
    singles = [answered(Game.begin(variant(name), stream(seed, index))) for index in range(number)]
    rng = np.random.default_rng(0)
    ends = np.zeros(number, np.int64)
    while ends.min() < 2:
        actions = np.zeros(number, np.int64)
        for index, game in enumerate(singles):
            assert (observations["position"][index] == game.view(0).array).all()
            for part, seen in observe(game, 0).items():
                assert (observations[part][index] == seen).all()
            start, stop = info["offsets"][index : index + 2]
            assert stop - start == len(game.plays)
            for after, play in zip(info["afterstates"][start:stop], game.plays, strict=True):
                assert (after == play.after.array).all()
            actions[index] = rng.integers(max(len(game.plays), 1))
        observations, rewards, finished, _, info = env.step(actions)
        for index, game in enumerate(singles):
            if game.finished:
                singles[index] = answered(Game.begin(variant(name), game.key, game.counter))
                assert (rewards[index], finished[index]) == (0, False)
                continue
            game.play(int(actions[index]))
            answered(game)
            assert (rewards[index], finished[index]) == (game.reward(0), game.finished)
            ends[index] += game.finished
            if game.finished and mode == AutoresetMode.SAME_STEP:
                assert (info["final_obs"][index]["position"] == game.view(0).array).all()
                assert info["_final_obs"].tolist() == finished.tolist()
                singles[index] = answered(Game.begin(variant(name), game.key, game.counter))


def answered(game: Game) -> Game:
    """The game after all that the random opponent plays before seat 0 acts."""
    while game.seat == 1 and not game.finished:
        game.play(game.random_index())
    return game


@pytest.mark.parametrize("name", VARIANTS)
def test_the_first_of_many_games_is_the_one_of_the_single_env(name):
    single, many = make(name), make_many(1, variant=name)
    observation, info = single.reset(seed=9)
    observations, infos = many.reset(seed=9)
    finished = False
    while not finished:
        assert all((observations[part][0] == seen).all() for part, seen in observation.items())
        assert (infos["afterstates"] == info["afterstates"]).all()
        action = len(info["moves"]) // 2
        observation, reward, finished, _, info = single.step(action)
        observations, rewards, *_, infos = many.step(np.array([action]))
        assert rewards[0] == reward


def test_a_games_stream_does_not_depend_on_how_many_others_there_are():
    few, more = make_many(3), make_many(8)
    assert (few.reset(seed=2)[0]["position"] == more.reset(seed=2)[0]["position"][:3]).all()


def test_many_games_name_the_action_that_is_no_play():
    env = make_many(3, variant="short")
    _, info = env.reset(seed=1)
    size = int(np.diff(info["offsets"])[1])
    with pytest.raises(ValueError, match=f"action {size} of game 1 names no play: this roll has {size} plays"):
        env.step(np.array([0, size, 0]))
    with pytest.raises(ValueError, match="actions are 3 whole numbers"):
        env.step(np.zeros(2, np.int64))


def test_many_games_know_all_their_options():
    for options, fault in (({"autoreset_mode": "Disabled"}, "autoreset_mode must be"), ({"num_envs": 0}, "num_envs")):
        with pytest.raises(ValueError, match=fault):
            NardyVectorEnv(**options)
    with pytest.raises(ValueError, match="takes no options"):
        make_many(2).reset(options={"dice": (6, 1)})


def test_under_jacoby_every_game_counts_single_in_both_envs():
    rules = variant("short", jacoby=True)
    env = make_many(64, variant=rules)
    _, info = env.reset(seed=1)
    rng = np.random.default_rng(1)
    rewards = set()
    for _ in range(150):
        actions = (rng.random(64) * np.diff(info["offsets"])).astype(np.int64)
        _, reward, _, _, info = env.step(actions)
        rewards |= set(reward.tolist())
    assert rewards == {-1.0, 0.0, 1.0}
    single = make(rules)
    single.reset(options={"position": parse_position(SHORT, "X=1:1; O=6:15"), "dice": (6, 5)})
    assert single.step(0)[1] == 1


# PettingZoo


# It would rather have a plain array, but the mask must travel with it; at the end nothing is legal.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", VARIANTS)
def test_pettingzoos_own_tests_pass(name, capsys):
    pettingzoo.test.api_test(NardyAEC(name), num_cycles=150)
    pettingzoo.test.seed_test(lambda: NardyAEC(name), num_cycles=60)


@pytest.mark.parametrize("name", VARIANTS)
def test_two_agents_take_turns_and_their_rewards_cancel(name):
    env = NardyAEC(name)
    env.reset(seed=6)
    rng = np.random.default_rng(6)
    for agent in env.agent_iter():
        observation, _, finished, _, info = env.last()
        assert env.observation_space(agent).contains(observation)
        if finished:
            assert sum(env.rewards.values()) == 0
            env.step(None)
            continue
        seen = observation["observation"]
        position = Position(seen[:, :26])
        plays = env.game.plays
        if not env.game.passed_on and (env.variant.chain_moves == 0 or env.game.standing.second):
            dice = tuple(int(die) for die in seen[:, 26])
            plays = legal_plays(env.variant, position, dice, env.game.first_turn)
        assert observation["action_mask"].sum() == len(plays)
        assert [play.after.array.tolist() for play in plays] == info["afterstates"].tolist()
        assert seen[:, 26].tolist() == observe(env.game, env.game.seat)["dice"].tolist()
        assert seen[0, 27:].tolist() == env.game.pending(env.game.seat).tolist()
        assert not seen[1, 27:].any()
        waiting = env.observe(env.agents[1 - env.agents.index(agent)])
        assert not waiting["action_mask"].any()
        assert not waiting["observation"][:, 26].any()
        assert (waiting["observation"][::-1, :26] == position.array).all()
        assert (waiting["observation"][::-1, 27:] == seen[:, 27:]).all()
        env.step(int(rng.integers(len(plays))))
    assert env.game.points in env.variant.levels


def test_an_agents_illegal_action_is_named():
    env = NardyAEC("short", render_mode="ansi")
    env.reset(seed=1)
    assert "plays" in env.render()
    with pytest.raises(ValueError, match=f"action {MAX_PLAYS - 1} names no play"):
        env.step(MAX_PLAYS - 1)


# Pictures


@pytest.mark.parametrize("name", VARIANTS)
def test_a_board_is_drawn_with_all_that_was_asked_for(name):
    rules = variant(name)
    start = Position.start(rules)
    plain = draw_board(rules, start, width=480)
    assert plain.dtype == np.uint8
    assert plain.shape[1:] == (480, 3)
    assert plain.std() > 30
    pictures = [
        plain,
        draw_board(rules, legal_plays(rules, start, (6, 5))[0].after, width=480),
        draw_board(rules, start, width=480, dice=(6, 5)),
        draw_board(rules, start, width=480, dice=(4, 4)),
    ]
    for one, other in itertools.combinations(pictures, 2):
        assert (one != other).any()
    captioned = draw_board(rules, start, width=480, caption="a caption")
    assert len(captioned) > len(plain)
    assert (plain == draw_board(rules, start, width=480)).all()


def test_checkers_are_drawn_where_the_geometry_puts_them():
    """The other player's head lies lower left in the long game and lower right in the short one."""
    position = Position.from_points({20: 15}, {24: 15})
    for rules, dark_left in ((LONG, True), (SHORT, False)):
        lower = draw_board(rules, position, width=480)[200:330]
        dark = lower.max(axis=2) < 70
        left, right = dark[:, 60:85].mean(), dark[:, 400:425].mean()
        assert (left > 0.3) == dark_left
        assert (right > 0.3) != dark_left


def test_the_env_renders_text_and_image():
    env = make("long", render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render().shape[2] == 3
    env = make("long", render_mode="ansi")
    env.reset(seed=1)
    assert "long: X plays" in env.render()
    with pytest.raises(ValueError, match="width must be at least 160"):
        draw_board(LONG, Position.start(LONG), width=20)


@pytest.mark.parametrize("option", [{"opponent": "heuristic"}, {"render_mode": "ansi"}])
def test_the_vector_env_says_what_it_lacks(option):
    with pytest.raises(ValueError, match="random opponent and draws nothing"):
        NardyVectorEnv(num_envs=1, **option)
