"""Sums over rows in vector registers, against numpy."""

import numba
import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features

from nardy_rl.compiled import kernel
from nardy_rl.network import lists
from nardy_rl.network.lists import list_changes, list_positive
from nardy_rl.network.vectors import add_rows, add_to_rows, dot_rows, lined_up, padded, padded_layer, turned_layer
from nardy_rl.network.writer import LANES, UNROLL

WIDTHS = (16, 32, 48, 80, 112)
START = 5  # rows need not begin on any boundary
ROWS = 40
UNTOUCHED = np.float32(7.0)


@kernel
def _list(sums, size, indices, values):
    return list_positive(sums, size, indices, values)


@kernel
def _list_changes(after, before, count, size, indices, values):
    return list_changes(after, before, count, size, indices, values)


@kernel
def _add(rows, start, width, indices, values, count, before, after):
    add_rows(rows, start, width, indices, values, count, before, after)


@kernel
def _add_to(rows, start, width, indices, values, count, vector):
    add_to_rows(rows, start, width, indices, values, count, vector)


@kernel
def _dot(rows, start, width, indices, count, vector, products):
    dot_rows(rows, start, width, indices, count, vector, products)


def listed(sums, size):
    """What `list_positive` makes of `sums`: (count, indices, values), in lists full of something else before."""
    indices, values = np.full(size + LANES, 99, np.int32), np.full(size + LANES, UNTOUCHED, np.float32)
    return _list(sums, size, indices, values), indices, values


def random_pairs(rng, count):
    """A list of `count` pairs and its padding, in arrays that are longer still."""
    whole = -(-count // UNROLL) * UNROLL
    indices, values = np.full(whole + 3, ROWS - 1, np.int32), np.full(whole + 3, np.nan, np.float32)
    indices[:count], values[:count] = rng.choice(ROWS, count, replace=False), rng.normal(size=count)
    indices[count:whole], values[count:whole] = 0, 0
    return whole, indices, values


def random_rows(rng, width):
    vector = rng.normal(size=START + ROWS * width + 9).astype(np.float32)
    return vector, vector[START : START + ROWS * width].reshape(ROWS, width)  # the second is a view of the first


def long_vector(rng, width):
    """A vector with `width` numbers that count and some that must be left alone."""
    vector = rng.normal(size=width + 5).astype(np.float32)
    vector[width:] = UNTOUCHED
    return vector


@pytest.mark.parametrize("size", WIDTHS)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.95, 1.0])
def test_the_positive_numbers_are_listed_in_order_and_padded_to_a_multiple_of_four(size, share):
    rng = np.random.default_rng(size)
    for _ in range(20):
        sums = np.abs(rng.normal(size=size + 20)).astype(np.float32)  # what lies beyond must not be listed
        sums[:size] *= np.where(rng.random(size) < share, 1, -1)
        sums[:size][rng.random(size) < 0.1] *= 0  # of either sign
        count, indices, values = listed(sums, size)
        expected = np.flatnonzero(sums[:size] > 0)
        assert count == -(-len(expected) // UNROLL) * UNROLL
        np.testing.assert_array_equal(indices[: len(expected)], expected)
        np.testing.assert_array_equal(values[: len(expected)], sums[expected])
        assert not indices[len(expected) : count].any()
        assert not values[len(expected) : count].any()


@pytest.mark.skipif(not get_host_cpu_features().get("avx2"), reason="this processor cannot shuffle")
@pytest.mark.parametrize("shuffles", [False, True])
def test_both_ways_to_list_give_the_same(shuffles, monkeypatch):
    monkeypatch.setattr(lists, "SHUFFLES", shuffles)
    list_anew = numba.njit(lambda sums, size, indices, values: list_positive(sums, size, indices, values))
    rng = np.random.default_rng(5)
    for share in (0.0, 0.1, 0.5, 1.0):
        sums = np.where(rng.random(80) < share, 1, -1).astype(np.float32) * np.arange(1, 81, dtype=np.float32)
        count, indices, values = listed(sums, 80)
        indices_again, values_again = np.full(96, 99, np.int32), np.full(96, UNTOUCHED, np.float32)
        assert list_anew(sums, 80, indices_again, values_again) == count
        np.testing.assert_array_equal(indices_again[:count], indices[:count])
        np.testing.assert_array_equal(values_again[:count], values[:count])


def test_what_is_no_number_is_listed_with_the_positive_ones():
    sums = np.full(32, -1.0, np.float32)
    sums[[3, 9, 17, 30]] = np.nan, np.inf, -np.inf, 1e-40
    count, indices, values = listed(sums, 32)
    assert count == UNROLL
    assert indices[:3].tolist() == [3, 9, 30]
    assert np.isnan(values[0])
    assert values[1:4].tolist() == [np.inf, np.float32(1e-40), 0]


@pytest.mark.parametrize("listed_before", [0, 3, 4])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_changes_are_listed_behind_what_is_listed_before(listed_before, share):
    rng = np.random.default_rng(listed_before)
    for size in WIDTHS:
        before = rng.normal(size=size + 20).astype(np.float32)
        after = np.where(rng.random(size + 20) < share, before + rng.normal(size=size + 20), before).astype(np.float32)
        indices = np.full(listed_before + size + LANES, 99, np.int32)
        values = np.full(listed_before + size + LANES, UNTOUCHED, np.float32)
        count = _list_changes(after, before, listed_before, size, indices, values)
        expected = np.flatnonzero(after[:size] != before[:size])
        end = listed_before + len(expected)
        assert count == -(-end // UNROLL) * UNROLL
        assert (indices[:listed_before] == 99).all()
        assert (values[:listed_before] == UNTOUCHED).all()
        np.testing.assert_array_equal(indices[listed_before:end], expected)
        np.testing.assert_array_equal(values[listed_before:end], (after - before)[expected])
        assert not indices[end:count].any()
        assert not values[end:count].any()


def test_lined_up_copies_begin_with_a_line_of_the_cache():
    for length in range(1, 40):
        array = np.arange(2 * length, dtype=np.float32).reshape(2, length)
        copy = lined_up(array)
        np.testing.assert_array_equal(copy, array)
        assert copy.ctypes.data % (4 * LANES) == 0
        assert copy.flags.c_contiguous
        assert not np.shares_memory(copy, array)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [0, 1, 4, 7, 12, 37])
def test_listed_rows_are_added_up(width, count):
    rng = np.random.default_rng(width + count)
    whole, indices, values = random_pairs(rng, count)
    vector, rows = random_rows(rng, width)
    before, after = long_vector(rng, width), long_vector(rng, width)
    expected = before[:width] + values[:count].astype(float) @ rows[indices[:count]]
    _add(vector, START, width, indices, values, whole, before.copy(), after)
    np.testing.assert_allclose(after[:width], expected, atol=1e-5, rtol=1e-5)
    assert (after[width:] == UNTOUCHED).all()
    _add(vector, START, width, indices, values, whole, before, before)  # in place
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [0, 1, 4, 7, 12, 37])
def test_a_vector_is_added_to_listed_rows(width, count):
    rng = np.random.default_rng(width + count)
    whole, indices, values = random_pairs(rng, count)
    vector, rows = random_rows(rng, width)
    added, before = long_vector(rng, width), vector.copy()
    expected = rows.astype(float)
    expected[indices[:count]] += np.outer(values[:count], added[:width])
    _add_to(vector, START, width, indices, values, whole, added)
    np.testing.assert_allclose(rows, expected, atol=1e-5, rtol=1e-5)
    np.testing.assert_array_equal(vector[:START], before[:START])
    np.testing.assert_array_equal(vector[START + ROWS * width :], before[START + ROWS * width :])
    others = np.setdiff1d(np.arange(ROWS), indices[:count])
    np.testing.assert_array_equal(rows[others], before[START : START + ROWS * width].reshape(ROWS, width)[others])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("count", [0, 1, 5, 8])
