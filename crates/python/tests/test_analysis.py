"""Means, their errors, and functions of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from conftest import SHARED
from numpy.typing import NDArray
from synthetic import Numbers, correlator, history

import lattice_cl as lc
from lattice_cl.analysis import Observable, bootstrap, derived, errors, gamma_method, jackknife, observables, values


def by_hand(deviations: Numbers, s: float = 2.0) -> tuple[float, float]:
    """Error and τ_int by the formulas of U. Wolff, hep-lat/0306017, of one replica without gaps."""
    n = len(deviations)
    gamma = np.array([deviations[: n - t] @ deviations[t:] / (n - t) for t in range(n // 2)])
    rho = gamma / gamma[0]
    tau = 0.5
    for w in range(1, n // 2):
        tau += rho[w]
        decay = s / np.log((2 * tau + 1) / (2 * tau - 1))
        if np.exp(-w / decay) < decay / np.sqrt(w * n):
            break
    tau *= (1 + (2 * w + 1) / n) / (1 + 1 / n)
    return float(np.sqrt(2 * tau * gamma[0] * (1 + 1 / n) / n)), float(tau)


def reference() -> list[dict[str, Any]]:
    if SHARED is None:
        return []
    cases: list[dict[str, Any]] = json.loads((SHARED / "reference/statistics.json").read_text())["cases"]
    return cases


@pytest.mark.skipif(SHARED is None, reason="there is no folder shared/reference")
@pytest.mark.parametrize("case", reference(), ids=lambda case: f"{case['kind']}-{case['a']}-{case['S']}")
def test_the_gamma_method_of_pyerrors(case: dict[str, Any]) -> None:
    series = [Observable(history(seed, case["n"], case["a"])) for seed in case.get("seeds", [case.get("seed")])]
    functions: dict[str, Any] = {
        "primary": lambda a: a,
        "derived: ratio a/b": lambda a, b: a / b,
        "derived: sqrt(a^2+b^2)": lambda a, b: np.sqrt(a**2 + b**2),
    }
    found = gamma_method(functions[case["kind"]](*series), case["S"])
    assert found.window == case["window"] and found.spacing == 1
    assert found.value == pytest.approx(case["mean"], rel=1e-10)
    for name in ["error", "error_of_error", "tau_int", "tau_int_error"]:
        if name in case:
            assert getattr(found, name) == pytest.approx(case[name], rel=1e-10)


def test_a_ratio_by_hand() -> None:
    a, b = history(11, 1000, 0.7), history(12, 1000, 0.7)
    ratio = Observable(a) / Observable(b)
    mean = a.mean() / b.mean()
    error, tau = by_hand((a - a.mean() - mean * (b - b.mean())) / b.mean())
    found = gamma_method(ratio)
    assert found.value == pytest.approx(mean, rel=1e-14)
    assert found.error == pytest.approx(error, rel=1e-12) and found.tau_int == pytest.approx(tau, rel=1e-12)
    assert ratio.error == found.error and ratio.method == "gamma"
    numbers, deviations = (Observable(a).fluctuations)["1"]
    assert list(numbers) == list(range(1, 1001))
    np.testing.assert_allclose(deviations, a - a.mean(), atol=1e-15)


def test_functions_of_pyerrors() -> None:
    pe = pytest.importorskip("pyerrors")
    a, b = history(21, 600, 0.6), history(22, 600, 0.6)
    ours = [Observable(x) for x in (a, b)]
    theirs = [pe.Obs([x], ["ensemble"]) for x in (a, b)]
    functions: list[Any] = [
        lambda x, y: np.log(x) * y**3 - 2 / x,
        lambda x, y: np.arccosh(x + y) + np.cosh(x) / np.exp(-y),
        lambda x, y: 2**x + x**y + abs(-np.sqrt(y)),
    ]
    for function in functions:
        expected = function(*theirs)
        expected.gamma_method(S=2.0)
        found = gamma_method(function(*ours))
        assert found.value == pytest.approx(expected.value, rel=1e-13)
        assert found.error == pytest.approx(expected.dvalue, rel=1e-10)
        assert found.tau_int == pytest.approx(expected.e_tauint["ensemble"], rel=1e-10)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[0] + 2 * x[1],
        lambda x: 3 - x[0] / x[1],
        lambda x: -x[0] * x[1] + 1 / x[1],
        lambda x: x[0] ** 2 - x[1] ** -3,
        lambda x: x[0] ** 0.5 + 2 ** x[1] + x[0] ** x[1],
        lambda x: np.log(x[0]) + np.exp(x[1]) + np.sqrt(x[0]),
        lambda x: np.sin(x[0]) * np.cos(x[1]) + abs(-x[0]),
        lambda x: np.sinh(x[0]) + np.cosh(x[1]) * np.tanh(x[0]) + np.arccosh(1 + x[1]),
    ],
)
def test_arithmetic_is_that_of_functions(function: Any) -> None:
    a, b = history(1, 300, 0.5), history(2, 300, 0.5)
    x = [Observable(a), Observable(b)]
    exact, numeric = function(x), derived(function, x)
    assert exact.value == pytest.approx(function([a.mean(), b.mean()]), rel=1e-14)
    assert numeric.value == pytest.approx(exact.value, rel=1e-14)
    for one, other in zip(exact.fluctuations.values(), numeric.fluctuations.values(), strict=True):
        np.testing.assert_allclose(one[1], other[1], atol=1e-10 * np.abs(one[1]).max())
    y = [jackknife(a, bin=3), jackknife(b, bin=3)]
    exact, numeric = function(y), derived(function, y)
    assert y[0].samples is not None
    np.testing.assert_allclose(exact.samples, function([one.samples for one in y]), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(numeric.samples, exact.samples, rtol=1e-14, atol=1e-15)


def test_a_function_of_several_results() -> None:
    x = [Observable(history(seed, 200, 0.3)) for seed in (1, 2)]
    both = derived(lambda x: [x[0] * x[1], x[0] - 1], x)
    assert both.shape == (2,) and both.dtype == object
    np.testing.assert_allclose(errors(both), errors([x[0] * x[1], x[0]]), rtol=1e-9)
    with pytest.raises(ZeroDivisionError):
        derived(lambda x: 1 / 0, x)
    with pytest.raises(lc.InvalidInput, match="undefined"):
        derived(lambda x: np.nan, x)
    with pytest.raises(lc.InvalidInput, match="results are real, and these are complex128"):
        derived(lambda x: 1j * x[0], x)
    calls = iter(range(1, 10))
    with pytest.raises(lc.InvalidInput, match="return as many numbers each time"):
        derived(lambda x: [0.0] * next(calls), x)


def test_resampled_means_have_the_error_of_the_mean() -> None:
    plain = history(1, 1000, 0.0)
    error = plain.std(ddof=1) / np.sqrt(1000)
    found = jackknife(plain)
    assert found.error == pytest.approx(error, rel=1e-12) and found.value == pytest.approx(plain.mean())
    assert found.method == "jackknife" and found.samples is not None and len(found.samples) == 1000
    np.testing.assert_allclose(found.samples, (plain.sum() - plain) / 999, rtol=1e-14)
    drawn = bootstrap(plain, draws=2000, seed=3)
    assert drawn.error == pytest.approx(error, rel=0.1) and drawn.method == "bootstrap"
    assert np.array_equal(bootstrap(plain, draws=2000, seed=3).samples, drawn.samples)
    assert not np.array_equal(bootstrap(plain, draws=2000, seed=4).samples, drawn.samples)
    # Bins that are long compared with the autocorrelation give the error of the Γ method.
    slow = history(61, 8000, 0.8)
    assert jackknife(slow, bin=100).error == pytest.approx(Observable(slow).error, rel=0.2)
    square = found**2
    assert square.bias == pytest.approx(error**2, rel=1e-3) and Observable(plain).bias is None


def test_arrays_of_observables() -> None:
    samples = correlator(5, 100, 6, 0.01, lambda t: np.exp(-0.5 * t))
    C = observables(samples)
    assert C.shape == (6,) and isinstance(C[0], Observable)
    np.testing.assert_allclose(values(C), samples.mean(axis=0), rtol=1e-14)
    assert values(C).dtype == np.float64
    masses = np.log(C[:-1] / C[1:])
    np.testing.assert_allclose(values(masses), 0.5, atol=0.01)
    assert errors(masses)[2] == pytest.approx(gamma_method((C[2] / C[3]).log()).error, rel=1e-14)
    # Numbers and arrays of numpy are on both sides.
    for product in [C[1] * np.arange(1.0, 3.0), np.arange(1.0, 3.0) * C[1]]:
        assert product.shape == (2,)
        np.testing.assert_allclose(values(product), [C[1].value, 2 * C[1].value])
    assert (C[1] * np.array([2.0])).shape == (1,)
    for twice in [np.float64(2) * C[1], C[1] * np.float32(2), np.int64(2) * C[1], 2 * C[1]]:
        assert isinstance(twice, Observable) and twice.value == 2 * C[1].value
    matrix = jackknife(samples.reshape(100, 2, 3))
    assert matrix.shape == (2, 3)
    np.testing.assert_allclose(errors(matrix).ravel(), errors(jackknife(samples)))
    undefined = np.array([C[0], None])
    assert list(np.isnan(values(undefined))) == list(np.isnan(errors(undefined))) == [False, True]
    with pytest.raises(TypeError):
        C[1] * "2"
    with pytest.raises(TypeError):
        C[1] + 1j


def test_replica_and_gaps() -> None:
    a, b = history(1, 300, 0.5), history(2, 200, 0.5)
    both = Observable([a, b], replica=["A", "B"])
    assert both.value == pytest.approx(np.concatenate([a, b]).mean()) and list(both.fluctuations) == ["A", "B"]
    single = gamma_method(Observable(a))
    assert gamma_method(both).error < single.error
    assert observables([a[:, None], b[:, None]])[0].value == both.value
    kept = np.delete(np.arange(1, 301), slice(100, 130))
    values = a[kept - 1]
    with pytest.raises(lc.InvalidInput, match="gap between trajectories 100 and 131.*account"):
        Observable(values, numbers=kept)
    account = Observable(values, numbers=kept, gaps="account")
    ignore = Observable(values, numbers=kept, gaps="ignore")
    assert list(account.fluctuations["1"][0]) == list(kept)
    assert ignore.error == Observable(values).error != account.error
    assert gamma_method(Observable(a, numbers=range(4, 1204, 4))).spacing == 4
    pair = Observable([values, b], numbers=[kept, range(1, 201)], gaps="account")
    assert len(pair.fluctuations["1"][0]) == 270 and len(pair.fluctuations["2"][0]) == 200


def test_doubts_are_told() -> None:
    drifting = history(4, 1000, 0.0) + 4e-4 * np.arange(1000)
    (plain, doubtful) = lc.analysis.check(np.stack([history(4, 1000, 0.0), drifting], axis=1))
    assert plain == [] and any("drifts" in warning for warning in doubtful)


def test_an_observable_is_shown_with_its_error() -> None:
    one = Observable(history(1, 1000, 0.0))
    assert str(one) == "0.9970(32)" and repr(one) == "<Observable 0.9970(32)>"
    assert str(one * 0) == "0" and np.isnan((one * 0).error)
    # Numbers on no common grid have no autocorrelation, and can be shown.
    odd = Observable([1.0, 2.0, 3.0, 6.0], numbers=[1, 3, 6, 8], gaps="account")
    assert str(odd) == "3"
    with pytest.raises(lc.InvalidInput, match="multiples of the spacing 2 apart.*ignore gaps"):
        gamma_method(odd)


@pytest.mark.parametrize(
    ("samples", "options", "message"),
    [
        ([1.0, np.nan, 2.0], {}, "measurement 1 of replica 1 is NaN; all measurements must be finite"),
        ([1.0], {}, "there is one measurement, which has no error; measure more"),
        (np.ones((1, 3)), {}, "there is one measurement"),
        ([], {}, "has no measurements; give at least one"),
        (1.0, {}, "there is one measurement"),
        (np.ones((4, 2)), {}, r"\[2\] numbers on each configuration; observables\(\) takes them"),
        ([np.ones((4, 2)), np.ones((4, 3))], {}, r"replica 2 has the shape \[4, 3\]"),
        (np.ones(3) * 1j, {}, "measurements are real, and these are complex128; convert them"),
        (["a", "b"], {}, "measurements are real"),
        ([1.0, 2.0], {"numbers": [1, 2, 3]}, "3 trajectory numbers are given for 2; give one for each"),
        ([1.0, 2.0], {"numbers": [2, 2]}, "give each once"),
        ([1.0, 2.0], {"numbers": [-1, 2]}, "configuration -1 is negative"),
        ([1.0, 2.0], {"numbers": [1.0, 2.5]}, "configuration numbers are integers"),
        ([1.0, 2.0], {"replica": ["a", "b"]}, "2 names of replica are given for 1"),
        ([[1.0, 2.0], [2.0, 3.0]], {"replica": ["a", "a"]}, "two replica are named a"),
        ([[1.0, 2.0], [2.0, 3.0]], {"numbers": [1, 2]}, "1 lists of configuration numbers are given for 2"),
        ([1.0, 2.0], {"gaps": "fill"}, "`fill` is no meaning of gaps; choose refuse, account or ignore"),
    ],
)
def test_measurements_that_make_no_sense(samples: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(lc.InvalidInput, match=message):
        Observable(samples, **options)


def test_what_has_no_error_is_told() -> None:
    constant = Observable(np.full(10, 0.25))
    assert constant.value == 0.25 and np.isnan(constant.error)
    with pytest.raises(lc.InvalidInput, match="2.5e-1 on all configurations.*leave it out"):
        gamma_method(constant)
    with pytest.raises(lc.InvalidInput, match="was resampled.*take its .error"):
        gamma_method(jackknife(history(1, 50, 0.0)))
    with pytest.raises(lc.InvalidInput, match="window parameter is -1"):
        gamma_method(Observable([1.0, 2.0, 4.0]), -1.0)
    with pytest.raises(lc.InvalidInput, match="observable 1 of 2: measurement 3"):
        observables(np.array([[1, 2], [2, 1], [0, 1], [2, np.inf]]))
    one, other = Observable([1.0, 2.0, 4.0]), jackknife([1.0, 2.0, 4.0])
    with pytest.raises(lc.InvalidInput, match="another method.*one resampling for all"):
        one + other
    with pytest.raises(lc.InvalidInput, match="other resamples"):
        other * jackknife([1.0, 2.0, 4.0, 3.0])
    with pytest.raises(lc.InvalidInput, match="other replica"):
        one - Observable([1.0, 2.0], replica=["b"])
    with pytest.raises(lc.InvalidInput, match="check its domain"):
        (one - 10).log()
    with pytest.raises(lc.InvalidInput, match="take shorter bins"):
        jackknife([1.0, 2.0, 4.0], bin=2)
    with pytest.raises(lc.InvalidInput, match="at least 1"):
        jackknife([1.0, 2.0, 4.0], bin=0)
    with pytest.raises(lc.InvalidInput, match=r"entry 1 is 3.0, which is no observable; observables\(\) makes some"):
        values(np.array([one, 3.0]))


def test_large_and_small_measurements() -> None:
    plain: NDArray[np.float64] = history(3, 500, 0.8)
    for power in [900, -900]:
        found = gamma_method(Observable(plain * 2.0**power))
        assert found.error == pytest.approx(gamma_method(Observable(plain)).error * 2.0**power, rel=1e-12)
