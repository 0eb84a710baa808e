"""The exceptions of the package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .report import Report, SparseReport

__all__ = ["DeviceError", "FileError", "InvalidInput", "LatticeError", "NotConverged", "SingularMatrix"]


class LatticeError(Exception):
    """The base of all exceptions of the package."""


class InvalidInput(LatticeError, ValueError):
    """A value makes no sense. The text says which, and what is allowed."""


class SingularMatrix(InvalidInput, np.linalg.LinAlgError):
    """A matrix has no factors of the wanted kind: it is singular, or not positive definite."""


class FileError(LatticeError, OSError):
    """A file cannot be read or written, or fails a check."""


class DeviceError(LatticeError, RuntimeError):
    """There is no such device, it failed, or memory is short."""


class NotConverged(LatticeError, ArithmeticError):
    """A method gave up before the tolerance was met."""

    label: str
    """The solve: source, spin and colour."""
    reason: str
    """Why the method gave up."""
    iterations: int
    """Iterations done."""
    residual: float
    """The true relative residual of `best`."""
    history: NDArray[np.float64]
    """Relative residuals by the recurrence, before the first iteration and after each."""
    best: NDArray[Any] | None
    """The best iterate, axes t, z, y, x, spin, colour; `None` after columns that were solved at once.

    For a sparse system it has one axis.
    """
    report: Report | SparseReport
    """All solves of the job up to this one; all attempts for a sparse system."""

    def __init__(
        self,
        *,
        label: str,
        reason: str,
        iterations: int,
        residual: float,
        history: NDArray[np.float64],
        best: NDArray[Any] | None,
        report: Report | SparseReport,
    ) -> None:
        super().__init__(f"{label}: no convergence after {iterations} iterations: {reason}")
        self.label = label
        self.reason = reason
        self.iterations = iterations
        self.residual = residual
        self.history = history
        self.best = best
        self.report = report
