"""The library's types."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from typing_extensions import disjoint_base

from .progress import Progress
from .report import Report
from .source import Source

__version__: str
WINDOW_PARAMETER: float
FLOW_TARGET: float

_Devices = Team | str | Sequence[str] | None
_Progress = bool | Callable[[Progress], object] | None
_Path = str | os.PathLike[str]
_Four = tuple[int, int, int, int]
_Observables = Sequence[Observable] | NDArray[np.object_]
_Fit = tuple[NDArray[np.object_], float, float, int, float | None, float | None, int, int]
_Dirac = TypeVar("_Dirac", bound=Dirac)

@final
class Device:
    """A device: one that was found, or one of a team, which is open."""

    @property
    def label(self) -> str:
        """The name for `devices=`: `0.0 NAME`."""
    @property
    def name(self) -> str: ...
    @property
    def platform(self) -> str: ...
    @property
    def vendor(self) -> str: ...
    @property
    def driver_version(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def compute_units(self) -> int: ...
    @property
    def has_double(self) -> bool: ...
    def array(self, numbers: ArrayLike) -> Array:
        """Copy an array of one or two axes to the device; integers become double."""
    def finish(self) -> None:
        """Wait until the device has done everything."""
    @property
    def cl_context(self) -> int:
        """The `cl_context` of an open device, for `pyopencl.Context.from_int_ptr`."""
    @property
    def cl_queue(self) -> int:
        """The `cl_command_queue` of an open device, for `pyopencl.CommandQueue.from_int_ptr`.

        What pyopencl puts there runs in order with the work of this package.
        """

@final
class Team:
    """Open devices that work together; without one the host works."""

    def __new__(cls, devices: _Devices = None) -> Team:
        """Open `"auto"` (the best device), `"all"`, `"host"`, or devices by number or part of a name."""
    @property
    def labels(self) -> list[str]:
        """The names of the devices, `host` without one."""
    def finish(self) -> None:
        """Wait until every device has done everything."""
    def __len__(self) -> int: ...
    def __getitem__(self, number: int, /) -> Device: ...
    def __iter__(self) -> Iterator[Device]: ...

@final
class Array:
    """An array of one or two axes in the memory of a device. It never changes."""

    @property
    def shape(self) -> list[int]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> str: ...
    @property
    def cl_mem(self) -> int:
        """The `cl_mem`, for `pyopencl.Buffer.from_int_ptr`, which retains it. All work on the array is done."""
    def numpy(self) -> NDArray[Any]:
        """Copy the array to the host."""
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __matmul__(self, other: Array, /) -> Array: ...
    def __add__(self, other: Array, /) -> Array: ...
    def __sub__(self, other: Array, /) -> Array: ...
    def __mul__(self, factor: complex, /) -> Array: ...
    def __rmul__(self, factor: complex, /) -> Array: ...
    def __neg__(self) -> Array: ...
    def __len__(self) -> int: ...

@final
class Lu:
    """The factors P A = L U of a square matrix, on a device."""

    def solve(self, b: ArrayLike | Array, trans: str = "N") -> Any:
        """Solve A x = b, or with the transposed (`"T"`) or adjoint (`"C"`) matrix.

        An array on the device gives one there, any other an array of numpy. Columns are right-hand sides.
        """
    def inverse(self) -> NDArray[Any]: ...
    def slogdet(self) -> tuple[complex, float]:
        """The sign, or phase, and the logarithm of the size of the determinant."""
    def condition(self) -> float:
        """An estimate of the condition number in the 1-norm, seldom below a third of it."""
    @property
    def pivots(self) -> NDArray[np.int64]:
        """Row i was exchanged with row `pivots[i]`, in this order."""
    def __len__(self) -> int: ...

@final
class Cholesky:
    """The factor L of A = L Lᴴ, on a device."""

    def solve(self, b: ArrayLike | Array) -> Any:
        """Solve A x = b. An array on the device gives one there, any other an array of numpy."""
    def inverse(self) -> NDArray[Any]: ...
    def factor(self) -> NDArray[Any]:
        """L, with zeros above its diagonal."""
    def log_determinant(self) -> float: ...
    def condition(self) -> float:
        """An estimate of the condition number in the 1-norm, seldom below a third of it."""
    def __len__(self) -> int: ...

@final
class SparseMatrix:
    """A sparse matrix in the host's memory, by rows."""

    @staticmethod
    def read(path: _Path) -> SparseMatrix: ...
    @staticmethod
    def problem(text: str) -> SparseMatrix: ...
    @staticmethod
    def of_entries(
        rows: ArrayLike, columns: ArrayLike, values: NDArray[Any], shape: tuple[int, int]
    ) -> SparseMatrix: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nnz(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def csr(self) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]: ...
    def multiply(self, x: ArrayLike) -> NDArray[Any]: ...
    def solve(
        self,
        b: ArrayLike,
        method: str | None,
        preconditioner: str | None,
        tol: float,
        max_iterations: int,
        restart: int,
        devices: _Devices,
        progress: _Progress,
    ) -> tuple[
        NDArray[Any],
        bool,
        list[tuple[str, str, int, float, float, float, str | None, NDArray[np.float64]]],
        float,
        float,
        str,
        str,
        str,
        list[str],
    ]: ...

