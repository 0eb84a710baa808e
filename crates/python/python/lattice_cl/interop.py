"""Fields in the axes of PyQUDA and of GPT, and back; memory that is shared with pyopencl.

    U = gauge.pyquda()            # (direction, parity, t, z, y, x/2, row, column)
    S = lc.interop.from_gpt(propagator[:], dims=(8, 8, 8, 16))
    A = lc.from_pyopencl(array)   # without a copy
    buffer = pyopencl.Buffer.from_int_ptr(A.cl_mem)

All three programs of lattices have the gamma matrices of DeGrand and Rossi. Directions are x, y, z, t.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._native import Array, Gauge, Propagator, Team
from .errors import InvalidInput

__all__ = ["from_gpt", "from_pyopencl", "from_pyquda", "pyopencl_team"]

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


_ELEMENTS = ("float32", "float64", "complex64", "complex128")


def _pyopencl(what: str, module: str, kind: str, found: Any) -> Any:
    """The module pyopencl, if `found` is of a class of it. Whoever has an object of pyopencl has imported it."""
    there = sys.modules.get(module)
    if there is None or not isinstance(found, getattr(there, kind)):
        raise InvalidInput(f"{what} takes a {module}.{kind}, not {type(found).__name__}")
    return sys.modules["pyopencl"]


def from_pyopencl(array: Any) -> Array:
    """Make an array of a `pyopencl.array.Array`, in the same memory.

    Work on the array that was begun is waited for. Afterwards nothing orders the work of both packages: call
    `array.queue.finish()` after pyopencl has written. The array is kept as long as the result, and what pyopencl writes
    changes both. Arrays of one context work together; those of others are refused, as are arrays of other numbers, with
    gaps between their elements, or that begin within their buffer.
    """
    cl = _pyopencl("from_pyopencl", "pyopencl.array", "Array", array)
    if array.dtype.name not in _ELEMENTS:
        wanted = ", ".join(_ELEMENTS)
        raise InvalidInput(f"the elements of the array are {array.dtype.name}, not {wanted}; convert it by .astype")
    if array.ndim not in (1, 2) or array.size == 0:
        raise InvalidInput(f"an array on a device has one or two axes and some elements, not the shape {array.shape}")
    if not array.flags.c_contiguous:
        raise InvalidInput(
            f"the elements of the array do not lie in the order of C, one after the other: shape {array.shape}, strides {array.strides}; "
            'make an array that does by pyopencl.array.to_device(queue, array.get(), …) or .copy("C")'
        )
    if array.offset != 0:
        raise InvalidInput(f"the array begins {array.offset} bytes within its buffer; give it a buffer of its own by .copy()")
    if not isinstance(array.base_data, cl.MemoryObjectHolder):
        raise InvalidInput(f"the array lies in {type(array.base_data).__name__}, not in a buffer; allocate it without shared virtual memory")
    array.finish()
    if array.queue is not None:
        array.queue.finish()
    return _native.array_of_memory(
        array.context.int_ptr, array.base_data.int_ptr, array.dtype.name, list(array.shape), array
    )


def pyopencl_team(context: Any) -> Team:
    """Open the device of a `pyopencl.Context`, which has one device.

    Arrays and operators of this team lie in the context, and have queues of their own.
    """
    _pyopencl("pyopencl_team", "pyopencl", "Context", context)
    return _native.team_in_context(context.int_ptr, context)
