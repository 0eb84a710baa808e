"""Products of matrices, and arrays on devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lattice_cl as lc

TYPES: list[Any] = [np.float32, np.float64, np.complex64, np.complex128]


def matrix(shape: tuple[int, ...], dtype: Any, seed: int) -> NDArray[Any]:
    random = np.random.default_rng(seed)
    numbers = random.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        return (numbers + 1j * random.normal(size=shape)).astype(dtype)
    return numbers.astype(dtype)


def tolerance(dtype: Any) -> float:
    return 2e-4 if np.dtype(dtype).itemsize // (2 if np.dtype(dtype).kind == "c" else 1) == 4 else 1e-12


@pytest.mark.parametrize("dtype", TYPES)
def test_products(dtype: Any, team: str) -> None:
    for m, k, n in [(97, 31, 53), (70, 1, 130), (1, 5, 1)]:
        a, b = matrix((m, k), dtype, 1), matrix((k, n), dtype, 2)
        for left in [a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2]]:
            c = lc.gemm(left, b, team=team)
            assert c.dtype == dtype and c.shape == (m, n)
            assert np.abs(np.asarray(c) - a @ b).max() < tolerance(dtype) * k
    report = c.report
    assert report is not None and report.seconds > 0 and "GFlop/s" in str(report)
    if team != "host":
        assert sum(share.lines for share in report.shares) in c.shape
        assert "<table>" in report._repr_html_()
    half: Any = c / 2
    assert half.report is None


def test_progress_of_products() -> None:
    told: list[lc.Progress] = []
    a = matrix((600, 300), np.float64, 1)
    lc.gemm(a, a.T, team="host", progress=told.append)
    assert all(0 <= news.done <= 1 and news.label == "product" for news in told)


def test_integers_become_double() -> None:
    c = lc.gemm([[1, 2], [3, 4]], [[1], [1]], team="host")
    assert c.tolist() == [[3.0], [7.0]] and c.dtype == np.float64


def test_products_that_make_no_sense() -> None:
    for a, b in [(np.ones((2, 3)), np.ones((2, 3))), (np.ones(3), np.ones((3, 1)))]:
        with pytest.raises(lc.InvalidInput):
            lc.gemm(a, b, team="host")
    with pytest.raises(lc.InvalidInput, match="longdouble|float128"):
        lc.gemm(np.ones((2, 2), np.longdouble), np.ones((2, 2)), team="host")


@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_on_a_device(dtype: Any, device: lc.Device) -> None:
    a, b = matrix((37, 21), dtype, 3), matrix((21, 45), dtype, 4)
    x, y = device.array(a), device.array(b)
    c = x @ y
    c += 2 * c
    assert c.shape == [37, 45] and c.dtype == dtype and len(c) == 37
    bound = tolerance(dtype) * 21
    assert np.abs(c.numpy() - 3 * (a @ b)).max() < bound
    assert np.abs(np.asarray(-c) + 3 * (a @ b)).max() < bound
    assert lc.nrm2(c - c) == 0
    assert lc.nrm2(x) == pytest.approx(np.linalg.norm(a), rel=1e-5)
    assert lc.dot(x, x) == pytest.approx((a * a).sum(), rel=1e-4)
    assert lc.vdot(x, x) == pytest.approx(np.vdot(a, a), rel=1e-4)
    v = device.array(b[:, 0].copy())
    assert np.abs((x @ v).numpy() - a @ b[:, 0]).max() < bound
    assert "on 0.0" in repr(x)


def test_arrays_that_do_not_go_together(device: lc.Device) -> None:
    one, other = device.array(np.ones((2, 2))), device.array(np.ones((2, 2), np.float32))
    wrongs: list[Callable[[], object]] = [
        lambda: one @ other,
        lambda: one + other,
        lambda: lc.dot(one, other),
        lambda: 1j * one,
    ]
    for wrong in wrongs:
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(lc.InvalidInput):
        one @ device.array(np.ones((3, 2)))
    with pytest.raises(lc.InvalidInput):
        one + device.array(np.ones(4))
    with pytest.raises(lc.InvalidInput):
        device.array(np.ones((2, 2, 2)))
    assert np.array_equal(device.array([[1, 2], [3, 4]]).numpy(), [[1.0, 2.0], [3.0, 4.0]])


def test_devices_and_teams() -> None:
    found = lc.devices()
    for device in found:
        assert device.name and device.memory_bytes > 0 and device.label in repr(device)
        with pytest.raises(lc.InvalidInput, match="not open"):
            device.array([1.0])
    host = lc.Team("host")
    assert len(host) == 0 and host.labels == ["host"]
    with pytest.raises(lc.DeviceError):
        host[0]
    if found:
        team = lc.Team(["0.0", "0.0"])
        assert len(team) == 2 and team[-1].label.startswith("0.0") and len(list(team)) == 2
        with pytest.raises(IndexError):
            team[2]
        team.finish()
