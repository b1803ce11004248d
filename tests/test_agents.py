"""Bots as agents in the environments: whole games, and the choice of the bot itself in every variant."""

import pytest
from nets import pip_bot

from nardy_rl.envs import NardyAEC
from nardy_rl.envs.gym_env import NardyEnv
from nardy_rl.players.bot import HEURISTIC, simple_bot
from nardy_rl.protocols.agents import Agent, load_agent
from nardy_rl.protocols.mind import Mind
from nardy_rl.rules.variant import VARIANTS, variant


@pytest.mark.parametrize("name", VARIANTS)
def test_agents_play_both_seats_of_the_pettingzoo_environment(name):
    """In the gyulbars too, where a choice depends on dice that an observation does not tell."""
    rules = variant(name)
    agent, mind, env = Agent(pip_bot(rules), rules), Mind(pip_bot(rules), rules), NardyAEC(name)
    env.reset(seed=4)
    seen, mask_right = 0, True
    for _ in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        action = agent.act(observation, info)
        mask_right &= observation["action_mask"][action] == 1
        assert action == mind.choose(env.game)
        env.step(action)
        seen += 1
    assert mask_right
    assert seen > 20


@pytest.mark.parametrize("name", VARIANTS)
def test_an_agent_plays_the_gymnasium_environment(name):
    rules = variant(name)
    agent, env = Agent(simple_bot(HEURISTIC, rules), rules), NardyEnv(name, opponent="random")
    won = 0
    for seed in range(12):
        (observation, info), finished = env.reset(seed=seed), False
        while not finished:
            observation, reward, finished, _, info = env.step(agent.act(observation, info))
        won += reward > 0
    assert won >= 8


def test_another_variant_and_a_finished_game_are_refused():
    long = variant("long")
    agent = Agent(simple_bot(HEURISTIC, long), long)
    observation, info = NardyEnv("short").reset(seed=1)
    with pytest.raises(ValueError, match="plays by other rules than the bot, whose variant is long"):
        agent.act(observation, info)
    with pytest.raises(ValueError, match="nothing can be played here"):
        agent.act(observation, {})
    with pytest.raises(ValueError, match="unknown bot 'nobody'"):
        load_agent("nobody")
