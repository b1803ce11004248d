"""How strong a bot is, from the result files of `python evaluate.py … out=FILE`."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import NormalDist
from typing import Any

from nardy_rl.players.registry import locate
from nardy_rl.rules.variant import Variant, variant_from_dict

_95 = NormalDist().inv_cdf(0.975)


def read_strength(path: str, checkpoint: str, variant: Variant) -> dict[str, Any]:
    """What a result file says of the bot that lies at `checkpoint`: of A, or of B if that alone is the bot.

    The names in the file are read as evaluate.py would read them now. Raises ValueError saying in one line why the file
    cannot be used.
    """
    try:
        sheet = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read the result {path}: {error.strerror}") from None
    except ValueError:
        raise ValueError(f"{path} is truncated or no result of evaluate.py") from None
    try:
        if variant_from_dict(sheet["variant"], source=path) != variant:
            raise ValueError(f"{path} is a result of other rules than those of {checkpoint}")
        seats = [locate(sheet[seat])[0] for seat in ("a", "b")]
        is_bot = [Path(seat).resolve() == Path(checkpoint).resolve() for seat in seats]
        if not any(is_bot):
            raise ValueError(f"{path} is a result of {sheet['a']} against {sheet['b']}: neither is {checkpoint}")
        return _entry(sheet, is_b=not is_bot[0])
    except (KeyError, TypeError, AttributeError, IndexError):
        raise ValueError(f"{path} is no result of evaluate.py") from None


def _entry(sheet: dict[str, Any], is_b: bool) -> dict[str, Any]:
    bot, opponent = (sheet["b"], sheet["a"]) if is_b else (sheet["a"], sheet["b"])
    adjusted = sheet.get("adjusted_points_per_game") is not None
    prefix = "adjusted_" if adjusted else ""
    points, error = sheet[f"{prefix}points_per_game"], sheet[f"{prefix}standard_error"]
    # A match that stopped when it was clear tells an interval that allows for it, and none of the games won.
    interval = sheet.get("interval", (points - _95 * error, points + _95 * error))
    wins, win_interval = sheet["win_rate"], sheet.get("win_interval")
    if is_b:
        points, interval = -points, [-bound for bound in reversed(interval)]
        wins, win_interval = 1 - wins, win_interval and [1 - bound for bound in reversed(win_interval)]
    return {
        "against": _shown(opponent),
        "plies": locate(bot)[1],
        "games": sheet["games"],
        "seed": sheet["seed"],
        "points_per_game": round(points, 5),
        "standard_error": round(error, 5),
        "interval": [round(bound, 5) for bound in interval],
        "luck_adjusted": adjusted,
        "win_rate": round(wins, 5),
        "win_interval": win_interval and [round(bound, 5) for bound in win_interval],
    }


def _shown(name: str) -> str:
    """A bot's name for others, to whom the folders of this machine say nothing."""
    plies = locate(name)[1]
    return "/".join(Path(name.removesuffix(f"@{plies}")).parts[-2:]) + f" ({plies}-ply)" * (plies > 0)
