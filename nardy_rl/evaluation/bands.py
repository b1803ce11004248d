"""What healthy self-play looks like: bands in which a trained bot's statistics should lie.

Far outside of a band, suspect the rules, a sign, or an output of the network.
"""

from __future__ import annotations

from collections.abc import Mapping

from nardy_rl.rules.variant import NO_POINTS, VARIANTS, Variant
from nardy_rl.rules.variant import variant as preset

STATISTICS = {
    "starter_wins": "games won by the starter",
    "mars": "won as mars (gammon)",
    "koks": "won as koks (backgammon)",
    "turns": "turns a game",
    "passes": "turns in which nothing could be played",
}
"""What is looked at, by name. All are shares but the turns."""


def statistics_of(
    variant: Variant, starter_wins: float, turns: float, passes: float, won: Mapping[int, float]
) -> dict[str, float]:
    """The STATISTICS that a variant has; won: shares of games by the points that were won."""
    statistics = {
        "starter_wins": starter_wins,
        "turns": turns,
        "passes": passes,
        "mars": sum(won.get(points, 0.0) for points in {variant.mars, variant.home_mars} - {NO_POINTS}),
    }
    if variant.koks:
        statistics["koks"] = won.get(variant.koks, 0.0)
    return statistics


_BANDS: dict[str, dict[str, tuple[float, float]]] = {
    "short": {
        "starter_wins": (0.505, 0.515),
        "mars": (0.24, 0.26),
        "koks": (0.005, 0.015),
        "turns": (54.0, 57.0),
    },
    "long": {
        "starter_wins": (0.54, 0.56),
        "mars": (0.14, 0.27),
        "turns": (88.0, 95.0),
        "passes": (0.01, 0.02),
    },
    "gulbar": {
        "starter_wins": (0.56, 0.60),
        "mars": (0.30, 0.38),
        "turns": (81.0, 85.0),
        "passes": (0.01, 0.02),
    },
    "mad_gulbar_a": {
        "starter_wins": (0.57, 0.61),
        "mars": (0.43, 0.48),
        "turns": (61.0, 65.0),
        "passes": (0.01, 0.02),
    },
    "mad_gulbar_b": {
        "starter_wins": (0.53, 0.56),
        "mars": (0.58, 0.67),
        "turns": (45.0, 47.5),
        "passes": (0.01, 0.02),
    },
}
"""For each variant and statistic the expected range. Short: from strong engines' self-play; long: from that of a public
bot of moderate strength. The gulbars have no other engine: around the last tenth of our own runs of 100,000 to 400,000
games."""


def bands_of(variant: Variant) -> dict[str, tuple[float, float]]:
    """The bands of a variant by the names of STATISTICS: of those in the box as their rules are, of others none."""
    known = variant.name in VARIANTS and variant == preset(variant.name)
    return _BANDS[variant.name] if known else {}
