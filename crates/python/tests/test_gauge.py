"""Gauge configurations: files, arrays, smearing, observables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lattice_cl as lc
from conftest import links_near_unit


def test_files_are_verified_and_say_how(data: Path) -> None:
    for name, plaquette in [
        ("weak_field.lime", 0.9948041322667),
        ("ildg.l8t4b3360", 0.503866446950),
        ("nersc.l8t4b3360", 0.503866446950),
        ("l4444_pyquda.h5", None),
    ]:
        gauge = lc.read_gauge(data / name)
        assert "verified" in str(gauge), name
        assert name in repr(gauge) and "<table>" in gauge._repr_html_()
        if plaquette is not None:
            assert gauge.plaquette == pytest.approx(plaquette, abs=1e-9)
    assert lc.read_gauge(str(data / "ildg.l8t4b3360")).dims == (8, 8, 8, 4)


def test_a_flipped_bit_is_refused(data: Path, tmp_path: Path) -> None:
    content = bytearray((data / "weak_field.lime").read_bytes())
    content[len(content) // 2] ^= 16
    damaged = tmp_path / "damaged.lime"
    damaged.write_bytes(content)
    with pytest.raises(lc.FileError, match="checksum"):
        lc.read_gauge(damaged)
    with pytest.raises(OSError, match="damaged"):
        lc.read_gauge(damaged)
    with pytest.raises(lc.FileError, match="absent"):
        lc.read_gauge(tmp_path / "absent.lime")


def test_arrays_come_back_with_every_bit(tmp_path: Path) -> None:
    links = links_near_unit((4, 2, 2, 6))
    gauge = lc.Gauge(links)
    assert gauge.dims == (4, 2, 2, 6) and gauge.precision == "double"
    assert np.array_equal(gauge.numpy(), links)
    assert np.array_equal(np.asarray(gauge), links)
    for format in ["ildg", "scidac", "nersc"]:
        path = tmp_path / f"links.{format}"
        gauge.save(path, format)
        assert np.array_equal(lc.read_gauge(path).numpy(), links), format


def test_axes_are_t_z_y_x(data: Path) -> None:
    gauge = lc.read_gauge(data / "weak_field.lime")
    links = gauge.numpy()
    mean = 0.0
    for mu in range(4):
        for nu in range(mu):
            # Axis 3 − mu belongs to direction mu.
            there = links[..., mu, :, :] @ np.roll(links[..., nu, :, :], -1, axis=3 - mu)
            back = links[..., nu, :, :] @ np.roll(links[..., mu, :, :], -1, axis=3 - nu)
            mean += np.einsum("...ij,...ij->...", there, np.conj(back)).real.mean() / 18
    assert gauge.plaquette == pytest.approx(mean, abs=1e-13)


def test_wrong_arrays_are_refused() -> None:
    with pytest.raises(lc.InvalidInput, match=r"\(T, Z, Y, X, 4, 3, 3\)"):
        lc.Gauge(np.zeros((4, 4, 4, 4, 3, 3)))
    with pytest.raises(ValueError, match="even"):
        lc.Gauge(np.zeros((4, 4, 3, 4, 4, 3, 3)))
    with pytest.raises(lc.InvalidInput, match=r"away from SU\(3\)"):
        lc.Gauge(1.5 * lc.Gauge.unit((2, 2, 2, 2)).numpy())
    with pytest.raises(lc.InvalidInput, match=r"away from SU\(3\)"):
        lc.Gauge(np.full((2, 2, 2, 2, 4, 3, 3), np.nan))


def test_smearing(weak: lc.Gauge, team: str) -> None:
    smeared = weak.stout(steps=2, rho=0.1, devices=team)
    assert weak.plaquette < smeared.plaquette < 1
    assert "stout rho 0.1, 2 steps in xyzt" in repr(smeared)
    again = weak.stout(rho=0.1).stout(rho=0.1)
    assert np.abs(smeared.numpy() - again.numpy()).max() < 1e-13


def test_other_kinds_of_smearing(weak: lc.Gauge) -> None:
    assert weak.ape(alpha=0.5, directions="xyz").plaquettes[0] > weak.plaquettes[0]
    assert weak.hyp(steps=1).plaquette > weak.plaquette
    unit = lc.Gauge.unit((2, 4, 2, 4))
    assert unit.plaquette == 1 and unit.polyakov_loop() == 1
    assert unit.energy_and_charge() == (0, 0)
    with pytest.raises(lc.InvalidInput, match="rho = 0.3 is out of range"):
        weak.stout(rho=0.3)
    with pytest.raises(lc.InvalidInput):
        weak.ape(alpha=0.5, directions="xw")
