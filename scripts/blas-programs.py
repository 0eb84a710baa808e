"""A program for NumPy and SciPy that knows nothing of lattice-cl.

blas-programs.py FILE computes products, solutions, factors, eigenvalues and singular values, also in threads and in a
forked process, and keeps them.
blas-programs.py FILE OTHER compares what two runs have kept.
"""

import multiprocessing
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

try:
    import scipy.linalg
except ImportError:
    scipy = None

ROWS = 150
TYPES = (np.float32, np.float64, np.complex64, np.complex128)


def matrix(dtype, seed):
    """A well-conditioned matrix."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, ROWS))
    if np.issubdtype(dtype, np.complexfloating):
        x = x + 1j * rng.standard_normal((ROWS, ROWS))
    return (x / np.sqrt(ROWS) + 3 * np.eye(ROWS)).astype(dtype)


def results(dtype):
    a, b = matrix(dtype, 1), matrix(dtype, 2)
    positive = a @ a.conj().T
    found = {
        "product": a @ b,
        "transposed": a[::2].T @ b[::2],
        "solution": np.linalg.solve(a, b[:, :3]),
        "inverse": np.linalg.inv(a),
        "cholesky": np.linalg.cholesky(positive),
        "determinant": np.linalg.slogdet(a)[1],
        "r": np.abs(np.linalg.qr(a)[1]),
    }
    # Vectors have free phases, so they are multiplied together again.
    values, vectors = np.linalg.eigh(positive)
    found |= {"eigenvalues": values, "of eigenvectors": (vectors * values) @ vectors.conj().T}
    found["eigenvalues alone"] = np.linalg.eigvalsh(positive)
    for name, part in {"square": a, "tall": a[:, :60], "wide": a[:60]}.items():
        u, values, vt = np.linalg.svd(part)
        kept = len(values)
        found |= {f"singular values, {name}": values, f"of {name}": (u[:, :kept] * values) @ vt[:kept]}
        found |= {f"U of {name}": u.conj().T @ u, f"V of {name}": vt @ vt.conj().T}
        found[f"values alone, {name}"] = np.linalg.svd(part, compute_uv=False)
    if scipy is not None:
        factors, pivots = scipy.linalg.lu_factor(a)
        solution = scipy.linalg.lu_solve((factors, pivots), b[:, 0])
        q, r = scipy.linalg.qr(a)
        lower = scipy.linalg.cho_factor(positive, lower=True)
        found |= {"factors": factors, "pivots": pivots, "of factors": solution, "q r": q @ r}
        found |= {"of cholesky": scipy.linalg.cho_solve(lower, b)}
        found["eigenvalues by evd"] = scipy.linalg.eigh(positive, driver="evd")[0]
        gesdd, gesvd, gglse = scipy.linalg.get_lapack_funcs(("gesdd", "gesvd", "gglse"), (a,))
        for routine, name in ((gesdd, "gesdd"), (gesvd, "gesvd")):
            u, values, vt, _ = routine(a[:, :80], full_matrices=0)
            found |= {f"{name}": values, f"of {name}": (u * values) @ vt}
        found["constrained"] = gglse(a[:, :70], b[:40, :70], b[:, 1], b[:40, 2])[3]
    return {f"{dtype.__name__} {name}": value for name, value in found.items()}


def product_of(seed):
    a = matrix(np.float64, seed)
    return np.linalg.solve(a, a @ a)


def well_children():
    """The number of processes, forked while threads multiply, that end with the right product."""
    a = np.random.default_rng(6).standard_normal((400, 400))
    expected, well = a @ a, 0
    with ThreadPoolExecutor(3) as threads:
        products = [threads.submit(np.matmul, a, a) for _ in range(30)]
        for _ in range(6):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                os._exit(0 if np.allclose(a @ a, expected) else 1)
            well += os.waitpid(child, 0)[1] == 0
        assert all(np.allclose(product.result(), expected) for product in products)
    return well


def large_products():
    """Products that are large enough to be computed piece by piece, with gaps between lines."""
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((1300, 1000)), rng.standard_normal((1801, 1000))[::2]
    out = np.zeros((1300, 1000))
    np.matmul(a, b.T, out=out[:, :901])
    return {"float64 large": out, "float64 large, transposed": (b @ a.T)[::7]}


def run(path):
    # First of all: a thread may be opening the device.
    found = {"float64 children": np.array([well_children()])}
    found |= large_products()
    for dtype in TYPES:
        found |= results(dtype)
    with ThreadPoolExecutor(4) as threads:
        for seed, value in enumerate(threads.map(product_of, range(8))):
            found[f"float64 of a thread {seed}"] = value
    with multiprocessing.get_context("fork").Pool(2) as processes:
        for seed, value in enumerate(processes.map(product_of, range(4))):
            found[f"float64 of a process {seed}"] = value
    np.savez(path, **found)


def compare(path, other):
    one, two = np.load(path), np.load(other)
    assert sorted(one.files) == sorted(two.files)
    bad = 0
    for name in one.files:
        epsilon = np.finfo(name.split()[0]).eps
        size = max(np.abs(two[name]).max(), 1)
        ratio = np.abs(one[name] - two[name]).max() / (size * epsilon * ROWS)
        if not ratio <= 10:
            print(f"blas-programs: error: {name}: {ratio:.3g} times rows and epsilon apart", file=sys.stderr)
            bad += 1
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    run(*sys.argv[1:]) if len(sys.argv) == 2 else compare(*sys.argv[1:])
