"""Statistics of measurements: means with errors, functions of them, fits, masses and scales.

    C = lc.analysis.observables(samples)                     # axes: configuration, distance
    m = lc.analysis.effective_mass(C)
    fit = lc.analysis.fit(range(6, 15), C[6:15], "cosh", extent=len(C))
    print(fit.parameters[1], lc.analysis.gamma_method(fit.parameters[1]).tau_int)

Observables follow arithmetic and functions of numpy. Arrays of them are arrays of objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._native import (
    FLOW_TARGET,
    WINDOW_PARAMETER,
    Observable,
    bootstrap,
    derived,
    folded,
    gevp,
    jackknife,
    observables,
    ratio,
    values,
)
from ._native import effective_masses as effective_mass

__all__ = [
    "FLOW_TARGET",
    "WINDOW_PARAMETER",
    "Fit",
    "FitAverage",
    "GammaError",
    "Observable",
    "bootstrap",
    "check",
    "derived",
    "effective_mass",
    "errors",
    "fit",
    "fit_average",
    "folded",
    "gamma_method",
    "gevp",
    "jackknife",
    "observables",
    "ratio",
    "summation",
    "t0",
    "values",
    "w0",
]

_Weights = str | tuple[str, float]
_Observables = Sequence[Observable] | NDArray[np.object_]


@dataclass(frozen=True)
class GammaError:
    """The error of an observable, with its autocorrelation."""

    value: float
    error: float
    """Statistical error of the value."""
    error_of_error: float
    """Statistical error of `error`."""
    tau_int: float
    """Integrated autocorrelation time in units of `spacing`, 0.5 without autocorrelation."""
    tau_int_error: float
    window: int
    """The last lag that is summed, in units of `spacing`."""
    spacing: int
    """Configuration numbers from one measurement to the next."""


@dataclass(frozen=True)
class Fit:
    """A fitted model."""

    parameters: NDArray[np.object_]
    """Observables: A_0, E_0, A_1, E_1, … of states, with energies that rise; intercept and slope of a line."""
    chi_squared: float
    expected_chi_squared: float
    """The χ² that a right model has on average (M. Bruno and R. Sommer, arXiv:2209.14188)."""
    degrees_of_freedom: int
    p_value: float | None
    """The probability that χ² is larger; `None` for shrunk or cut correlations, and without degrees of freedom."""
    hotelling_p_value: float | None
    """The same for a covariance of few measurements; `None` unless the fit is correlated."""
    points: int
    iterations: int

    @property
    def chi_squared_per_degree(self) -> float | None:
        """χ² per degree of freedom, `None` without one."""
        return self.chi_squared / self.degrees_of_freedom if self.degrees_of_freedom else None


@dataclass(frozen=True)
class FitAverage:
    """The average of a parameter over ranges, with weights exp(−AIC/2) (arXiv:2208.14983)."""

    value: float
    statistical: float
    systematic: float
    """The error from the choice of the range."""
    weights: NDArray[np.float64]
    ranges: tuple[tuple[int, int], ...]
    """First and last point of each fit that succeeded."""
    fits: tuple[Fit, ...]
    best: int
    """Number of the fit of the largest weight."""
    observable: Observable
    """The average with fixed weights. Its error has the correlations of the fits, and no systematic part."""

    @property
    def error(self) -> float:
        """Statistical and systematic error, added in quadrature."""
        return float(np.hypot(self.statistical, self.systematic))


def gamma_method(observable: Observable, window_parameter: float = WINDOW_PARAMETER) -> GammaError:
    """Estimate the error with autocorrelation by the Γ method (U. Wolff, hep-lat/0306017).

    `window_parameter` is its S; 0 assumes that there is no autocorrelation.
    """
    return GammaError(*_native.gamma_method(observable, window_parameter))


def errors(
    observables: _Observables | Observable, window_parameter: float = WINDOW_PARAMETER
) -> NDArray[np.float64]:
    """Return the errors of an array of observables, NaN where nothing fluctuates and for `None`."""
    return _native.errors(observables, window_parameter)


def check(
    samples: ArrayLike | Sequence[ArrayLike],
    *,
    window_parameter: float = WINDOW_PARAMETER,
    replica: Sequence[str] | None = None,
    numbers: Any = None,
    gaps: str = "refuse",
) -> list[list[str]]:
    """List reasons to doubt the errors of each number: trends, thermalisation, gaps, few measurements."""
    return _native.check(samples, window_parameter, replica, numbers, gaps)


def fit(
    x: ArrayLike,
    y: _Observables,
    model: str = "exp",
    *,
    states: int | None = None,
    extent: float | None = None,
    weights: _Weights = "correlated",
    initial: Sequence[float] | None = None,
    max_iterations: int = 500,
    window_parameter: float = WINDOW_PARAMETER,
) -> Fit:
    """Fit a model to observables y at positions x.

    Models are `exp`, `cosh` and `sinh` with `states` (1), a `constant` and a `line`. `cosh` is Σ A (e^(−E x) + e^(−E (T − x)))
    for the `extent` T, `sinh` has the other sign. `weights` are `correlated`, `uncorrelated`, `("shrunk", λ)` with the
    correlations (1 − λ) R + λ, or `("cut", c)` with eigenvalues of R raised to c times the largest.
    Errors of parameters have all correlations in each case.
    """
    return Fit(
        *_native.fit(x, y, model, states, extent, weights, initial, max_iterations, window_parameter)
    )


def fit_average(
    x: ArrayLike,
    y: _Observables,
    model: str = "exp",
    *,
    parameter: int = 1,
    ranges: Sequence[tuple[int, int]] | None = None,
    states: int | None = None,
    extent: float | None = None,
    weights: _Weights = "correlated",
    initial: Sequence[float] | None = None,
    max_iterations: int = 500,
    window_parameter: float = WINDOW_PARAMETER,
) -> FitAverage:
    """Average a parameter over fits to several ranges.

    A range is the first and the last point, counted from 0 in x. By default ranges begin at each point, and end where the error
    exceeds a fifth of the value. Fits that fail are left out. Other options are those of `fit`.
    """
    value, statistical, systematic, weight, ends, fits, best, observable = _native.fit_average(
        x,
        y,
        model,
        parameter,
        ranges,
        states,
        extent,
        weights,
        initial,
        max_iterations,
        window_parameter,
    )
    return FitAverage(
        value,
        statistical,
        systematic,
        np.array(weight),
        tuple(ends),
        tuple(Fit(*numbers) for numbers in fits),
        best,
        observable,
    )


def summation(
    ratios: Sequence[_Observables],
    *,
    excluded: int = 1,
    weights: _Weights = "correlated",
    window_parameter: float = WINDOW_PARAMETER,
) -> Fit:
    """Fit a line to sums of ratios over τ for several source-sink separations; its slope is the matrix element.

    A ratio has the times τ = 0, 1, …, T of its separation T. At each end `excluded` of them are left out.
    """
    return Fit(*_native.summation(list(ratios), excluded, weights, window_parameter))


def t0(flow_times: ArrayLike, energies: _Observables, target: float = FLOW_TARGET) -> Observable:
    """Return t_0, where t² E(t) is the target, in the unit of flow times (M. Lüscher, arXiv:1006.4518)."""
    return _native.t0(flow_times, energies, target)


def w0(flow_times: ArrayLike, energies: _Observables, target: float = FLOW_TARGET) -> Observable:
    """Return w_0, where t d/dt(t² E(t)) is the target at t = w_0² (S. Borsányi et al., arXiv:1203.4469)."""
    return _native.w0(flow_times, energies, target)
