#!/usr/bin/env python3
"""Makes the files of this folder anew: `python3 make.py` in it. Needs numpy and PySCF (for the molecules).

The configuration is made by the program:
    cr-solve generate --dims 4x4x4x8 --beta 5.8 --sweeps 100 --seed 7 --format nersc --precision single --output b5.8.nersc
"""

import numpy as np
from pyscf import gto, scf
from pyscf.tools import molden


def molecule(name, atoms):
    """Hartree-Fock orbitals in the basis def2-SVP."""
    mean_field = scf.RHF(gto.M(atom=atoms, basis="def2-svp", verbose=0)).run(conv_tol=1e-12)
    molden.from_scf(mean_field, name)


def gaussian_pair(name, points=22, edge=10.0, width=0.8, apart=3.0):
    """A positive and a negative Gaussian charge, in bohr, as a cube file."""
    h = edge / points
    axis = (np.arange(points) + 0.5) * h - edge / 2
    x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
    density = np.zeros_like(x)
    for sign in (1, -1):
        r2 = x**2 + y**2 + (z - sign * apart / 2) ** 2
        density += sign * np.exp(-r2 / (2 * width**2)) / (2 * np.pi * width**2) ** 1.5
    with open(name, "w") as file:
        first = -edge / 2 + h / 2
        file.write("Two Gaussian charges\ndensity in 1/bohr^3\n")
        file.write(f"    0 {first:.6f} {first:.6f} {first:.6f}\n")
        for k in range(3):
            step = [h if k == j else 0.0 for j in range(3)]
            file.write(f"{points:5d} {step[0]:.9f} {step[1]:.9f} {step[2]:.9f}\n")
        for row in density.reshape(-1, points):
            for begin in range(0, points, 6):
                file.write(" ".join(f"{value:.5e}" for value in row[begin : begin + 6]) + "\n")


def argon(name, cells=5, lattice_constant=5.4):
    """500 atoms near the places of a face-centred cubic crystal, in ångström."""
    random = np.random.default_rng(1)
    corner = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2
    cell = np.array([[i, j, k] for i in range(cells) for j in range(cells) for k in range(cells)])
    places = (cell[:, None] + corner[None]).reshape(-1, 3) * lattice_constant
    places += random.normal(scale=0.1, size=places.shape)
    edge = cells * lattice_constant
    with open(name, "w") as file:
        file.write(f'{len(places)}\nLattice="{edge} 0 0 0 {edge} 0 0 0 {edge}" Properties=species:S:1:pos:R:3\n')
        for place in places:
            file.write("Ar " + " ".join(f"{value:.4f}" for value in place) + "\n")


def membrane(name, n=32):
    """The stiffness of a square membrane with a fixed rim: bilinear elements, n x n inner nodes."""
    element = np.array([[4, -1, -2, -1], [-1, 4, -1, -2], [-2, -1, 4, -1], [-1, -2, -1, 4]]) / 6
    entries = {}
    for i in range(n + 1):
        for j in range(n + 1):
            nodes = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            inner = [(a, (x - 1) * n + y - 1) for a, (x, y) in enumerate(nodes) if 0 < x <= n and 0 < y <= n]
            for a, row in inner:
                for b, column in inner:
                    if row >= column:
                        entries[row, column] = entries.get((row, column), 0.0) + element[a, b]
    with open(name, "w") as file:
        file.write("%%MatrixMarket matrix coordinate real symmetric\n")
        file.write(f"{n * n} {n * n} {len(entries)}\n")
        for (row, column), value in sorted(entries.items(), key=lambda entry: entry[0][::-1]):
            file.write(f"{row + 1} {column + 1} {value:.12g}\n")


if __name__ == "__main__":
    molecule("water.molden", "O 0 0 0.1173; H 0 0.7572 -0.4692; H 0 -0.7572 -0.4692")
    molecule("helium.molden", "He 0 0 0")
    gaussian_pair("gaussian-pair.cube")
    argon("argon.xyz")
    membrane("membrane.mtx")
