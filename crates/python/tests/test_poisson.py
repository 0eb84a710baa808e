"""Potentials of densities on meshes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lattice_cl as lc
from conftest import SHARED

CELL = np.array([[5.0, 0.0, 0.0], [0.7, 4.5, 0.0], [-0.5, 0.4, 5.5]])


@pytest.mark.parametrize("devices", ["host", None])
def test_a_plane_wave(devices: str | None, device: lc.Device) -> None:
    shape = (6, 9, 10)
    phase = 2 * np.pi * np.arange(9) / 9
    rho = np.broadcast_to(np.cos(phase)[None, :, None], shape)
    b = 2 * np.pi * np.linalg.inv(CELL).T[1]
    plan = lc.Poisson(CELL, shape, devices=devices)
    v, e = plan.solve(rho)
    np.testing.assert_allclose(v, 4 * np.pi / (b @ b) * rho, atol=1e-12)
    volume = np.linalg.det(CELL)
    assert e.hartree == pytest.approx(np.pi * volume / (b @ b), rel=1e-12)
    # σ = (E/Ω)(2 b b/b² ∓ 1), in the order xx, yy, zz, yz, xz, xy.
    axes = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)]
    one = np.array([float(i == j) for i, j in axes])
    outer = np.array([b[i] * b[j] for i, j in axes]) * 2 / (b @ b)
    assert e.stress is not None and e.stress_fixed_density is not None
    np.testing.assert_allclose(e.stress, e.hartree / volume * (outer - one), atol=1e-11)
    np.testing.assert_allclose(e.stress_fixed_density, e.hartree / volume * (outer + one), atol=1e-11)
    assert abs(e.charge) < 1e-12 and e.dipole.shape == (3,)
    single, _ = lc.Poisson(CELL, shape, precision="single", devices=devices).solve(rho)
    np.testing.assert_allclose(single, v, atol=1e-4)
    again, same = plan.solve(2 * rho)
    np.testing.assert_allclose(again, 2 * v, atol=1e-12)
    assert same.hartree == pytest.approx(4 * e.hartree)


def _reference() -> tuple[Path, dict[str, Any]]:
    if SHARED is None:
        pytest.skip("there is no folder shared/reference")
    folder = SHARED / "reference/poisson"
    values: dict[str, Any] = json.loads((folder / "values.json").read_text())
    return folder, values


@pytest.mark.parametrize("name", ["pair", "prime", "charged", "random", "density.cube"])
def test_periodic_values_of_an_independent_program(name: str, team: str) -> None:
    folder, values = _reference()
    wanted = values[name]
    if name == "density.cube":
        rho, cell = lc.read_cube(folder / name)
        assert list(rho.shape) == wanted["shape"]
    else:
        file = np.load(folder / f"{name}.npz")
        rho, cell = file["rho"], file["cell"]
    v, e = lc.Poisson(cell, rho.shape, devices=team).solve(rho)
    if name == "density.cube":
        for i, j, k, value in wanted["potential_samples"]:
            assert v[i, j, k] == pytest.approx(value, abs=1e-12)
    else:
        np.testing.assert_allclose(v, file["potential"], atol=1e-12 * np.abs(file["potential"]).max())
    assert e.hartree == pytest.approx(wanted["energy"], rel=1e-12)
    assert e.stress is not None and e.stress_fixed_density is not None
    volume = np.linalg.det(cell)
    for found, key in [(e.stress, "stress_fixed_charge"), (e.stress_fixed_density, "stress_fixed_density")]:
        np.testing.assert_allclose(found, wanted[key], rtol=0, atol=1e-12 * e.hartree / volume)
    np.testing.assert_allclose(e.dipole, wanted["dipole"], atol=1e-11)
    assert e.charge == pytest.approx(wanted["charge"], abs=1e-12)


def test_the_exact_potential_in_free_space(team: str) -> None:
    folder, values = _reference()
    file = np.load(folder / "isolated.npz")
    v, e = lc.Poisson(file["cell"], file["rho"].shape, boundary="isolated", devices=team).solve(file["rho"])
    np.testing.assert_allclose(v, file["potential"], atol=5e-12 * np.abs(file["potential"]).max())
    assert e.hartree == pytest.approx(values["isolated"]["exact_energy"], rel=1e-11) and e.stress is None


def test_slabs_are_the_whole(device: lc.Device) -> None:
    rho = np.random.default_rng(3).normal(size=(7, 6, 5))
    whole, e = lc.Poisson(CELL, rho.shape).solve(rho)
    slabs, s = lc.Poisson(CELL, rho.shape, out_of_core=2000).solve(rho)
    np.testing.assert_allclose(slabs, whole, atol=1e-12)
    assert s.hartree == pytest.approx(e.hartree, rel=1e-12)


def test_a_cube_file(tmp_path: Path) -> None:
    values = np.arange(24.0).reshape(2, 3, 4) / 7
    lines = ["a density", "x outer, z inner", "1 0.0 0.0 0.0", "2 1.0 0.0 0.0", "3 0.0 1.5 0.0", "4 0.0 0.0 0.5"]
    lines += ["1 1.0 0.1 0.2 0.3"] + [" ".join(f"{x:.9e}" for x in row) for row in values.reshape(6, 4)]
    path = tmp_path / "density.cube"
    path.write_text("\n".join(lines) + "\n")
    rho, cell = lc.read_cube(path)
    np.testing.assert_allclose(rho, values, atol=1e-8)
    np.testing.assert_allclose(cell, np.diag([2.0, 4.5, 2.0]))
    v, e = lc.Poisson(cell, rho.shape, boundary="isolated", devices="host").solve(rho)
    assert v.shape == rho.shape and e.stress is None
    assert e.charge == pytest.approx(rho.sum() * 18 / 24)
    np.testing.assert_allclose(e.hartree, 0.5 * (rho * v).sum() * 18 / 24)


def test_what_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(lc.InvalidInput, match="no volume"):
        lc.Poisson(np.ones((3, 3)), (2, 2, 2))
    with pytest.raises(lc.InvalidInput, match="right angles"):
        lc.Poisson(CELL, (2, 2, 2), boundary="isolated", devices="host")
    with pytest.raises(lc.InvalidInput, match="choose periodic or isolated"):
        lc.Poisson(CELL, (2, 2, 2), boundary="open")
    with pytest.raises(lc.InvalidInput, match="three extents"):
        lc.Poisson(CELL, (2, 2))
    plan = lc.Poisson((2.0, 2.0, 3.0), (2, 3, 4), devices="host")
    with pytest.raises(lc.InvalidInput, match="its mesh"):
        plan.solve(np.zeros((2, 3, 5)))
    with pytest.raises(lc.InvalidInput, match="not complex128"):
        plan.solve(np.zeros((2, 3, 4), dtype=complex))
    bad = np.zeros((2, 3, 4))
    bad[1, 2, 3] = np.nan
    with pytest.raises(lc.InvalidInput, match="value 23 of the density is NaN"):
        plan.solve(bad)
    with pytest.raises(lc.FileError, match="missing.cube"):
        lc.read_cube(tmp_path / "missing.cube")
    np.save(tmp_path / "rho.npy", np.zeros((2, 2, 2)))
    with pytest.raises(lc.InvalidInput, match="numpy.load"):
        lc.read_cube(tmp_path / "rho.npy")
