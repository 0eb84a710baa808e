#!/usr/bin/env python3
"""Times Fourier transforms beside FFTW, pocketfft and RustFFT, on two cores.

python3 scripts/fft-beside.py [EXTENTS …] [--samples N] >lines.json

Needs `pip install pyfftw scipy`, and cargo for scripts/fft-beside, which has RustFFT and lattice-linalg. Complex and real transforms of three axes,
out of place, plans made before: FFTW with FFTW_MEASURE and two threads, pocketfft as scipy.fft with two workers. Each size is measured by all of
them in turn. Prints a line of JSON each, and a table with the ratios at the end on stderr.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy
import pyfftw
import scipy.fft

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TYPES = {("c2c", "s"): "complex64", ("c2c", "d"): "complex128", ("r2c", "s"): "float32", ("r2c", "d"): "float64"}


def median(run, samples):
    run()
    times = []
    for _ in range(samples):
        began = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times), min(times)


def python_programs(extents, samples):
    shape = [int(n) for n in extents.split("x")]
    for (kind, precision), dtype in TYPES.items():
        array = pyfftw.empty_aligned(shape, dtype=dtype)
        make = pyfftw.builders.fftn if kind == "c2c" else pyfftw.builders.rfftn
        plan = make(array, threads=2, planner_effort="FFTW_MEASURE")
        array[:] = numpy.random.default_rng(1).random(shape) - 0.5
        of_scipy = scipy.fft.fftn if kind == "c2c" else scipy.fft.rfftn
        for who, run in (("fftw", plan), ("pocketfft", lambda: of_scipy(array, workers=2))):
            ms, least = median(run, samples)
            yield {"who": who, "extents": extents, "kind": kind, "precision": precision, "ms": round(ms, 4), "least": round(least, 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extents", nargs="*", default=["64x64x64", "100x100x100", "128x128x128", "251x251x251", "256x256x256"])
    parser.add_argument("--samples", type=int, default=9)
    parser.add_argument("--program", help="fft-beside, built before")
    options = parser.parse_args()
    program = [options.program]
    if not options.program:
        program = ["cargo", "run", "--quiet", "--release", "--manifest-path", f"{ROOT}/scripts/fft-beside/Cargo.toml", "--"]
    times = {}
    for extents in options.extents:
        lines = subprocess.run([*program, extents, "--samples", str(options.samples)], check=True, capture_output=True, text=True).stdout
        for line in [*map(json.loads, lines.splitlines()), *python_programs(extents, options.samples)]:
            print(json.dumps(line), flush=True)
            times[line["extents"], line["kind"], line["precision"], line["who"]] = line["least"], line["ms"]
    others = ["fftw", "pocketfft", "rustfft"]
    print("ratios of medians (of least times): ours to", ", ".join(others), file=sys.stderr)
    for extents in options.extents:
        for kind, precision in TYPES:
            least, ms = times[extents, kind, precision, "lattice-linalg"]
            row = [times[extents, kind, precision, other] for other in others]
            ratios = "  ".join(f"{ms / other[1]:5.2f} ({least / other[0]:.2f})" for other in row)
            print(f"{extents:12} {kind} {precision}  {ms:9.3f} ms  {ratios}", file=sys.stderr)


main()
