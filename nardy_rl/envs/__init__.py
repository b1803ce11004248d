"""Environments: Gymnasium (one and many games) and PettingZoo. Importing this registers `nardy_rl/Nardy-v0`."""

import gymnasium

from nardy_rl.envs.drawing import draw_board
from nardy_rl.envs.gym_env import NardyEnv
from nardy_rl.envs.pettingzoo_env import NardyAEC
from nardy_rl.envs.vector_env import NardyVectorEnv

__all__ = ["NardyAEC", "NardyEnv", "NardyVectorEnv", "draw_board"]

gymnasium.register(
    id="nardy_rl/Nardy-v0",
    entry_point="nardy_rl.envs.gym_env:NardyEnv",
    vector_entry_point="nardy_rl.envs.vector_env:NardyVectorEnv",
)
