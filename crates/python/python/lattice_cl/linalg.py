"""Factorisations of dense matrices on a device.

    lu = lc.linalg.lu(a)
    x = lu.solve(b)

Matrices are arrays of numpy, which go to the device, or arrays that are there (`lc.Array`).
Right-hand sides of numpy give solutions of numpy; those on the device stay there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._native import Array, Cholesky, Lu, Team, cholesky, lu

__all__ = ["Cholesky", "Lu", "cholesky", "cond", "det", "inv", "lu", "slogdet", "solve"]

_Devices = Team | str | Sequence[str] | None


def solve(
    a: ArrayLike | Array,
    b: ArrayLike | Array,
    *,
    positive_definite: bool = False,
    devices: _Devices = None,
) -> NDArray[Any] | Array:
    """Solve a x = b for one right-hand side or for the columns of b.

    A positive definite matrix is factorised by Cholesky's method, in half of the time.
    """
    factors = cholesky(a, devices=devices) if positive_definite else lu(a, devices=devices)
    x: NDArray[Any] | Array = factors.solve(b)
    return x


def inv(a: ArrayLike | Array, *, devices: _Devices = None) -> NDArray[Any]:
    """Return the inverse of a."""
    return lu(a, devices=devices).inverse()


def slogdet(a: ArrayLike | Array, *, devices: _Devices = None) -> tuple[complex, float]:
    """Return the sign, or phase, of the determinant and the logarithm of its size."""
    return lu(a, devices=devices).slogdet()


def det(a: ArrayLike | Array, *, devices: _Devices = None) -> complex:
    """Return the determinant, real for a real matrix. It may overflow; `slogdet` does not."""
    phase, size = slogdet(a, devices=devices)
    value = complex(phase * np.exp(size))
    return value if np.iscomplexobj(a) else value.real


def cond(a: ArrayLike | Array, *, devices: _Devices = None) -> float:
    """Return an estimate of the condition number in the 1-norm, seldom below a third of it."""
    return lu(a, devices=devices).condition()
