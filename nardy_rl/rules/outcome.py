"""What a finished game is worth: result classes, points, and the nested levels that a network predicts (rules 8.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nardy_rl.compiled import kernel
from nardy_rl.rules.compact import Rules
from nardy_rl.rules.match import Cube
from nardy_rl.rules.position import OFF, Position, check_position
from nardy_rl.rules.variant import Variant

SINGLE, MARS, HOME_MARS, KOKS = 0, 1, 2, 3
_OPENING_CUBE = Cube()


@kernel
def result_class(loser: NDArray[np.int8], rules: Rules) -> int:
    """The class of a lost game: SINGLE, MARS, HOME_MARS or KOKS. loser: int8[26], the loser's checkers."""
    none_off = loser[0] == 0
    if rules.koks and (none_off or rules.koks_needs_none_off == 0):
        behind = int(loser[24])
        if rules.koks_head_only == 0:
            for point in range(19, 24):
                behind += int(loser[point])
            behind += int(loser[25])
        if behind:
            return KOKS
    if not none_off:
        return SINGLE
    if rules.home_mars:
        at_home = 0
        for point in range(1, 7):
            at_home += int(loser[point])
        if at_home == rules.checkers:
            return HOME_MARS
    return MARS


@kernel
def points_won(loser: NDArray[np.int8], rules: Rules) -> int:
    """The winner's points, cube aside. loser: int8[26]."""
    kind = result_class(loser, rules)
    if kind == SINGLE:
        return rules.single
    if kind == MARS:
        return rules.mars
    return rules.home_mars if kind == HOME_MARS else rules.koks


def outcome(variant: Variant, position: Position, *, cube: Cube = _OPENING_CUBE) -> tuple[str, int]:
    """The result class and the winner's points of a finished game (rules 8.1, 8.2).

    position: row 0 is the winner, all of whose checkers are off. With `jacoby`, everything counts as a single game
    while nobody owns the cube. Raises ValueError if the game is not finished.
    """
    check_position(variant, position)
    if position.array[0, OFF] != variant.checkers:
        raise ValueError(f"the game is not finished: the winner has {position.array[0, OFF]} checkers off")
    kind = result_class(position.board()[1], variant.rules)
    points = (variant.single, variant.mars, variant.home_mars, variant.koks)[kind]
    if variant.jacoby and cube.owner is None:
        points = variant.single
    return variant.class_names[kind], points * cube.value


def equity_weights(variant: Variant) -> NDArray[np.float32]:
    """float32[outputs + 1]: equity = weights[:-1] · probabilities + weights[-1], for the player they describe.

    The probabilities are nested: P(win ≥ level) for each level, then P(loss ≥ level) for each level but the lowest.
    """
    levels = variant.levels
    steps = np.diff(np.array((0, *levels)))
    # P(loss ≥ lowest level) is 1 - P(win), which moves the lowest step into the weight of P(win) and a constant.
    weights = np.concatenate([steps, -steps[1:], [-steps[0]]]).astype(np.float32)
    weights[0] += steps[0]
    return weights