@final
class Gauge:
    """A gauge configuration: four links in SU(3) at each site, without signs of a boundary."""

    def __new__(cls, links: ArrayLike) -> Gauge:
        """Take links of an array with the axes t, z, y, x, direction, row, column."""
    @staticmethod
    def unit(dims: Sequence[int]) -> Gauge:
        """Make unit links on a lattice of extents (x, y, z, t)."""
    @property
    def dims(self) -> _Four:
        """The extents (x, y, z, t)."""
    @property
    def precision(self) -> str: ...
    @property
    def plaquette(self) -> float:
        """The mean of Re tr / 3 over all plaquettes."""
    @property
    def plaquettes(self) -> tuple[float, float]:
        """The mean over plaquettes in space, and that over plaquettes with time."""
    @property
    def facts(self) -> list[tuple[str, str]]:
        """Where the links come from, how they were verified, and what was done to them."""
    def polyakov_loop(self) -> complex:
        """The mean of tr / 3 of the Polyakov loops."""
    def energy_and_charge(self) -> tuple[float, float]:
        """The energy density and the topological charge of the clover field strength."""
    def stout(
        self, *, rho: float, steps: int = 1, directions: str = "xyzt", devices: _Devices = None
    ) -> Gauge:
        """Smear by stout steps, on the host or on devices."""
    def ape(
        self, *, alpha: float, steps: int = 1, directions: str = "xyzt", projection: str = "trace"
    ) -> Gauge:
        """Smear by APE steps."""
    def hyp(
        self,
        *,
        alphas: Sequence[float] = ...,
        steps: int = 1,
        directions: str = "xyzt",
        projection: str = "trace",
    ) -> Gauge:
        """Smear by HYP steps."""
    def numpy(self) -> NDArray[np.complex128]:
        """Copy the links: axes t, z, y, x, direction, row, column."""
    def pyquda(self) -> NDArray[np.complex128]:
        """Copy the links to the axes of PyQUDA: direction, parity, t, z, y, x/2, row, column."""
    def gpt(self) -> list[NDArray[np.complex128]]:
        """Copy the links as GPT has them, an array for each direction: site, row, column."""
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def save(self, path: _Path, format: str = "ildg") -> None:
        """Write the links to a file."""
    def _repr_html_(self) -> str: ...

@disjoint_base
class Dirac:
    """A Dirac operator on the devices of a team."""

    def __new__(
        cls: type[_Dirac],
        gauge: Gauge,
        *,
        devices: _Devices = None,
        **action: float | str | None,
    ) -> _Dirac:
        """Put an operator on devices. `action` are the keys of `[action]` in a job: `kappa`, `csw`, `clover_r`, …"""
    @property
    def kappa(self) -> float: ...
    @property
    def mass(self) -> float:
        """The bare mass."""
    @property
    def dims(self) -> _Four:
        """The extents (x, y, z, t)."""
    @property
    def devices(self) -> list[str]:
        """The names of the devices."""
    def apply(self, psi: ArrayLike, *, adjoint: bool = False) -> NDArray[np.complex128]:
        """Return M ψ, or M† ψ: axes t, z, y, x, spin, colour."""
    def propagator(
        self, source: Source | str, *, progress: _Progress = None, **options: float | str | None
    ) -> Propagator:
        """Solve for the twelve columns of a source.

        Options are the keys of `[solver]` in a job: `tol`, `solver`, `system`, `preconditioning`, `precision`, `max_iterations`,
        `multigrid_levels`, `multigrid_vectors`, `multigrid_iterations`, `multigrid_block`, `multigrid_smoother`, `multigrid_cycle`.
        """
    def solve(
        self,
        source: Source | str,
        *,
        spin: int,
        colour: int,
        progress: _Progress = None,
        **options: float | str | None,
    ) -> tuple[NDArray[np.complex128], Report]:
        """Solve for one spin and colour of a source."""