def test_listed_rows_are_multiplied_by_a_vector(width, count):
    rng = np.random.default_rng(width + count)
    _, indices, _ = random_pairs(rng, count)
    vector, rows = random_rows(rng, width)
    factor, products = long_vector(rng, width), np.full(count + 3, UNTOUCHED, np.float32)
    _dot(vector, START, width, indices, count, factor, products)
    expected = rows[indices[:count]].astype(float) @ factor[:width]
    np.testing.assert_allclose(products[:count], expected, atol=1e-5, rtol=1e-5)
    assert (products[count:] == UNTOUCHED).all()


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_no_number_comes_through(width):
    rng = np.random.default_rng(width)
    whole, indices, values = random_pairs(rng, 8)
    vector, rows = random_rows(rng, width)
    sums, products = long_vector(rng, width), np.zeros(8, np.float32)
    rows[indices[2], width - 1] = np.nan
    _add(vector, START, width, indices, values, whole, sums, sums)
    assert np.flatnonzero(np.isnan(sums)).tolist() == [width - 1]
    _dot(vector, START, width, indices, 8, sums, products)
    assert np.isnan(products).all()
    values[5] = np.nan
    _add_to(vector, START, width, indices, values, whole, long_vector(rng, width))
    assert np.isnan(rows[indices[5]]).all()
    assert np.flatnonzero(np.isnan(rows).any(axis=1)).tolist() == sorted(indices[[2, 5]])


def test_a_row_may_be_listed_more_than_once():
    rng = np.random.default_rng(1)
    vector, rows = random_rows(rng, 16)
    before, added = rows.astype(float), long_vector(rng, 16)
    indices, values = np.array([3, 0, 3, 0], np.int32), np.array([1, 2, 0.5, 0], np.float32)
    _add_to(vector, START, 16, indices, values, 4, added)
    np.testing.assert_allclose(rows[3], before[3] + 1.5 * added[:16], rtol=1e-5)
    np.testing.assert_allclose(rows[0], before[0] + 2 * added[:16], rtol=1e-5)


@pytest.mark.parametrize(("width", "whole"), [(1, 16), (15, 16), (16, 16), (17, 32), (80, 80)])
def test_a_width_is_padded_to_a_multiple_of_sixteen(width, whole):
    assert padded(width) == whole


@pytest.mark.parametrize("first", [False, True])
def test_a_padded_layer_has_its_rows_by_inputs_and_zeros_around(first):
    rng = np.random.default_rng(3)
    weights, bias = rng.normal(size=(3, 18)).astype(np.float32), rng.normal(size=3).astype(np.float32)
    layer = padded_layer(weights, bias, first).reshape(-1, 16)
    assert len(layer) == (18 if first else 32) + 1
    np.testing.assert_array_equal(layer[:18, :3], weights.T)
    np.testing.assert_array_equal(layer[-1, :3], bias)
    assert np.count_nonzero(layer) == weights.size + bias.size


def test_a_turned_layer_has_its_rows_by_outputs_stage_by_stage():
    weights = np.random.default_rng(4).normal(size=(5, 18, 40)).astype(np.float32)
    layer = turned_layer(weights).reshape(5, 32, 48)
    np.testing.assert_array_equal(layer[:, :18, :40], weights)
    assert np.count_nonzero(layer) == weights.size
