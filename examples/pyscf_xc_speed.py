"""Times cr-solve's XC step beside PySCF's, in turns: python examples/pyscf_xc_speed.py CR_SOLVE MOLECULE.npz BASIS [TURNS] [OPTION ...]

The molecule is an .npz as cr-solve reads it, with `dm_block` or `dm`. Both have the same points: 40 radial and 194 angular ones for each
atom, without pruning. The CPU's seconds are of all threads; they depend less than those of the clock on what else runs.
"""
import json
import os
import resource
import subprocess
import sys
import time

THREADS = 2
os.environ["OMP_NUM_THREADS"] = str(THREADS)

import numpy as np
from pyscf import dft, gto, lib

PROGRAM, FILE, BASIS, *REST = sys.argv[1:]
TURNS = int(REST[0]) if REST else 3
OPTIONS = REST[1:]
WARM = 2


def molecule():
    """Returns PySCF's molecule, its density matrix and its grid."""
    data = np.load(FILE)
    atoms = list(zip((int(z) for z in data["atom_z"]), data["atom_xyz"].tolist()))
    mol = gto.M(atom=atoms, unit="Bohr", basis=BASIS, verbose=0)
    block = data["dm_block"] if "dm_block" in data else data["dm"]
    dm = np.kron(np.eye(mol.nao // len(block)), block)
    grids = dft.gen_grid.Grids(mol)
    grids.atom_grid, grids.prune = (40, 194), None
    grids.build(with_non0tab=True)
    return mol, lib.tag_array(dm, mo_coeff=None), grids


def cpu(of):
    usage = resource.getrusage(of)
    return usage.ru_utime + usage.ru_stime


def by_pyscf(mol, dm, grids):
    numint = dft.numint.NumInt()
    began, before = time.time(), cpu(resource.RUSAGE_SELF)
    electrons, energy, _ = numint.nr_rks(mol, grids, "pbe", np.asarray(dm))
    return time.time() - began, cpu(resource.RUSAGE_SELF) - before, energy, electrons


def by_cr_solve(evaluations):
    before = cpu(resource.RUSAGE_CHILDREN)
    command = [PROGRAM, "xc", FILE, "--grid", "40x194", "--iterations", str(evaluations), "--json", "--quiet", *OPTIONS]
    result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result, cpu(resource.RUSAGE_CHILDREN) - before


mol, dm, grids = molecule()
print(
    f"{FILE}: {mol.nao} functions, {len(grids.coords)} points, {lib.num_threads()} threads of PySCF, load {os.getloadavg()[0]:.1f}",
    flush=True,
)
pyscf, ours = [], []
for turn in range(TURNS):
    seconds, seconds_of_cpu, energy, electrons = by_pyscf(mol, dm, grids)
    pyscf.append((seconds, seconds_of_cpu))
    print(
        f"PySCF    {seconds:8.2f} s, {seconds_of_cpu:8.2f} s of the CPU, {energy:.10f} hartree, {electrons:.9f} electrons",
        flush=True,
    )
    # Two runs of different length: their difference is that of warm evaluations.
    _, cpu_of_one = by_cr_solve(1)
    result, cpu_of_all = by_cr_solve(1 + WARM)
    warm = [step["seconds"] for step in result["iterations"][1:]]
    ours.append((float(np.median(warm)), (cpu_of_all - cpu_of_one) / WARM))
    print(
        f"cr-solve {ours[-1][0]:8.2f} s, {ours[-1][1]:8.2f} s of the CPU, {result['energy']:.10f} hartree, "
        f"{result['cache']['groups_kept']} of {result['groups']['count']} groups kept, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
of_pyscf, of_ours = (np.median(np.array(times), axis=0) for times in (pyscf, ours))
print(f"cr-solve takes {of_ours[0] / of_pyscf[0]:.3f} of PySCF's time, {of_ours[1] / of_pyscf[1]:.3f} of its CPU's")
