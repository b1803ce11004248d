"""How the package compiles."""

import numba

from nardy_rl.compiled import kernel


@kernel
def successor(number: int) -> int:
    return number + 1


def test_calls_with_constants_and_with_variables_share_one_machine_code():
    @numba.njit
    def caller(number):
        return successor(0) + successor(1) + successor(number)

    assert caller(4) == 8
    assert len(successor.signatures) == 1
