"""The exceptions of the package."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .report import Report

__all__ = ["DeviceError", "FileError", "InvalidInput", "LatticeError", "NotConverged"]


class LatticeError(Exception):
    """The base of all exceptions of the package."""


class InvalidInput(LatticeError, ValueError):
    """A value makes no sense. The text says which, and what is allowed."""


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
    best: NDArray[np.complex128] | None
    """The best iterate, axes t, z, y, x, spin, colour; `None` after columns that were solved at once."""
    report: Report
    """All solves of the job up to this one."""

    def __init__(
        self,
        *,
        label: str,
        reason: str,
        iterations: int,
        residual: float,
        history: NDArray[np.float64],
        best: NDArray[np.complex128] | None,
        report: Report,
    ) -> None:
        super().__init__(f"{label}: no convergence after {iterations} iterations: {reason}")
        self.label = label
        self.reason = reason
        self.iterations = iterations
        self.residual = residual
        self.history = history
        self.best = best
        self.report = report
