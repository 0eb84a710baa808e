#!/usr/bin/env python3
"""Measures GB/s of arrays and fields to numpy, each into fresh memory.

    scripts/numpy-rates.py DEVICES FILE.json [arrays]

Run it by a Python that has the package. With `arrays` fields of the lattice are left out. The first copy counts apart.
"""

import json
import statistics
import sys
import time

import lattice_cl as lc
import numpy as np


def rate(what, copy, bytes_, rounds=7):
    rates = []
    for _ in range(rounds):
        begun = time.perf_counter()
        x = copy()
        rates.append(x.nbytes / (time.perf_counter() - begun) / 1e9)
        assert x.nbytes == bytes_
        del x
    row = {"what": what, "bytes": bytes_, "first": rates[0], "median": statistics.median(rates[1:]), "least": min(rates[1:]), "most": max(rates[1:])}
    print(f"{what:44} first {rates[0]:6.2f}  median {row['median']:6.2f}  least {row['least']:6.2f}  most {row['most']:6.2f} GB/s", flush=True)
    return row

rows = []
for device in sys.argv[1].split(","):
    team = lc.Team(device)
    print(team[0].label)
    assert lc.Team(device)[0].cl_context == team[0].cl_context
    for mib, dtypes in [(16, ["float64"]), (64, ["float64"]), (256, ["float64", "complex128"]), (1024, ["float64"])]:
        for dtype in dtypes:
            count = mib * (1 << 20) // np.dtype(dtype).itemsize
            numbers = (np.arange(count) % 1009).astype(dtype).reshape(-1, 1024)
            array = team[0].array(numbers)
            assert np.array_equal(array.numpy(), numbers)
            rows.append({"device": team[0].label, **rate(f"Array.numpy() {mib} MiB {dtype}", array.numpy, mib << 20)})
            del array, numbers
if "arrays" in sys.argv[3:]:
    json.dump(rows, open(sys.argv[2], "w"), indent=1)
    sys.exit()
gauge = lc.Gauge.unit((32, 32, 32, 32))
rows.append(rate("Gauge.numpy() 32^4", gauge.numpy, 32**4 * 4 * 144))
psi = np.zeros((32, 32, 32, 32, 4, 3, 4, 3), np.complex128)
psi[...] = np.arange(12).reshape(4, 3)
S = lc.Propagator(psi)
assert np.array_equal(S.numpy(), psi)
del psi
rows.append(rate("Propagator.numpy() 32^4", S.numpy, 32**4 * 2304))
rows.append(rate("Propagator.column() 32^4", lambda: S.column(1, 2), 32**4 * 192))
D = lc.Wilson(gauge, kappa=0.1, devices=sys.argv[1].split(",")[0])
phi = np.ones((32, 32, 32, 32, 4, 3), np.complex128)
rows.append(rate("Dirac.apply() 32^4, there and back", lambda: D.apply(phi), 32**4 * 192))
json.dump(rows, open(sys.argv[2], "w"), indent=1)
