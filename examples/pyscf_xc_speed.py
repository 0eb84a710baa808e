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
WARM = 3


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


def by_cr_solve(*options, evaluations=WARM + 1):
    before = cpu(resource.RUSAGE_CHILDREN)
    command = [PROGRAM, "xc", FILE, "--grid", "40x194", "--iterations", str(evaluations), "--json", "--quiet", *OPTIONS, *options]
    result = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return result, cpu(resource.RUSAGE_CHILDREN) - before


mol, dm, grids = molecule()
print(f"{FILE}: {mol.nao} functions, {len(grids.coords)} points, {lib.num_threads()} threads of PySCF, load {os.getloadavg()[0]:.1f}")
by_cr_solve(evaluations=1)
pyscf, ours, recomputed = [], [], []
for turn in range(TURNS):
    seconds, seconds_of_cpu, energy, electrons = by_pyscf(mol, dm, grids)
    pyscf.append((seconds, seconds_of_cpu))
    print(f"PySCF          {seconds:8.2f} s, {seconds_of_cpu:8.2f} s of the CPU, {energy:.10f} hartree, {electrons:.9f} electrons")
    for name, list_, options in [("kept", ours, []), ("recomputed", recomputed, ["--memory", "300M"])]:
        # Two runs of different length: their difference is that of warm evaluations.
        one, cpu_of_one = by_cr_solve(*options, evaluations=1)
        result, cpu_of_all = by_cr_solve(*options)
        warm = [step["seconds"] for step in result["iterations"][1:]]
        list_.append((float(np.median(warm)), (cpu_of_all - cpu_of_one) / WARM))
        print(
            f"cr-solve, {name:10} {list_[-1][0]:6.2f} s, {list_[-1][1]:8.2f} s of the CPU, {result['energy']:.10f} hartree, "
            f"{result['cache']['groups_kept']} of {result['groups']['count']} groups kept, load {os.getloadavg()[0]:.1f}"
        )
medians = [np.median(np.array(times), axis=0) for times in (pyscf, ours, recomputed)]
for name, median in zip(("kept", "recomputed"), medians[1:]):
    print(f"{name}: {median[0] / medians[0][0]:.3f} of PySCF's time, {median[1] / medians[0][1]:.3f} of its CPU's")