@final
class Propagator:
    """A quark propagator: the solutions for all twelve spins and colours of a source."""

    def __new__(
        cls,
        numbers: ArrayLike,
        *,
        origin: Sequence[int] = ...,
        antiperiodic: bool = True,
        theta: str | None = None,
        devices: _Devices = None,
    ) -> Propagator:
        """Take solutions: axes t, z, y, x, spin, colour, spin and colour of the source.

        `antiperiodic` and `theta`, four angles in units of pi, are the boundary condition of the quark.
        """
    @property
    def dims(self) -> _Four:
        """The extents (x, y, z, t)."""
    @property
    def origin(self) -> _Four:
        """The site (x, y, z, t) that distances are counted from."""
    @property
    def equation(self) -> str:
        """The equation that was solved, in words."""
    @property
    def report(self) -> Report:
        """How the solves went."""
    @property
    def job(self) -> dict[str, Any] | None:
        """The job with all defaults, as a job file says it."""
    def numpy(self) -> NDArray[np.complex128]:
        """Copy the solutions: axes t, z, y, x, spin, colour, spin and colour of the source."""
    def pyquda(self) -> NDArray[np.complex128]:
        """Copy the solutions to the axes of PyQUDA: parity, t, z, y, x/2, spins of sink and source, colours."""
    def gpt(self) -> NDArray[np.complex128]:
        """Copy the solutions as GPT has them: site, spins of sink and source, colours."""
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __dlpack__(self, **options: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def column(self, spin: int, colour: int) -> NDArray[np.complex128]:
        """Copy the solution for one spin and colour of the source."""
    def correlator(self, observable: str = "pion", *, along: str = "t") -> NDArray[np.float64]:
        """Sum an observable over slices along a direction: C(0), C(1), … from the source."""
    def save(self, path: _Path, format: str | None = None, *, precision: str = "double") -> None:
        """Write the solutions: `scidac`, `lalibe-hdf5`, `pyquda-hdf5` or `npy`; by default what the ending tells."""
    def _repr_html_(self) -> str: ...

@final
class Correlators:
    """Correlators of hadrons over the distance in t, by name and momentum."""

    @property
    def names(self) -> list[str]: ...
    @property
    def momenta(self) -> list[tuple[int, int, int]]:
        """The momenta n of p = 2πn/L."""
    def keys(self) -> list[tuple[str, int, int, int]]:
        """All keys: name, n_x, n_y, n_z."""
    def __getitem__(self, key: str | tuple[str, int, int, int], /) -> NDArray[np.complex128]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[str, int, int, int]]: ...
    def __contains__(self, key: object, /) -> bool: ...
    def meson(self, source: int, sink: int, momentum: Sequence[int] = ...) -> NDArray[np.complex128]:
        """Return the correlator of two of the sixteen matrices, with Chroma's sign."""
    def baryon(
        self, name: str, projector: str = "+", momentum: Sequence[int] = ...
    ) -> NDArray[np.complex128]:
        """Return the correlator of a baryon by its full name: `nucleon_Cg5NR_up`."""
    def save(self, path: _Path) -> None:
        """Write all correlators, as HDF5 if the name ends in .h5 or .hdf5, else as JSON."""
    def _repr_html_(self) -> str: ...

@final
class Outcome:
    """The results of a job."""

    @property
    def job(self) -> dict[str, Any]:
        """The job with all defaults."""
    @property
    def propagators(self) -> list[Propagator]:
        """The propagators of `spectrum`, one for each mass, flavour and source, sources fastest."""
    @property
    def solutions(self) -> list[NDArray[np.complex128]]:
        """The solutions of `invert`."""
    @property
    def report(self) -> Report:
        """How the solves went."""

@final
class PoissonPlan:
    """A prepared solution of Poisson's equation; `lattice_cl.Poisson` is its face."""

    def __new__(
        cls,
        cell: Sequence[Sequence[float]],
        shape: Sequence[int],
        boundary: str,
        cutoff: str,
        precision: str,
        out_of_core: int | None,
        devices: _Devices,
    ) -> PoissonPlan: ...
    def solve(
        self, density: NDArray[Any]
    ) -> tuple[NDArray[np.float64], float, tuple[list[float], list[float]] | None, list[float], float]: ...

