"""Products of matrices over all devices of a team."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._native import Team
from .errors import InvalidInput
from .progress import Progress
from .report import ProductReport, Share

__all__ = ["Product", "gemm"]


class Product(np.ndarray[Any, Any]):
    """A product of matrices: an array of numpy that knows how it was computed."""

    report: ProductReport | None = None
    """Who computed which rows, at which rate; `None` for arrays made of the product."""


def _operand(array: ArrayLike, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return a matrix of a type, contiguous in either order."""
    matrix: NDArray[Any] = np.asarray(array, dtype=dtype)
    if matrix.ndim != 2:
        raise InvalidInput(f"a product takes matrices of two axes, not of {matrix.ndim}")
    if matrix.flags.c_contiguous or matrix.flags.f_contiguous:
        return matrix
    return np.ascontiguousarray(matrix)


def gemm(
    a: ArrayLike,
    b: ArrayLike,
    *,
    team: Team | str | Sequence[str] | None = None,
    progress: bool | Callable[[Progress], object] | None = None,
) -> Product:
    """Return a @ b, computed on all devices of a team; on the best device by default.

    Types are single and double precision, real and complex. Integers become double.
    """
    a, b = np.asarray(a), np.asarray(b)
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype.kind in "iub":
        dtype = np.dtype(np.float64)
    if dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise InvalidInput(f"matrices of {dtype.name} are not multiplied; convert them by .astype")
    a, b = _operand(a, dtype), _operand(b, dtype)
    if a.shape[1] != b.shape[0]:
        raise InvalidInput(f"a has {a.shape[1]} columns and b {b.shape[0]} rows; they must be as many")
    numbers, by_columns, seconds, shares = _native.gemm(a, b, team, progress)
    product = numbers.view(Product)
    of_term = 8 if dtype.kind == "c" else 2
    flops = of_term * a.shape[0] * a.shape[1] * b.shape[1]
    product.report = ProductReport(tuple(Share(*share) for share in shares), by_columns, seconds, flops)
    return product
