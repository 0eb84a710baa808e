"""A program for NumPy and SciPy that knows nothing of lattice-cl.

blas-programs.py FILE computes products, solutions and factors, also in threads and in a forked process, and keeps them.
blas-programs.py FILE OTHER compares what two runs have kept.
"""

import multiprocessing
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
    if scipy is not None:
        factors, pivots = scipy.linalg.lu_factor(a)
        solution = scipy.linalg.lu_solve((factors, pivots), b[:, 0])
        q, r = scipy.linalg.qr(a)
        lower = scipy.linalg.cho_factor(positive, lower=True)
        found |= {"factors": factors, "pivots": pivots, "of factors": solution, "q r": q @ r}
        found |= {"of cholesky": scipy.linalg.cho_solve(lower, b)}
    return {f"{dtype.__name__} {name}": value for name, value in found.items()}


def product_of(seed):
    a = matrix(np.float64, seed)
    return np.linalg.solve(a, a @ a)


def run(path):
    found = {}
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
