"""Calls gemm3m of a BLAS in front of NumPy's, which NumPy itself does not, by C's and by Fortran's name.

blas-gemm3m.py LIBRARY: with LATTICE_CL_BLAS_LEAST=0 the library computes, with a huge number it passes the calls on.
"""

import ctypes
import sys

import numpy as np

library = ctypes.CDLL(sys.argv[1])
rng = np.random.default_rng(1)
m, n, k = 37, 29, 53
for dtype, letter in ((np.complex64, "c"), (np.complex128, "z")):
    a, b, c = ((rng.standard_normal(s) + 1j * rng.standard_normal(s)).astype(dtype) for s in ((m, k), (n, k), (m, n)))
    alpha, beta = np.array([2 - 1j], dtype), np.array([0.5j], dtype)
    expected = alpha * a @ b.conj().T + beta * c
    epsilon = np.finfo(dtype).eps
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (alpha, a, b, beta)]
    # NumPy's wheel has 64-bit integers, and "scipy_" in front.
    by_c = getattr(library, f"scipy_cblas_{letter}gemm3m64_")
    found = c.copy()
    extents = [ctypes.c_int64(x) for x in (m, n, k)]
    by_c(
        101, 111, 113, *extents, pointers[0], pointers[1], ctypes.c_int64(k), pointers[2], ctypes.c_int64(k),
        pointers[3], found.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(n),
    )  # fmt: skip
    by_fortran = getattr(library, f"scipy_{letter}gemm3m_64_")
    # Rows are columns to Fortran: Cᵀ = α conj(B) Aᵀ + β Cᵀ, and conj(B)ᵀ lies in memory as the conjugate of B.
    conjugate = np.ascontiguousarray(b.conj())
    again = c.copy()
    at = [ctypes.byref(x) for x in (ctypes.c_int64(n), ctypes.c_int64(m), ctypes.c_int64(k))]
    ld = ctypes.byref(ctypes.c_int64(k))
    by_fortran(
        b"T", b"N", *at, pointers[0], conjugate.ctypes.data_as(ctypes.c_void_p), ld, pointers[1], ld, pointers[3],
        again.ctypes.data_as(ctypes.c_void_p), at[0], ctypes.c_size_t(1), ctypes.c_size_t(1),
    )  # fmt: skip
    for name, result in (("C", found), ("Fortran", again)):
        ratio = np.abs(result - expected).max() / (np.abs(expected).max() * epsilon * k)
        assert ratio < 10, f"{letter}gemm3m by {name}'s name: {ratio:.3g} times the terms and epsilon apart"
