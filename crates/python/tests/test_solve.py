"""Operators and solves against values of an independent program, and against their definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lattice_cl as lc
from conftest import Field, point


def operator(gauge: lc.Gauge, case: dict[str, Any], team: str) -> lc.Dirac:
    boundary = ",".join(str(sign) for sign in case["boundary"])
    if case["c_sw"]:
        return lc.Clover(gauge, kappa=case["kappa"], csw=case["c_sw"], boundary=boundary, devices=team)
    return lc.Wilson(gauge, kappa=case["kappa"], boundary=boundary, devices=team)


def phi(gauge: lc.Gauge) -> Field:
    shape = (*reversed(gauge.dims), 4, 3)
    k = np.arange(np.prod(shape))
    field: Field = (np.cos(0.1 * k) + 1j * np.sin(0.2 * k + 0.3)).reshape(shape)
    return field


def test_operators_have_the_values_of_another_program(
    data: Path, computed: list[dict[str, Any]], team: str
) -> None:
    for case in computed:
        gauge = lc.read_gauge(data / case["file"], dims=case["dims"])
        d, field = operator(gauge, case, team), phi(gauge)
        image = d.apply(field)
        assert np.vdot(image, image).real == pytest.approx(case["M_phi_norm2"], rel=1e-12)
        assert np.vdot(field, image) == pytest.approx(complex(*case["phi_dot_M_phi"]), rel=1e-11)
        adjoint = np.vdot(d.apply(field, adjoint=True), field)
        assert adjoint == pytest.approx(np.vdot(field, image), rel=1e-12)


def test_propagators_have_the_values_of_another_program(
    data: Path, computed: list[dict[str, Any]], team: str
) -> None:
    for case in [computed[0], computed[1], computed[6]]:
        gauge = lc.read_gauge(data / case["file"], dims=case["dims"])
        propagator = operator(gauge, case, team).propagator(lc.source.point(), tol=1e-12)
        assert propagator.report.residual <= 1e-12
        pion = propagator.correlator("pion")
        assert pion == pytest.approx(case["pion_correlator"], rel=1e-9)
        at_origin = propagator.numpy()[0, 0, 0, 0, :, :, 0, 0].ravel()
        expected = [complex(*number) for number in case["solution_spin0_colour0_at_origin"]]
        assert at_origin == pytest.approx(expected, abs=1e-9)


def test_solutions_solve(weak: lc.Gauge, team: str) -> None:
    d = lc.Twisted(weak, mass=0.2, mu=0.05, devices=team)
    propagator = d.propagator(lc.source.point(0, 0, 0, 0), tol=1e-10)
    numbers = propagator.numpy()
    assert numbers.shape == (6, 4, 4, 4, 4, 3, 4, 3)
    for spin, colour in [(0, 0), (2, 1), (3, 2)]:
        x = propagator.column(spin, colour)
        assert np.array_equal(x, numbers[..., spin, colour])
        residual = np.linalg.norm(point(weak, spin, colour) - d.apply(x))
        assert residual < 2e-10
    # A job of one column takes the same steps as far as nothing was learnt.
    x, report = d.solve("point:0,0,0,0", spin=0, colour=0, tol=1e-10)
    assert np.array_equal(x, propagator.column(0, 0))
    assert report.solves[0].iterations == propagator.report.solves[0].iterations


def test_methods_and_their_options(weak: lc.Gauge, team: str) -> None:
    d = lc.Wilson(weak, kappa=0.12, devices=team)
    expected = d.propagator("wall:1", tol=1e-11).numpy()
    methods: list[dict[str, Any]] = [
        {"solver": "block-cg"},
        {"solver": "cg", "precision": "mixed", "preconditioning": "even-odd-symmetric"},
        {"solver": "cr", "system": "hermitian", "preconditioning": "none", "max_iterations": 1000},
    ]
    for options in methods:
        found = d.propagator(lc.source.wall(t=1), tol=1e-11, **options)
        assert found.numpy() == pytest.approx(expected, abs=1e-9), options
        assert len(found.report.solves) == 12
    wrong: list[dict[str, Any]] = [
        {"solver": "newton"},
        {"tolerance": 1e-3},
        {"tol": 1.5},
        {"precision": "quarter"},
    ]
    for options in wrong:
        with pytest.raises(lc.InvalidInput):
            d.propagator("point:0,0,0,0", **options)


def test_what_makes_no_sense_is_refused(weak: lc.Gauge) -> None:
    with pytest.raises(lc.InvalidInput, match="kappa or mass"):
        lc.Wilson(weak, devices="host")
    with pytest.raises(lc.InvalidInput, match="both kappa and mass"):
        lc.Wilson(weak, kappa=0.1, mass=0.1, devices="host")
    with pytest.raises(lc.InvalidInput):
        lc.Wilson(weak, kappa=float("nan"), devices="host")
    with pytest.raises(TypeError):
        lc.Wilson(weak, 0.1)  # type: ignore[call-arg]
    with pytest.raises(lc.DeviceError):
        lc.Wilson(weak, kappa=0.1, devices="no such device")
    d = lc.Wilson(weak, kappa=0.1, devices="host")
    with pytest.raises(lc.InvalidInput, match="outside"):
        d.propagator(lc.source.point(9, 0, 0, 0))
    with pytest.raises(lc.InvalidInput, match="lattice"):
        d.apply(np.zeros((4, 4, 4, 4, 4, 3)))


def test_the_best_iterate_is_in_the_exception(weak: lc.Gauge, team: str) -> None:
    d = lc.Wilson(weak, kappa=0.12, devices=team)
    with pytest.raises(lc.NotConverged, match="spin 0, colour 0") as raised:
        d.propagator(lc.source.point(), tol=1e-12, solver="cg", max_iterations=5)
    error = raised.value
    assert error.iterations == 5 and len(error.history) == 6
    assert error.best is not None and 1e-12 < error.residual < 1
    residual = np.linalg.norm(point(weak, 0, 0) - d.apply(error.best))
    assert residual == pytest.approx(error.residual, rel=1e-6)


def test_the_report(weak: lc.Gauge) -> None:
    d = lc.Clover(weak, kappa=0.12, csw=1.1, devices="host")
    propagator = d.propagator(lc.source.point(), tol=1e-8)
    report = propagator.report
    assert len(report.solves) == 12 and report.residual <= 1e-8
    assert report.solves[5].label == "point 0.0.0.0, spin 1, colour 2"
    assert report.iterations == sum(solve.iterations for solve in report.solves)
    assert "iterations" in str(report) and report.devices == ("host",)
    assert 0 < report.seconds < report.total_seconds and "time of the call" in str(report)
    assert "<table>" in report._repr_html_() and "<table>" in propagator._repr_html_()
    assert "clover operator" in repr(d) and "clover operator" in propagator.equation
    job = propagator.job
    assert job is not None and job["solver"]["tol"] == 1e-8 and job["action"]["csw"] == 1.1


def test_progress_is_told(weak: lc.Gauge) -> None:
    told: list[lc.Progress] = []
    d = lc.Wilson(weak, kappa=0.124, devices="host")
    d.propagator(lc.source.point(), tol=1e-12, solver="mr", progress=told.append)
    d.propagator(lc.source.point(), progress=True)
    for news in told:
        assert 0 <= news.done <= 1 and news.iterations is not None and "spin" in news.label
    assert [news.done for news in told] == sorted(news.done for news in told) or len(told) < 2


def test_files_of_propagators(weak: lc.Gauge, tmp_path: Path) -> None:
    propagator = lc.Wilson(weak, kappa=0.11, devices="host").propagator(lc.source.point(t=2))
    for name in ["S.lime", "S.h5", "S.npy"]:
        propagator.save(tmp_path / name)
        read = lc.read_propagator(tmp_path / name, origin=(0, 0, 0, 2))
        assert np.array_equal(read.numpy(), propagator.numpy()), name
        assert np.array_equal(read.correlator(), propagator.correlator())
    propagator.save(tmp_path / "single", format="scidac", precision="single")
    single = lc.read_propagator(tmp_path / "single").numpy()
    assert np.array_equal(single, propagator.numpy().astype(np.complex64))
    again = lc.Propagator(propagator.numpy(), origin=(0, 0, 0, 2))
    assert np.array_equal(again.numpy(), propagator.numpy())
    with pytest.raises(lc.InvalidInput, match="ending"):
        propagator.save(tmp_path / "S")
