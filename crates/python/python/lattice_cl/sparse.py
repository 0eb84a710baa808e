"""Sparse matrices, and systems of equations with them.

    A = lc.sparse.read("A.mtx")
    x = A.solve(b, preconditioner="amg")
    print(x.report)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._native import SparseMatrix, Team
from .errors import InvalidInput, NotConverged
from .progress import Progress
from .report import SparseAttempt, SparseReport

__all__ = ["Matrix", "Solution", "matrix", "problem", "read"]


class Solution(np.ndarray[Any, Any]):
    """A solution: an array of numpy that knows how it was found."""

    report: SparseReport | None = None
    """How the system was solved; `None` for arrays made of the solution."""


class Matrix:
    """A sparse matrix. Entries are double precision, real or complex."""

    def __init__(self, native: SparseMatrix) -> None:
        self._native = native

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._native.shape

    @property
    def nnz(self) -> int:
        """Entries that are stored."""
        return self._native.nnz

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the entries."""
        return self._native.dtype

    def csr(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
        """Copy the values, their columns, and where each row begins: what `scipy.sparse.csr_array` takes."""
        return self._native.csr()

    def __matmul__(self, x: ArrayLike) -> NDArray[Any]:
        """Multiply a vector, on the host."""
        return self._native.multiply(_of_type(x, self.dtype))

    def solve(
        self,
        b: ArrayLike,
        *,
        method: str = "auto",
        preconditioner: str = "auto",
        tol: float = 1e-10,
        max_iterations: int = 10_000,
        restart: int = 30,
        devices: Team | str | Sequence[str] | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
    ) -> Solution:
        """Solve A x = b on the first of some devices; on the best one by default.

        Methods are auto, cg, minres, cr, bicgstab, gcr (with `restart` directions) and cgne. Preconditioners are auto, none,
        jacobi, block-jacobi, ilu0, ic0 and amg. `auto` looks at the matrix. The tolerance is that of the true residual.

        Raises `NotConverged`, which carries the best iterate.
        """
        x, converged, attempts, residual, backward_error, symmetry, format, device, warnings = self._native.solve(
            _of_type(b, self.dtype),
            None if method == "auto" else method,
            None if preconditioner == "auto" else preconditioner,
            tol,
            max_iterations,
            restart,
            devices,
            progress,
        )
        tried = tuple(SparseAttempt(*attempt) for attempt in attempts)
        report = SparseReport(tried, residual, backward_error, symmetry, format, device, tuple(warnings))
        if not converged:
            last = tried[-1]
            reason = last.failure or "its residual is not the true one"
            raise NotConverged(
                label="sparse system",
                reason=reason,
                iterations=report.iterations,
                residual=residual,
                history=last.history,
                best=x,
                report=report,
            )
        solution = x.view(Solution)
        solution.report = report
        return solution

    def __repr__(self) -> str:
        return repr(self._native)


def _of_type(vector: ArrayLike, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a vector as numbers of a matrix."""
    numbers = np.asarray(vector)
    if numbers.dtype.kind == "c" and dtype.kind != "c":
        raise InvalidInput("a real matrix takes real vectors; go on with real and imaginary part, one after the other")
    return numbers.astype(dtype)


def read(path: str | os.PathLike[str]) -> Matrix:
    """Read a Matrix Market file, which gzip may have compressed."""
    return Matrix(SparseMatrix.read(path))


def problem(text: str) -> Matrix:
    """Make the matrix of a model problem: poisson2d:N, poisson3d:N, convection2d:N,EPSILON, random:N,PER_ROW,SEED, elasticity3d:N."""
    return Matrix(SparseMatrix.problem(text))


def matrix(entries: Any, shape: Sequence[int] | None = None) -> Matrix:
    """Make a matrix of one of scipy, of a dense array, or of entries `(values, (rows, columns))` with a shape."""
    if hasattr(entries, "tocoo"):
        coo = entries.tocoo()
        rows, columns, values, shape = coo.row, coo.col, coo.data, coo.shape
    elif isinstance(entries, tuple):
        if shape is None:
            raise InvalidInput("entries need the shape of their matrix: matrix((values, (rows, columns)), shape)")
        values, (rows, columns) = entries
    else:
        dense = np.asarray(entries)
        if dense.ndim != 2:
            raise InvalidInput(f"a matrix has two axes, not {dense.ndim}")
        rows, columns = np.nonzero(dense)
        values, shape = dense[rows, columns], dense.shape
    height, width = shape
    extents = (int(height), int(width))
    rows, columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
    return Matrix(SparseMatrix.of_entries(rows, columns, np.asarray(values), extents))