@final
class Observable:
    """A mean or a function of means, with its error. It never changes.

    Functions of numpy such as `numpy.log` take observables, and arrays of them.
    """

    def __new__(
        cls,
        samples: ArrayLike | Sequence[ArrayLike],
        *,
        replica: Sequence[str] | None = None,
        numbers: Any = None,
        gaps: str = "refuse",
    ) -> Observable:
        """Take measurements in the order of the Markov chain, or a list of them: one for each replica.

        `replica` are the names of replica. `numbers` are the numbers of the configurations, a list for each replica.
        `gaps` in them are an error (`"refuse"`), `"account"` takes lags as distances of numbers, `"ignore"` takes measurements as
        neighbours.
        """
    @property
    def value(self) -> float: ...
    @property
    def error(self) -> float:
        """The statistical error, by the Γ method or by resampling; NaN if nothing fluctuates."""
    @property
    def method(self) -> str:
        """The method of the error: `gamma`, `jackknife` or `bootstrap`."""
    @property
    def samples(self) -> NDArray[np.float64] | None:
        """The value on each resample; `None` for the Γ method."""
    @property
    def bias(self) -> float | None:
        """The estimate of the bias by resampling; `None` for the Γ method."""
    @property
    def fluctuations(self) -> dict[str, tuple[NDArray[np.uint64], NDArray[np.float64]]]:
        """Configuration numbers and deviations for each replica; empty if the observable was resampled."""
    def __add__(self, other: Observable | float, /) -> Observable: ...
    def __radd__(self, other: float, /) -> Observable: ...
    def __sub__(self, other: Observable | float, /) -> Observable: ...
    def __rsub__(self, other: float, /) -> Observable: ...
    def __mul__(self, other: Observable | float, /) -> Observable: ...
    def __rmul__(self, other: float, /) -> Observable: ...
    def __truediv__(self, other: Observable | float, /) -> Observable: ...
    def __rtruediv__(self, other: float, /) -> Observable: ...
    def __pow__(self, exponent: Observable | float, modulus: None = None, /) -> Observable: ...
    def __rpow__(self, base: float, modulus: None = None, /) -> Observable: ...
    def __neg__(self) -> Observable: ...
    def __abs__(self) -> Observable: ...
    def log(self) -> Observable: ...
    def exp(self) -> Observable: ...
    def sqrt(self) -> Observable: ...
    def sin(self) -> Observable: ...
    def cos(self) -> Observable: ...
    def sinh(self) -> Observable: ...
    def cosh(self) -> Observable: ...
    def tanh(self) -> Observable: ...
    def arccosh(self) -> Observable: ...

def devices() -> list[Device]:
    """List the devices that this machine has."""

def nrm2(x: Array) -> float:
    """Return ‖x‖."""

def dot(x: Array, y: Array) -> Any:
    """Return Σ xᵢ yᵢ."""

def vdot(x: Array, y: Array) -> Any:
    """Return Σ conj(xᵢ) yᵢ."""

def team_in_context(handle: int, context: object) -> Team: ...
def array_of_memory(
    context: int, memory: int, element: str, shape: Sequence[int], owner: object
) -> Array: ...
def gemm(
    a: NDArray[Any], b: NDArray[Any], team: _Devices, progress: _Progress
) -> tuple[NDArray[Any], bool, float, list[tuple[str, float, int, int, float]]]: ...
def read_cube(path: _Path) -> tuple[NDArray[np.float64], list[list[float]]]: ...
def read_gauge(
    path: _Path,
    *,
    dims: Sequence[int] | None = None,
    format: str | None = None,
    ignore_checksum: bool = False,
) -> Gauge:
    """Read and verify a gauge configuration of any format."""

def read_propagator(
    path: _Path,
    *,
    origin: Sequence[int] = ...,
    antiperiodic: bool = True,
    theta: str | None = None,
    devices: _Devices = None,
) -> Propagator:
    """Read a propagator of twelve columns from a file of any format."""

def smear_sink(propagator: Propagator, gauge: Gauge, smearing: str) -> Propagator: ...
def hadrons(
    propagator: Propagator,
    names: Sequence[str],
    *,
    upto: int,
    momenta: Sequence[Sequence[int]] | None,
    averaged: bool,
    antiquark: Propagator | None,
) -> Correlators: ...
def lu(a: ArrayLike | Array, devices: _Devices = None) -> Lu:
    """Factorise a square matrix on the first of some devices, with exchanges of rows."""

def cholesky(a: ArrayLike | Array, devices: _Devices = None) -> Cholesky:
    """Factorise a Hermitian, positive definite matrix, of which the lower triangle is read."""

