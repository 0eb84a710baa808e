"""Fields in the axes of PyQUDA and of GPT, and back.

    U = gauge.pyquda()            # (direction, parity, t, z, y, x/2, row, column)
    S = lc.interop.from_gpt(propagator[:], dims=(8, 8, 8, 16))

All three programs have the gamma matrices of DeGrand and Rossi. Directions are x, y, z, t.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._native import Gauge, Propagator
from .errors import InvalidInput

__all__ = ["from_gpt", "from_pyquda"]

_Field = NDArray[np.complex128]

# Spin and colour of the sink, then of the source: spins first.
_SPINS_FIRST = (0, 1, 2, 3, 4, 6, 5, 7)


def _by_parity(field: _Field) -> _Field:
    """Split the sites of axes t, z, y, x by parity: axes parity, t, z, y, x/2."""
    t, z, y, x, *rest = field.shape
    split: _Field = np.empty((2, t, z, y, x // 2, *rest), dtype=np.complex128)
    for parity, x_even in _halves((t, z, y)):
        of_even = x_even.reshape(t, z, y, 1, *(1 for _ in rest))
        split[parity] = np.where(of_even, field[:, :, :, 0::2], field[:, :, :, 1::2])
    return split


def _together(split: _Field) -> _Field:
    """Undo `_by_parity`."""
    _, t, z, y, half, *rest = split.shape
    field: _Field = np.empty((t, z, y, 2 * half, *rest), dtype=np.complex128)
    (even, x_even), (odd, _) = _halves((t, z, y))
    of_even = x_even.reshape(t, z, y, 1, *(1 for _ in rest))
    field[:, :, :, 0::2] = np.where(of_even, split[even], split[odd])
    field[:, :, :, 1::2] = np.where(of_even, split[odd], split[even])
    return field


def _halves(extents: tuple[int, int, int]) -> list[tuple[int, NDArray[np.bool_]]]:
    """Each parity, and where its sites have an even x."""
    rows = np.add.reduce(np.indices(extents)) % 2
    return [(parity, rows == parity) for parity in (0, 1)]


def links_to_pyquda(links: _Field) -> _Field:
    """Bring links of axes t, z, y, x, direction, row, column to those of PyQUDA's `LatticeGauge`."""
    return np.stack([_by_parity(links[:, :, :, :, mu]) for mu in range(4)])


def propagator_to_pyquda(propagator: _Field) -> _Field:
    """Bring a propagator to the axes of PyQUDA's `LatticePropagator`: parity, t, z, y, x/2, spins, colours."""
    return _by_parity(propagator.transpose(_SPINS_FIRST))


def links_to_gpt(links: _Field) -> list[_Field]:
    """Bring links to the arrays of GPT, one for each direction: site (x fastest), row, column."""
    return [np.ascontiguousarray(links[:, :, :, :, mu]).reshape(-1, 3, 3) for mu in range(4)]


def propagator_to_gpt(propagator: _Field) -> _Field:
    """Bring a propagator to the array of GPT's `mspincolor`: site (x fastest), spins, colours."""
    return np.ascontiguousarray(propagator.transpose(_SPINS_FIRST)).reshape(-1, 4, 4, 3, 3)


def from_pyquda(field: ArrayLike) -> Gauge | Propagator:
    """Make a gauge configuration or a propagator of the data of PyQUDA's fields, on the host."""
    data = np.asarray(field, np.complex128)
    match data.shape:
        case (4, 2, _, _, _, _, 3, 3):
            return Gauge(np.stack([_together(data[mu]) for mu in range(4)], axis=4))
        case (2, _, _, _, _, 4, 4, 3, 3):
            return Propagator(_together(data).transpose(_SPINS_FIRST))
    raise InvalidInput(
        f"an array of shape {data.shape} is neither links (4, 2, T, Z, Y, X/2, 3, 3) nor a propagator (2, T, Z, Y, X/2, 4, 4, 3, 3)"
    )


def from_gpt(field: ArrayLike | Sequence[ArrayLike], *, dims: Sequence[int]) -> Gauge | Propagator:
    """Make a gauge configuration of GPT's four arrays, or a propagator of one, on a lattice of extents (x, y, z, t)."""
    data: NDArray[Any] = np.asarray(field, np.complex128)
    sites = int(np.prod(dims))
    extents = tuple(reversed([int(extent) for extent in dims]))
    if len(extents) == 4 and data.shape == (4, sites, 3, 3):
        return Gauge(np.stack([data[mu].reshape(*extents, 3, 3) for mu in range(4)], axis=4))
    if len(extents) == 4 and data.shape == (sites, 4, 4, 3, 3):
        return Propagator(data.reshape(*extents, 4, 4, 3, 3).transpose(_SPINS_FIRST))
    raise InvalidInput(
        f"an array of shape {data.shape} is neither links (4, {sites}, 3, 3) nor a propagator ({sites}, 4, 4, 3, 3) of extents {tuple(dims)}"
    )
