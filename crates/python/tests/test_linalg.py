"""Factorisations of dense matrices, and sparse systems."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lattice_cl as lc

TYPES: list[Any] = [np.float32, np.float64, np.complex64, np.complex128]


def matrix(n: int, m: int, dtype: Any, seed: int) -> NDArray[Any]:
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n, m))
    if np.dtype(dtype).kind == "c":
        return (numbers + 1j * random.normal(size=(n, m))).astype(dtype)
    return numbers.astype(dtype)


def accuracy(dtype: Any) -> float:
    return 1e-3 if np.finfo(dtype).bits == 32 else 1e-10


@pytest.mark.parametrize("dtype", TYPES)
def test_lu(dtype: Any, device: lc.Device) -> None:
    n = 131
    # Well conditioned, and every row is exchanged.
    a = np.ascontiguousarray((matrix(n, n, dtype, 1) + 30 * np.eye(n, dtype=dtype))[::-1])
    b = matrix(n, 3, dtype, 2)
    factors = lc.linalg.lu(a, devices="0.0")
    assert len(factors) == n and "on 0.0" in repr(factors)
    x = factors.solve(b)
    assert isinstance(x, np.ndarray) and x.dtype == dtype and x.shape == b.shape
    assert np.abs(a @ x - b).max() < accuracy(dtype)
    assert np.abs(a.T @ factors.solve(b[:, 0], trans="T") - b[:, 0]).max() < accuracy(dtype)
    assert np.abs(a.conj().T @ factors.solve(b, trans="C") - b).max() < accuracy(dtype)
    assert np.abs(factors.inverse() @ a - np.eye(n)).max() < accuracy(dtype)
    phase, size = factors.slogdet()
    expected = np.linalg.slogdet(a.astype(np.complex128))
    assert phase == pytest.approx(complex(expected[0]), abs=1e-4) and size == pytest.approx(float(expected[1]), rel=1e-5)
    estimate, exact = factors.condition(), float(np.linalg.cond(a.astype(np.complex128), 1))
    assert exact / 3.5 < estimate < exact * 1.1
    assert factors.pivots.shape == (n,) and factors.pivots.dtype == np.int64
    # What is on the device stays there.
    there = lc.linalg.lu(device.array(a)).solve(device.array(b))
    assert isinstance(there, lc.Array) and np.abs(there.numpy() - x).max() < accuracy(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_cholesky(dtype: Any, device: lc.Device) -> None:
    n = 77
    half = matrix(n, n, dtype, 3)
    a, b = half @ half.conj().T + np.eye(n, dtype=dtype) * n, matrix(n, 2, dtype, 4)
    factors = lc.linalg.cholesky(device.array(a))
    assert np.abs(a @ factors.solve(b) - b).max() < accuracy(dtype)
    factor = factors.factor()
    assert np.abs(np.triu(factor, 1)).max() == 0
    assert np.abs(factor @ factor.conj().T - a).max() < accuracy(dtype) * np.abs(a).max()
    assert np.abs(factors.inverse() @ a - np.eye(n)).max() < accuracy(dtype)
    assert factors.log_determinant() == pytest.approx(float(np.linalg.slogdet(a)[1]), rel=1e-4)
    assert factors.condition() >= 1
    x = lc.linalg.solve(a, b, positive_definite=True)
    assert np.abs(a @ np.asarray(x) - b).max() < accuracy(dtype)


def test_short_forms(device: lc.Device) -> None:
    a, b = matrix(20, 20, np.float64, 5), matrix(20, 1, np.float64, 6)[:, 0]
    assert np.allclose(np.asarray(lc.linalg.solve(a, b, devices=lc.Team("0.0"))), np.linalg.solve(a, b))
    assert np.allclose(lc.linalg.inv(a), np.linalg.inv(a))
    assert lc.linalg.det(a) == pytest.approx(float(np.linalg.det(a)))
    assert lc.linalg.det(a * 1j) == pytest.approx(complex(np.linalg.det(a * 1j)))
    assert lc.linalg.cond(a) > 1


def test_matrices_without_factors(device: lc.Device) -> None:
    with pytest.raises(lc.SingularMatrix, match="pivot 2"):
        lc.linalg.lu(np.ones((2, 2))).solve(np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        lc.linalg.cholesky(-np.eye(3))
    with pytest.raises(lc.InvalidInput, match="square"):
        lc.linalg.lu(np.ones((2, 3)))
    factors = lc.linalg.lu(np.eye(3))
    wrongs: list[Any] = [np.ones(4), np.ones((3, 1, 1)), np.ones(3) * 1j, device.array(np.ones(3, np.float32))]
    for wrong in wrongs:
        with pytest.raises(lc.InvalidInput):
            factors.solve(wrong)
    with pytest.raises(lc.InvalidInput, match="trans"):
        factors.solve(np.ones(3), trans="H")
    with pytest.raises(lc.DeviceError, match="numpy.linalg"):
        lc.linalg.lu(np.eye(3), devices="host")


def laplace(n: int) -> NDArray[np.float64]:
    dense: NDArray[np.float64] = np.diag(np.full(n, 2.0)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    return dense


def test_sparse_systems(team: str) -> None:
    a = lc.sparse.problem("poisson3d:12")
    assert a.shape == (1728, 1728) and a.dtype == np.float64 and a.nnz == 1728 * 7 - 6 * 144
    random = np.random.default_rng(1)
    exact = random.normal(size=1728)
    b = a @ exact
    told: list[lc.Progress] = []
    x = a.solve(b, preconditioner="amg", tol=1e-11, devices=team, progress=told.append)
    assert np.abs(np.asarray(x) - exact).max() < 1e-8
    report = x.report
    assert report is not None and report.residual <= 1e-11 and report.iterations < 30
    assert report.attempts[0].method == "cg" and report.attempts[0].preconditioner == "amg"
    assert len(report.attempts[0].history) == report.iterations + 1
    assert "amg" in str(report) and "<table>" in report._repr_html_()
    half: Any = x / 2
    assert half.report is None
    # Other methods find the same.
    for method, preconditioner in [("minres", "none"), ("bicgstab", "ilu0"), ("gcr", "jacobi"), ("auto", "auto")]:
        other = a.solve(b, method=method, preconditioner=preconditioner, devices=team)
        assert np.abs(np.asarray(other) - exact).max() < 1e-6


def test_matrices_of_entries_files_and_scipy(tmp_path: Path) -> None:
    dense = laplace(5) + 0j
    dense[0, 4] = 2j
    entries = lc.sparse.matrix(dense)
    assert entries.dtype == np.complex128 and "5×5" in repr(entries)
    x = np.arange(5) + 1j
    assert np.allclose(entries @ x, dense @ x)
    values, columns, starts = entries.csr()
    assert starts[-1] == entries.nnz == len(values) == len(columns)
    twice = lc.sparse.matrix(([1.0, 2.0, 3.0], ([0, 1, 0], [0, 1, 0])), (2, 2))
    assert np.allclose(twice @ [1, 1], [4, 2])
    text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n"
    with gzip.open(tmp_path / "a.mtx.gz", "wt") as file:
        file.write(text)
    a = lc.sparse.read(tmp_path / "a.mtx.gz")
    assert np.allclose(np.asarray(a.solve([1.0, 2.0], devices="host")), np.linalg.solve([[4, 1], [1, 3]], [1, 2]))
    (tmp_path / "bad.mtx").write_text(text.replace("2 1 1", "2 1 x"))
    with pytest.raises(lc.FileError, match="line 4"):
        lc.sparse.read(tmp_path / "bad.mtx")

    class Coo:
        """What a matrix of scipy says of itself."""

        row, col, data, shape = np.array([0, 1], np.int32), np.array([1, 0], np.int32), np.array([2, 5]), (2, 2)

        def tocoo(self) -> Coo:
            return self

    assert np.allclose(lc.sparse.matrix(Coo()) @ [1, 1], [2, 5])


def test_sparse_systems_that_are_not_solved() -> None:
    a = lc.sparse.matrix(laplace(200))
    with pytest.raises(lc.NotConverged) as caught:
        a.solve(np.ones(200), method="cg", preconditioner="none", max_iterations=5, devices="host")
    failed = caught.value
    assert failed.best is not None and failed.best.shape == (200,) and failed.iterations == 5
    assert 0 < failed.residual and isinstance(failed.report, lc.SparseReport)
    with pytest.raises(lc.SingularMatrix, match="row 2"):
        lc.sparse.matrix([[1.0, 1.0], [0.0, 0.0]]).solve(np.ones(2), devices="host")
    with pytest.raises(lc.InvalidInput, match="symmetric"):
        lc.sparse.matrix([[1.0, 1.0], [0.0, 1.0]]).solve(np.ones(2), method="cg", devices="host")
    wrongs: list[Any] = [
        lambda: a.solve(np.ones(3)),
        lambda: a.solve(np.ones(200) * 1j),
        lambda: a @ np.ones(3),
        lambda: a.solve(np.ones(200), method="magic"),
        lambda: a.solve(np.ones(200), preconditioner="magic"),
        lambda: lc.sparse.problem("poisson7d:3"),
        lambda: lc.sparse.matrix(([1.0], ([0], [2])), (2, 2)),
        lambda: lc.sparse.matrix(([1.0], ([0, 1], [1])), (2, 2)),
        lambda: lc.sparse.matrix(([np.nan], ([0], [1])), (2, 2)),
        lambda: lc.sparse.matrix(([1.0], ([0], [1]))),
        lambda: lc.sparse.matrix(np.ones(3)),
    ]
    for wrong in wrongs:
        with pytest.raises(lc.InvalidInput):
            wrong()
