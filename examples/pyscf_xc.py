"""PySCF whose exchange-correlation step is cr-solve's: python examples/pyscf_xc.py [CR_SOLVE]"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from pyscf import dft, gto

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else "cr-solve"
MOLECULES = {
    "water": "O 0 0 0.1174; H -0.757 0 -0.4696; H 0.757 0 -0.4696",
    "benzene": "; ".join(
        f"{symbol} {r * np.cos(k * np.pi / 3)} {r * np.sin(k * np.pi / 3)} 0"
        for symbol, r in (("C", 1.395), ("H", 2.482))
        for k in range(6)
    ),
}


def write_basis(mol, path):
    """Writes atoms and shells as the arrays that cr-solve reads."""
    shells = [(i, c) for i in range(mol.nbas) for c in range(mol.bas_nctr(i))]
    counts = [mol.bas_nprim(i) for i, _ in shells]
    np.savez(
        path,
        atom_xyz=mol.atom_coords(),
        atom_z=mol.atom_charges(),
        shell_atom=[mol.bas_atom(i) for i, _ in shells],
        shell_l=[mol.bas_angular(i) for i, _ in shells],
        prim_off=np.cumsum([0, *counts]),
        prim_exp=np.concatenate([mol.bas_exp(i) for i, _ in shells]),
        prim_coef=np.concatenate([mol._libcint_ctr_coeff(i)[:, c] for i, c in shells]),
    )


def by_cr_solve(folder):
    """Returns what takes the place of PySCF's own step."""

    def nr_rks(mol, grids, xc_code, dm, *_, **__):
        write_basis(mol, folder / "basis.npz")
        np.savez(folder / "grid.npz", coords=grids.coords, weights=grids.weights)
        np.save(folder / "dm.npy", np.asarray(dm).reshape(mol.nao, mol.nao))
        command = [PROGRAM, "xc", "basis.npz", "--density", "dm.npy", "--points", "grid.npz", "--functional", xc_code]
        output = subprocess.run(
            [*command, "--matrix", "vxc.npy", "--force", "--json", "--quiet"],
            cwd=folder,
            check=True,
            capture_output=True,
        ).stdout
        result = json.loads(output)
        return sum(result["electrons"]), result["energy"], np.load(folder / "vxc.npy")

    return nr_rks


for name, atoms in MOLECULES.items():
    mol = gto.M(atom=atoms, basis="6-31g*", verbose=0)
    own = dft.RKS(mol, xc="pbe").run(conv_tol=1e-10)
    ours = dft.RKS(mol, xc="pbe")
    with tempfile.TemporaryDirectory() as folder:
        ours._numint.nr_rks = by_cr_solve(Path(folder))
        ours.run(conv_tol=1e-10)
    print(f"{name}: PySCF {own.e_tot:.10f}, with cr-solve {ours.e_tot:.10f}, difference {ours.e_tot - own.e_tot:.1e}")
    assert ours.converged and abs(ours.e_tot - own.e_tot) < 1e-8
