"""The scripts of the book run as they stand, on small lattices and matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import links_near_unit
from synthetic import correlator

import lattice_cl as lc

PROPAGATOR = """
import lattice_cl as lc, matplotlib.pyplot as plt
gauge = lc.read_gauge("cfg.lime")
print(gauge)
D = lc.Clover(gauge.stout(steps=1, rho=0.125), mass=-0.2770, csw=1.16, devices="all")   # or lc.Wilson(gauge, kappa=0.13)
S = D.propagator(lc.source.wall(t=0), tol=1e-12, progress=True)
S = lc.smear.gaussian(S, gauge, rho=2.0, steps=5, at="sink")
C = lc.hadrons(S, ["pion", "rho", "proton"], momenta=lc.momenta(upto=3))
C.save("cfg.h5"); lc.plot.effective_mass(C["pion", 0, 0, 0]); plt.savefig("pion.svg"); print(S.report)
S.save("S.lime", format="scidac")
"""

# Of 20000 x 8000 and 8000 x 16000 a hundredth of each extent.
MATRICES = """
a, b = np.random.rand(200, 80), np.random.rand(80, 160)
c = lc.gemm(a, b, team=lc.Team("all"), progress=True); print(c.report)
device = lc.Team("all")[0]; A, B = device.array(a), device.array(b); C = A @ B; C += 2 * C; x = lc.nrm2(C)
lu = lc.linalg.lu(a[:80]); z = lu.solve(b[:, 0])
"""

SPARSE = """
y = lc.sparse.read("A.mtx").solve(b0, preconditioner="amg")
"""

POISSON = """
rho, cell = lc.read_cube("benzene.cube"); v, e = lc.Poisson(cell, rho.shape).solve(rho); print(e.hartree, e.stress, e.dipole)
"""

ANALYSIS = """
samples = np.array([np.real(C["pion"]) for C in correlators])  # axes: configuration, distance
C = lc.analysis.observables(samples)                           # errors by the Γ method
m = lc.analysis.effective_mass(C)                              # None at 0 and where there is no mass
F = lc.analysis.folded(C)                                      # (C(n) + C(T−n))/2
fit = lc.analysis.fit(range(6, 15), F[6:15], "cosh", extent=len(C))
A, mass = fit.parameters
print(mass, fit.chi_squared_per_degree, fit.p_value)           # 0.1234(56)
Z = np.sqrt(2 * mass * A)                                      # the operator's overlap; errors and correlations follow
print(lc.analysis.gamma_method(Z).tau_int)
plt.errorbar(range(len(C)), lc.analysis.values(m), lc.analysis.errors(m))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(script: str, **names: Any) -> dict[str, Any]:
    exec(script, names)
    return names


def test_a_propagator(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    h5py = pytest.importorskip("h5py")
    if not lc.devices():
        pytest.skip("there is no OpenCL device")
    lc.Gauge(links_near_unit((4, 4, 4, 8))).save("cfg.lime")
    names = run(PROPAGATOR)
    S = names["S"]
    assert S.report.residual < 1e-12 and len(S.report.solves) == 12
    out = capsys.readouterr().out
    assert "verified" in out and "largest true residual" in out
    assert (folder / "pion.svg").read_text().lstrip().startswith("<?xml")
    with h5py.File("cfg.h5") as file:
        assert len(file) > 0
    assert np.array_equal(lc.read_propagator("S.lime").numpy(), S.numpy())


def test_matrices(folder: Path, device: lc.Device) -> None:
    names = run(MATRICES, lc=lc, np=np)
    a, b = names["a"], names["b"]
    np.testing.assert_allclose(names["c"], a @ b, rtol=1e-13)
    np.testing.assert_allclose(names["C"].numpy(), 3 * (a @ b), rtol=1e-13)
    assert names["x"] == pytest.approx(3 * np.linalg.norm(a @ b), rel=1e-13)
    np.testing.assert_allclose(a[:80] @ names["z"], b[:, 0], atol=1e-8)


def test_a_sparse_system(folder: Path) -> None:
    n = 400
    lines = [f"{i + 1} {i + 1} 2.5" for i in range(n)] + [f"{i + 2} {i + 1} -1" for i in range(n - 1)]
    text = "\n".join(["%%MatrixMarket matrix coordinate real symmetric", f"{n} {n} {len(lines)}", *lines])
    Path("A.mtx").write_text(text + "\n")
    b0 = np.sin(np.arange(n))
    y = run(SPARSE, lc=lc, b0=b0)["y"]
    product = 2.5 * y
    product[1:] -= y[:-1]
    product[:-1] -= y[1:]
    assert np.linalg.norm(product - b0) < 1e-9 * np.linalg.norm(b0)


def test_a_potential(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(4)
    shape, cell = (6, 5, 9), np.diag([4.0, 5.0, 6.0])
    rho = random.normal(size=shape)
    lines = ["benzene", "of a test", "0 0 0 0"]
    lines += [f"{n} " + " ".join(f"{x:.14f}" for x in row / n) for n, row in zip(shape, cell, strict=True)]
    lines += [" ".join(f"{x:.14e}" for x in row) for row in rho.reshape(-1, shape[2])]
    Path("benzene.cube").write_text("\n".join(lines) + "\n")
    names = run(POISSON, lc=lc)
    assert names["v"].shape == shape and names["e"].hartree > 0 and names["e"].stress.shape == (6,)
    assert len(capsys.readouterr().out.split()) >= 10


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    samples = correlator(5, 60, 32, 0.01, lambda t: 3 * (np.exp(-0.2 * t) + np.exp(-0.2 * (32 - t))))
    names = run(ANALYSIS, lc=lc, np=np, plt=plt, correlators=[{"pion": row + 0j} for row in samples])
    assert abs(names["mass"].value - 0.2) < 4 * names["mass"].error
    assert abs(names["Z"].value - np.sqrt(2 * 0.2 * 3)) < 4 * names["Z"].error
    assert capsys.readouterr().out.startswith(f"{names['mass']} {names['fit'].chi_squared / 7} ")
