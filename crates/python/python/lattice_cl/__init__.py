"""Lattice QCD and dense linear algebra on any OpenCL device, and on none.

    import lattice_cl as lc

    gauge = lc.read_gauge("cfg.lime")
    D = lc.Wilson(gauge, kappa=0.13)
    S = D.propagator(lc.source.wall(t=0), tol=1e-12, progress=True)
    C = lc.hadrons(S, ["pion", "rho", "proton"], momenta=lc.momenta(upto=3))
    print(lc.effective_mass(C["pion"]))

Axes of arrays are t, z, y, x, then spin and colour. Tuples of extents and sites are x, y, z, t, as in job files.
"""

from __future__ import annotations

import atexit as _atexit

from . import _native, analysis, interop, linalg, plot, smear, source, sparse
from ._native import (
    Array,
    Correlators,
    Device,
    Dirac,
    Gauge,
    Outcome,
    Propagator,
    Team,
    __version__,
    devices,
    dot,
    nrm2,
    read_gauge,
    read_propagator,
    run_job,
    vdot,
)
from .correlators import Momenta, effective_mass, hadrons, momenta
from .errors import DeviceError, FileError, InvalidInput, LatticeError, NotConverged, SingularMatrix
from .interop import from_pyopencl
from .operators import Clover, Twisted, Wilson
from .poisson import Electrostatics, Poisson, read_cube
from .product import Product, gemm
from .progress import Progress
from .report import ProductReport, Report, SolveReport, SparseReport
from .source import Source

__all__ = [
    "Array",
    "Clover",
    "Correlators",
    "Device",
    "DeviceError",
    "Dirac",
    "Electrostatics",
    "FileError",
    "Gauge",
    "InvalidInput",
    "LatticeError",
    "Momenta",
    "NotConverged",
    "Outcome",
    "Poisson",
    "Product",
    "ProductReport",
    "Progress",
    "Propagator",
    "Report",
    "SingularMatrix",
    "SolveReport",
    "SparseReport",
    "Source",
    "Team",
    "Twisted",
    "Wilson",
    "__version__",
    "analysis",
    "devices",
    "dot",
    "effective_mass",
    "from_pyopencl",
    "gemm",
    "hadrons",
    "interop",
    "linalg",
    "momenta",
    "nrm2",
    "plot",
    "read_cube",
    "read_gauge",
    "read_propagator",
    "run_job",
    "smear",
    "source",
    "sparse",
    "vdot",
]

# Work that Ctrl-C left alone ends before the interpreter does.
_atexit.register(_native.wait_for_work, 10.0)
