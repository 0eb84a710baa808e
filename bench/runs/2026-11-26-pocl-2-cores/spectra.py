"""Processor seconds of SciPy for eigenvalues and singular values: spectra.py N ..."""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import sys
import time

import numpy
import scipy.linalg

for n in map(int, sys.argv[1:]):
    a = numpy.random.rand(n, n) - 0.5
    a = a + a.T
    for name, run in [
        ("eigh, values", lambda: scipy.linalg.eigh(a, driver="evd", eigvals_only=True)),
        ("eigh, values and vectors", lambda: scipy.linalg.eigh(a, driver="evd")),
        ("svd, values and vectors", lambda: scipy.linalg.svd(a)),
    ]:
        began = time.process_time()
        run()
        print(n, name, round(time.process_time() - began, 3))
