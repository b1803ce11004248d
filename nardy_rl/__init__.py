"""Train TD-Gammon-style bots for the nardy family by self-play; importing registers the Gymnasium environments.

Everything listed in `__all__` is stable; the rest may change.
"""

from nardy_rl import envs
from nardy_rl.rules.game import Game
from nardy_rl.rules.notation import parse_play, parse_position, play_text, position_text
from nardy_rl.rules.outcome import outcome
from nardy_rl.rules.plays import Move, Play, legal_plays
from nardy_rl.rules.position import Position
from nardy_rl.rules.variant import VARIANTS, RulesUnpublishedError, Variant, load_variant, variant

__all__ = [
    "VARIANTS",
    "Game",
    "Move",
    "Play",
    "Position",
    "RulesUnpublishedError",
    "Variant",
    "envs",
    "legal_plays",
    "load_variant",
    "outcome",
    "parse_play",
    "parse_position",
    "play_text",
    "position_text",
    "variant",
]
