"""Fits, masses, matrix elements and scales of observables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from synthetic import Numbers, autoregressive, correlator, periodic, two_states

import lattice_cl as lc
from lattice_cl.analysis import (
    Observable,
    bootstrap,
    effective_mass,
    errors,
    fit,
    fit_average,
    folded,
    gamma_method,
    gevp,
    jackknife,
    observables,
    ratio,
    summation,
    t0,
    values,
    w0,
)


def test_a_fit_of_pyerrors() -> None:
    """Values by pyerrors 2.17.0, as in crates/statistics/tests/fits.rs."""
    C, x = observables(two_states()), np.arange(12)
    found = fit(x[5:], C[5:], "exp")
    np.testing.assert_allclose(values(found.parameters), [1.0449031375208993, 0.30424758066792157], rtol=1e-8)
    np.testing.assert_allclose(errors(found.parameters), [0.005653374980672543, 0.0004545888736973576], rtol=1e-6)
    assert found.chi_squared == pytest.approx(39.11105734152718, rel=1e-9)
    assert found.p_value == pytest.approx(2.255683018148602e-7, rel=1e-7)
    assert found.hotelling_p_value == pytest.approx(5.783475153231521e-7, rel=1e-7)
    assert found.degrees_of_freedom == 5 and found.points == 7 and found.iterations > 0
    assert found.chi_squared_per_degree == found.chi_squared / 5
    free = fit(x[5:], C[5:], "exp", weights="uncorrelated")
    np.testing.assert_allclose(errors(free.parameters), [0.005687086305844769, 0.0004682295929794691], rtol=1e-6)
    assert free.chi_squared == pytest.approx(11.249114267138614, rel=1e-9) and free.hotelling_p_value is None
    both = fit(x, C, "exp", states=2)
    assert values(both.parameters)[1] == pytest.approx(0.2985430569053773, rel=1e-8)
    assert both.parameters[3].error == pytest.approx(0.008330430613552745, rel=1e-6)


def test_a_fit_in_pyerrors() -> None:
    pe = pytest.importorskip("pyerrors")
    anp = pytest.importorskip("autograd.numpy")
    samples, x = correlator(3, 200, 8, 0.02, lambda t: 2 * np.exp(-0.4 * t)), np.arange(2, 8)
    theirs = [pe.Obs([column], ["ensemble"]) for column in samples.T[2:]]
    for one in theirs:
        one.gamma_method(S=2.0)
    expected = pe.fits.least_squares(x, theirs, lambda a, t: a[0] * anp.exp(-a[1] * t), silent=True)
    found = fit(x, observables(samples)[2:], "exp", weights="uncorrelated")
    for ours, parameter in zip(found.parameters, expected.fit_parameters, strict=True):
        parameter.gamma_method(S=2.0)
        assert ours.value == pytest.approx(parameter.value, rel=1e-6)
        assert ours.error == pytest.approx(parameter.dvalue, rel=1e-5)


@pytest.mark.parametrize("weights", ["correlated", "uncorrelated", ("shrunk", 0.2), ("cut", 0.01)])
@pytest.mark.parametrize("make", [observables, lambda s: jackknife(s, bin=8), lambda s: bootstrap(s, bin=8, draws=100)])
def test_fits_recover_the_mass(weights: Any, make: Any) -> None:
    C = folded(make(periodic(0.01)))
    assert len(C) == 9
    found = fit(range(1, 9), C[1:], "cosh", extent=16, weights=weights)
    amplitude, mass = found.parameters
    assert abs(mass.value - 0.3) < 4 * mass.error and 1e-5 < mass.error < 2e-3
    assert abs(amplitude.value - 1) < 4 * amplitude.error
    assert found.degrees_of_freedom == 6 and (found.p_value is None) == isinstance(weights, tuple)
    assert mass.method == C[0].method


def test_exact_models() -> None:
    noisy = correlator(71, 200, 24, 0.01, lambda t: 2 * np.sinh(0.4 * (12 - t)) * np.exp(-4.8))
    x = np.arange(1, 11)
    sinh = fit(x, observables(noisy)[1:11], "sinh", extent=24)
    assert abs(sinh.parameters[1].value - 0.4) < 4 * sinh.parameters[1].error
    y = observables(3 + 0.5 * x + 0.1 * np.stack([autoregressive(k, 300, 0.0) for k in range(10)], axis=1))
    line = fit(x, y, "line")
    assert [abs(p.value - exact) < 4 * p.error for p, exact in zip(line.parameters, [3, 0.5], strict=True)] == [True] * 2
    level = fit(x, y - 0.5 * x, "constant", weights="uncorrelated")
    weight = errors(y) ** -2
    mean = (weight * (values(y) - 0.5 * x)).sum() / weight.sum()
    assert level.parameters[0].value == pytest.approx(mean, rel=1e-12)
    assert level.parameters[0].error == pytest.approx((weight @ y / weight.sum()).error, rel=1e-10)


def test_an_average_over_ranges() -> None:
    C, x = observables(two_states()), np.arange(12)
    found = fit_average(x, C, "exp", ranges=[(k, 11) for k in range(9)] + [(10, 11)], states=1)
    # The criterion is χ² + 2 k + 2 N_cut (arXiv:2208.14983).
    assert found.ranges[0] == (0, 11) and len(found.ranges) == len(found.fits) == 10
    criterion = np.array([one.chi_squared + 2 * 2 + 2 * (12 - one.points) for one in found.fits])
    weights = np.exp((criterion.min() - criterion) / 2)
    weights /= weights.sum()
    np.testing.assert_allclose(found.weights, weights, rtol=1e-9)
    masses = np.array([one.parameters[1] for one in found.fits])
    assert found.value == pytest.approx(weights @ values(masses), rel=1e-12)
    assert found.statistical == pytest.approx(np.sqrt(weights @ errors(masses) ** 2), rel=1e-9)
    spread = weights @ (values(masses) - found.value) ** 2
    assert found.systematic == pytest.approx(np.sqrt(spread), rel=1e-6)
    assert found.error == pytest.approx(np.hypot(found.statistical, found.systematic))
    assert found.best == weights.argmax() and found.observable.value == pytest.approx(found.value, rel=1e-12)
    assert found.observable.error == pytest.approx((weights @ masses).error, rel=1e-9)


def test_default_ranges_end_in_noise() -> None:
    samples = correlator(7, 100, 10, 0.001, lambda t: np.exp(-0.5 * t))
    samples[:, 8] += np.exp(-4) * 5 * autoregressive(99, 100, 0.0)
    for make in (observables, jackknife):
        found = fit_average(np.arange(10), make(samples), "exp")
        assert found.ranges == tuple((first, 7) for first in range(6))
        assert abs(found.value - 0.5) < 4 * found.error


def test_effective_masses() -> None:
    """Values by pyerrors 2.17.0, as in crates/statistics/tests/masses.rs."""
    logarithm = effective_mass(observables(two_states()), "log")
    assert logarithm[3].value == pytest.approx(0.35388900395541784, rel=1e-10)
    assert logarithm[3].error == pytest.approx(0.0035501567510646706, rel=1e-10)
    assert logarithm[11] is None
    C = observables(periodic(0.01))
    cosh = effective_mass(C)
    assert cosh[4].value == pytest.approx(0.3029991135494321, rel=1e-9)
    assert cosh[4].error == pytest.approx(0.002466639576688564, rel=1e-9)
    assert cosh.shape == (16,) and cosh[0] is None
    np.testing.assert_allclose(values(cosh), lc.effective_mass(values(C)), rtol=1e-10)
    exact = effective_mass(observables(periodic(0.0)))
    np.testing.assert_allclose(values(exact)[1:], 0.3, rtol=1e-9)


def _matrix(noise: float) -> Numbers:
    """Samples of C_ij(t) = Σ_n Z_in Z_jn exp(−E_n t), axes configuration, time, row, column."""
    overlaps = np.array([[1.0, 0.5, 0.2], [0.4, -1.0, 0.3], [0.3, 0.2, 1.0]])
    decays = np.exp(-np.outer(np.arange(6), [0.3, 0.7, 1.2]))
    mean = np.einsum("in,jn,tn->tij", overlaps, overlaps, decays)
    factors = np.stack([autoregressive(k, 200, 0.3) for k in range(6 * 9)], axis=1).reshape(200, 6, 3, 3)
    samples: Numbers = mean * (1 + noise * (factors + factors.swapaxes(-1, -2)))
    return samples


@pytest.mark.parametrize("order", [None, 2])
def test_eigenvalues(order: int | None) -> None:
    eigenvalues = gevp(observables(_matrix(0.0)), 1, order)
    assert eigenvalues.shape == (3, 6)
    exact = np.exp(-np.outer([0.3, 0.7, 1.2], np.arange(6) - 1))
    # Before the reference time the largest eigenvalue is that of the highest state.
    expected = exact if order is not None else -np.sort(-exact, axis=0)
    np.testing.assert_allclose(values(eigenvalues), expected, rtol=1e-9)
    noisy, resampled = gevp(observables(_matrix(1e-3)), 1, order), gevp(jackknife(_matrix(1e-3), bin=10), 1, order)
    for state, energy in enumerate([0.3, 0.7, 1.2]):
        mass = effective_mass(noisy[state], "log")[2]
        assert abs(mass.value - energy) < 4 * mass.error
        assert effective_mass(resampled[state], "log")[2].error == pytest.approx(mass.error, rel=0.4)


def test_the_slope_of_summed_ratios_is_the_matrix_element() -> None:
    two = observables(correlator(5, 300, 13, 0.002, lambda t: 2 * np.exp(-0.5 * t)))
    separations, ratios = [6, 8, 10, 12], []
    for T in separations:

        def mean(tau: Numbers, T: int = T) -> Numbers:
            element = 1.25 + 0.3 * (np.exp(-tau) + np.exp(tau - T))
            three: Numbers = 2 * np.exp(-0.5 * T) * element
            return three

        three = observables(correlator(100 * T, 300, T + 1, 0.002, mean))
        ratios.append(ratio(three, two))
        np.testing.assert_allclose(values(ratios[-1]), values(three) / two[T].value, rtol=1e-13)
    found = summation(ratios)
    assert abs(found.parameters[1].value - 1.25) < 3 * found.parameters[1].error < 0.03
    sums = [r[1:-1].sum() for r in ratios]
    by_line = fit(separations, sums, "line")
    np.testing.assert_allclose(values(found.parameters), values(by_line.parameters), rtol=1e-10)
    with pytest.raises(lc.InvalidInput, match="excluded times"):
        summation(ratios, excluded=4)


def test_a_ratio_with_momenta() -> None:
    source = observables(correlator(5, 50, 9, 0.0, lambda t: 3 * np.exp(-0.5 * t)))
    sink = observables(correlator(6, 50, 9, 0.0, lambda t: 5 * np.exp(-0.8 * t)))
    three = observables(correlator(7, 50, 9, 0.0, lambda t: 0.7 * 15**0.5 * np.exp(-0.5 * t - 0.8 * (8 - t))))
    np.testing.assert_allclose(values(ratio(three, source, sink)), 0.7, rtol=1e-12)
    with pytest.raises(lc.InvalidInput, match="8 times of a two-point function are given for 9"):
        ratio(three, source[:8], sink)
    with pytest.raises(lc.InvalidInput, match="8 times of a two-point function are given for 9"):
        ratio(three, source[:8])


@pytest.mark.parametrize("make", [observables, lambda samples: jackknife(samples, bin=5)])
def test_scales_of_a_known_flow(make: Any) -> None:
    # t² E = c t + d t²: t_0 and w_0² are roots of quadratics, and a cubic through four points is exact.
    times, c, d = 0.1 * np.arange(40), 0.1, 0.02
    energy = np.where(times > 0, c / np.maximum(times, 1e-9) + d, 0)
    noise = 1 + 0.01 * autoregressive(9, 200, 0.4)
    energies = make(noise[:, None] * energy)
    c, d = c * noise.mean(), d * noise.mean()
    found = t0(times, energies)
    exact = (-c + np.sqrt(c * c + 4 * d * 0.3)) / (2 * d)
    assert found.value == pytest.approx(exact, rel=1e-11)
    # All energies move together, so that d ln t_0/d ln E is known.
    relative = make(noise).error / noise.mean()
    assert found.error == pytest.approx(0.3 / (c + 2 * d * exact) * relative, rel=0.01)
    w = w0(times, energies)
    assert w.value == pytest.approx(np.sqrt((-c + np.sqrt(c * c + 8 * d * 0.3)) / (4 * d)), rel=1e-10)
    assert t0(times, energies, target=0.2).value < found.value
    with pytest.raises(lc.InvalidInput, match="does not cross 0.3 between t = 0 and 0.5.*flow longer"):
        t0(times[:6], energies[:6])
    with pytest.raises(lc.InvalidInput, match="flow time 1 is 0; all must be finite and increase"):
        w0(0 * times, energies)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "gauss"}, "`gauss` is no model; choose exp, cosh, sinh, constant or line"),
        ({"model": "cosh"}, "give extent=T"),
        ({"model": "cosh", "extent": -1.0}, "the model cosh has the extent -1; it must be positive"),
        ({"extent": 16}, "the model exp takes no extent"),
        ({"model": "line", "states": 2}, "the model line has no states"),
        ({"states": 0}, "states=1 or more"),
        ({"states": 7}, "12 points cannot determine 14 parameters"),
        ({"weights": "equal"}, "`equal` is no weighting; choose correlated or uncorrelated"),
        ({"weights": ("shrunk", 2.0)}, "the shrinkage is 2; it must be above 0 and at most 1"),
        ({"weights": 3}, "3 is no weighting"),
        ({"initial": [1.0]}, "1 initial parameters are given for 2"),
        ({"max_iterations": 1}, "did not converge in 1 iterations"),
        ({"window_parameter": np.nan}, "the window parameter is NaN"),
    ],
)
def test_fits_that_make_no_sense(options: dict[str, Any], message: str) -> None:
    C = observables(two_states())
    with pytest.raises(lc.InvalidInput, match=message):
        fit(range(12), C, **options)


def test_points_that_make_no_sense() -> None:
    C, x = observables(two_states()), np.arange(12.0)
    with pytest.raises(lc.InvalidInput, match="11 values are given for 12|12 values are given for 11"):
        fit(x[1:], C)
    with pytest.raises(lc.InvalidInput, match="times are real, and these are complex128"):
        fit(x * 1j, C)
    with pytest.raises(lc.InvalidInput, match="entry 2 of the positions x is NaN"):
        fit(np.where(x == 2, np.nan, x), C)
    with pytest.raises(lc.InvalidInput, match=r"the shape of the positions x is \[3, 4\]; give a list of numbers"):
        fit(x.reshape(3, 4), C)
    with pytest.raises(lc.InvalidInput, match="entry 11 of the values y is undefined; leave it out"):
        fit(x, effective_mass(C, "log"))
    with pytest.raises(lc.InvalidInput, match="entry 0 is .*which is no observable"):
        fit(x, x)  # type: ignore[arg-type]
    with pytest.raises(lc.InvalidInput, match="quantity 0 has the error 0; leave it out"):
        fit([0, 1, 2], [Observable([1.0, 1.0, 1.0]), *C[1:3]])
    with pytest.raises(lc.InvalidInput, match="12 points cannot be fitted .* 10 independent.*shrink"):
        fit(x, observables(two_states()[:10]))
    with pytest.raises(lc.InvalidInput, match="no range to be fitted.*give ranges"):
        fit_average(x, C - 1.01 * values(C))
    with pytest.raises(lc.InvalidInput, match="the range .3, 2. has no points"):
        fit_average(x, C, ranges=[(3, 2)])
    with pytest.raises(lc.InvalidInput, match="the end of a fit range 13 is outside the data"):
        fit_average(x, C, ranges=[(3, 12)])
    with pytest.raises(lc.InvalidInput, match="parameter 2 is outside"):
        fit_average(x, C, parameter=2)
    with pytest.raises(lc.InvalidInput, match="`tanh` is no form of the effective mass; choose cosh or log"):
        effective_mass(C, "tanh")
    with pytest.raises(lc.InvalidInput, match=r"the shape of the correlator matrix is \[12\]; give an array of 3 axes"):
        gevp(C, 1)
    with pytest.raises(lc.InvalidInput, match="4 columns of a correlator matrix are given for 3"):
        gevp(C.reshape(1, 3, 4), 0)
    with pytest.raises(lc.InvalidInput, match="the reference time 3 is outside the data"):
        gevp(C[:12].reshape(3, 2, 2), 3)
    assert gamma_method(C[0]).error > 0