def run_job(
    job: Mapping[str, Any] | _Path, *, devices: _Devices = None, progress: _Progress = None
) -> Outcome:
    """Do a job: a file, the text of one (TOML), or a dictionary of the same structure."""

def observables(
    samples: ArrayLike | Sequence[ArrayLike],
    *,
    replica: Sequence[str] | None = None,
    numbers: Any = None,
    gaps: str = "refuse",
) -> Any:
    """Make an array of observables with errors by the Γ method.

    The first axis of the samples counts configurations, and a list of arrays has replica. One number on each configuration gives one
    observable. Other arguments are those of `Observable`.
    """

def jackknife(
    samples: ArrayLike | Sequence[ArrayLike],
    *,
    bin: int = 1,
    replica: Sequence[str] | None = None,
    numbers: Any = None,
    gaps: str = "refuse",
) -> Any:
    """Make an array of observables with errors by the jackknife of bins of `bin` configurations.

    Other arguments are those of `observables`.
    """

def bootstrap(
    samples: ArrayLike | Sequence[ArrayLike],
    *,
    bin: int = 1,
    draws: int = 1000,
    seed: int = 1,
    replica: Sequence[str] | None = None,
    numbers: Any = None,
    gaps: str = "refuse",
) -> Any:
    """Make an array of observables with errors by the bootstrap of bins; a seed draws the same bins everywhere.

    Other arguments are those of `observables`.
    """

def derived(function: Callable[[NDArray[np.float64]], ArrayLike], observables: _Observables) -> Any:
    """Return a function of the values of observables, which takes an array: an observable, or an array of them.

    For the Γ method derivatives are central differences. Resampled observables are mapped on each resample.
    """

def effective_masses(correlator: _Observables, form: str = "cosh") -> NDArray[np.object_]:
    """Return the effective mass at each distance, `None` where it is undefined.

    `cosh` is arcosh((C(n−1) + C(n+1))/2C(n)) of a periodic correlator, `log` is ln(C(n)/C(n+1)).
    """

def folded(correlator: _Observables) -> NDArray[np.object_]:
    """Return (C(n) + C(T − n))/2 for the distances up to T/2 of a correlator of extent T."""

def gevp(
    matrix: _Observables, reference_time: int, order_time: int | None = None
) -> NDArray[np.object_]:
    """Return the eigenvalues of C(t) v = λ C(t_0) v: axes state, time.

    The matrix has the axes time, row, column. States are in the order of their eigenvalues, the largest first. With an
    `order_time` that order holds there, and at other times that of overlaps with its vectors.
    """

def ratio(
    three_point: _Observables, source: _Observables, sink: _Observables | None = None
) -> NDArray[np.object_]:
    """Return the ratio of a three-point function at τ = 0, 1, …, T and two-point functions.

    With one two-point function it is C_3(τ)/C_2(T). Those of two momenta give the ratio whose overlaps and energies cancel.
    """

def values(observables: _Observables | Observable) -> NDArray[np.float64]:
    """Return the values of an array of observables, NaN for `None`."""

def errors(observables: _Observables | Observable, window_parameter: float) -> NDArray[np.float64]: ...
def gamma_method(
    observable: Observable, window_parameter: float
) -> tuple[float, float, float, float, float, int, int]: ...
def check(
    samples: ArrayLike | Sequence[ArrayLike],
    window_parameter: float,
    replica: Sequence[str] | None,
    numbers: Any,
    gaps: str,
) -> list[list[str]]: ...
def fit(
    x: ArrayLike,
    y: _Observables,
    model: str,
    states: int | None,
    extent: float | None,
    weights: str | tuple[str, float],
    initial: Sequence[float] | None,
    iterations: int,
    window_parameter: float,
) -> _Fit: ...
def fit_average(
    x: ArrayLike,
    y: _Observables,
    model: str,
    parameter: int,
    ranges: Sequence[tuple[int, int]] | None,
    states: int | None,
    extent: float | None,
    weights: str | tuple[str, float],
    initial: Sequence[float] | None,
    iterations: int,
    window_parameter: float,
) -> tuple[
    float, float, float, list[float], list[tuple[int, int]], list[_Fit], int, Observable
]: ...
def summation(
    ratios: list[_Observables],
    excluded: int,
    weights: str | tuple[str, float],
    window_parameter: float,
) -> _Fit: ...
def t0(flow_times: ArrayLike, energies: _Observables, target: float) -> Observable: ...
def w0(flow_times: ArrayLike, energies: _Observables, target: float) -> Observable: ...
def run_program(arguments: Sequence[str]) -> int: ...
def wait_for_work(seconds: float) -> bool: ...
