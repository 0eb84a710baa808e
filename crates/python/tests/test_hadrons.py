"""Correlators of hadrons against values of an independent program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lattice_cl as lc

PION, RHO = ["15"], ["1", "2", "4"]


def expected(case: dict[str, Any], matrices: list[str], momentum: str) -> list[complex]:
    """The mean over matrices. The signs of the pion and the rho are those of the program."""
    values = np.mean([case["mesons_light_light"][matrix][momentum] for matrix in matrices], axis=0)
    return [complex(*number) for number in values]


def check(c: lc.Correlators, case: dict[str, Any]) -> None:
    for name, matrices in [("pion", PION), ("rho", RHO)]:
        for momentum in ["0,0,0", "1,0,0"]:
            if momentum not in case["mesons_light_light"]["15"]:
                continue
            n = [int(number) for number in momentum.split(",")]
            found, wanted = c[name, n[0], n[1], n[2]], expected(case, matrices, momentum)
            assert np.abs(found - wanted).max() < 1e-10 * np.abs(wanted).max(), (name, momentum)
    wanted = [complex(*number) for number in case["baryons"]["nucleon_Cg5+"]["0,0,0"]]
    assert np.abs(c["proton"] - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_point_sources(data: Path, physics: dict[str, Any], team: str) -> None:
    case = physics["hadrons wilson point weak_field.lime"]
    gauge = lc.read_gauge(data / "weak_field.lime")
    s = lc.Wilson(gauge, kappa=0.12, devices=team).propagator(lc.source.point(), tol=1e-13)
    c = lc.hadrons(s, ["pion", "rho", "proton"], momenta=lc.momenta(upto=1))
    check(c, case)
    assert len(c) == 21 and ("rho", 0, 0, -1) in c and len(list(c)) == 21
    # The pion of γ5 is the sum of squares.
    assert c["pion"].real == pytest.approx(s.correlator("pion"), rel=1e-12)


def test_smeared_sources_and_sinks(data: Path, physics: dict[str, Any], team: str) -> None:
    case = physics["hadrons clover gaussian weak_field.lime"]
    gauge = lc.read_gauge(data / "weak_field.lime")
    d = lc.Clover(gauge, kappa=0.122, csw=1.17, devices=team)
    source = lc.smear.gaussian(lc.source.point(), gauge, rho=2.0, steps=5, at="source")
    s = lc.smear.gaussian(d.propagator(source, tol=1e-13), gauge, rho=2.0, steps=5, at="sink")
    check(lc.hadrons(s, ["pion", "rho", "proton"], momenta=[(0, 0, 0), (1, 0, 0)]), case)
    assert "sink gaussian:2.0,5" in repr(s)
    with pytest.raises(lc.InvalidInput, match="smeared at its sink"):
        lc.smear.gaussian(s, gauge, rho=2.0, steps=5, at="source")


def test_phases_in_time(weak: lc.Gauge) -> None:
    """A sign of the boundary, an angle and signs in the links say the same quark."""
    links = np.array(weak)
    links[-1, :, :, :, 3] *= -1
    here = "point:0,0,0,3"
    ways = [
        lc.Wilson(weak, kappa=0.11, devices="host"),
        lc.Wilson(weak, kappa=0.11, boundary="periodic", theta="0,0,0,1", devices="host"),
        lc.Wilson(lc.Gauge(links), kappa=0.11, boundary="periodic", devices="host"),
    ]
    first, *others = (d.propagator(here, tol=1e-12) for d in ways)
    proton = lc.hadrons(first, "proton")["proton"]
    for s in others:
        assert np.abs(lc.hadrons(s, "proton")["proton"] - proton).max() < 1e-9 * np.abs(proton).max()
    # Beyond the boundary, 3 slices away of 6, a hadron has the phases of its quarks.
    numbers, sign = first.numpy(), np.array([1, 1, 1, -1, -1, -1])
    periodic = lc.Propagator(numbers, origin=(0, 0, 0, 3), antiperiodic=False)
    twisted = lc.Propagator(numbers, origin=(0, 0, 0, 3), antiperiodic=False, theta="0,0,0,0.5")
    assert lc.hadrons(periodic, "proton")["proton"] == pytest.approx(sign * proton)
    assert lc.hadrons(twisted, "proton")["proton"][3:] == pytest.approx(1j * proton[3:])
    pion = lc.hadrons(first, "pion")["pion"]
    assert lc.hadrons(periodic, "pion", antiquark=first)["pion"] == pytest.approx(sign * pion)
    assert lc.hadrons(twisted, "pion", antiquark=twisted)["pion"] == pytest.approx(pion)


def test_effective_masses() -> None:
    t = np.arange(16)
    masses = lc.effective_mass(np.cosh(0.37 * (t - 8)))
    assert np.isnan(masses[0]) and masses[1:] == pytest.approx(0.37, abs=1e-12)
    assert np.isnan(lc.effective_mass([1.0, 1.0, 3.0, 1.0])[2])


def test_files_and_keys(weak: lc.Gauge, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    d = lc.Wilson(weak, kappa=0.11, devices="host")
    light, heavy = d.propagator("point:0,0,0,1"), lc.Wilson(weak, kappa=0.1, devices="host").propagator("point:0,0,0,1")
    c = lc.hadrons(light, ["pion", "delta"], momenta=lc.momenta(upto=1, averaged=True))
    c.save(tmp_path / "c.h5")
    c.save(tmp_path / "c.json")
    with h5py.File(tmp_path / "c.h5") as file:
        values = file["hadrons/pion/1/values"][...]
        assert np.array_equal(values[:, 0] + 1j * values[:, 1], c["pion", 1, 0, 0])
    document = json.loads((tmp_path / "c.json").read_text())
    assert document["about"]["origin"] == [0, 0, 0, 1] and document["about"]["job"]["action"]["kappa"] == 0.11
    assert c.momenta == [(0, 0, 0), (1, 0, 0)] and c.names == ["pion", "delta"]
    for key in ["kaon", ("pion", 3, 0, 0)]:
        with pytest.raises(KeyError):
            c[key]  # type: ignore[index]
    assert np.array_equal(c.meson(15, 15), c["pion"])
    assert c.baryon("delta_Cgx").shape == (6,) and "<table>" in c._repr_html_()
    kaon = lc.hadrons(light, "pion", antiquark=heavy)["pion"]
    assert np.all(kaon.real < c["pion"].real) and np.all(kaon.real > 0)
    for names, momenta in [(["kaon"], None), (["pion"], lc.momenta(upto=100))]:
        with pytest.raises(lc.InvalidInput):
            lc.hadrons(light, names, momenta)


def test_plots(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    t = np.arange(8)
    axes = lc.plot.effective_mass(np.cosh(0.5 * (t - 4)))
    assert axes.get_ylabel() == "effective mass"
    lc.plot.correlator(np.cosh(0.5 * (t - 4)), axes=plt.figure().gca())
    plt.savefig(tmp_path / "pion.svg")
    assert (tmp_path / "pion.svg").stat().st_size > 1000
    plt.close("all")
