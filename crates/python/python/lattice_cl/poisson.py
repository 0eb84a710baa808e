"""Electrostatic potentials of charge densities on meshes.

    rho, cell = lc.read_cube("benzene.cube")
    v, e = lc.Poisson(cell, rho.shape).solve(rho)
    print(e.hartree, e.stress, e.dipole)

Hartree atomic units: bohr, hartree, e. Rows of a cell are its vectors.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._native import Team
from .errors import InvalidInput

__all__ = ["Electrostatics", "Poisson", "read_cube"]


@dataclass(frozen=True)
class Electrostatics:
    """What comes with a potential."""

    hartree: float
    """The energy ½ ∫ρV in hartree."""
    stress: NDArray[np.float64] | None
    """xx, yy, zz, yz, xz, xy in hartree/bohr³, if the charge of each mesh cell stays when the cell is strained.

    `None` for an isolated density.
    """
    stress_fixed_density: NDArray[np.float64] | None
    """The stress if the density stays, as in SIESTA."""
    dipole: NDArray[np.float64]
    """∫ρr in e bohr, with r from the middle of the cell."""
    charge: float
    """∫ρ in e. A periodic cell with a net charge has a uniform background."""


class Poisson:
    """Potentials in a cell, with densities on a mesh. One object serves many densities."""

    def __init__(
        self,
        cell: ArrayLike,
        shape: Sequence[int],
        *,
        boundary: str = "periodic",
        cutoff: str = "none",
        precision: str = "double",
        out_of_core: int | None = None,
        devices: Team | str | Sequence[str] | None = None,
    ) -> None:
        """Prepare a mesh of this shape, on the best device by default.

        `boundary` is periodic, or isolated for cells at right angles. `cutoff="sphere"` keeps the components within the
        largest sphere of the mesh's Brillouin zone. With `out_of_core`, so many bytes of each device are used, and a
        periodic density goes through all devices by slabs.
        """
        rows = np.asarray(cell, dtype=np.float64)
        if rows.shape == (3,):
            rows = np.diag(rows)
        if rows.shape != (3, 3):
            raise InvalidInput(f"a cell has three vectors or three sides, not the shape {rows.shape}")
        if len(shape) != 3:
            raise InvalidInput(f"a mesh has three extents, not {len(shape)}")
        extents = [int(n) for n in shape]
        if min(extents) < 1:
            raise InvalidInput(f"the mesh {extents} has no points")
        self._native = _native.PoissonPlan(
            rows.tolist(), extents, boundary, cutoff, precision, out_of_core, devices
        )

    def solve(self, rho: ArrayLike) -> tuple[NDArray[np.float64], Electrostatics]:
        """Return the potential of a density in electrons/bohr³, in hartree/e, and what comes with it."""
        potential, energy, stresses, dipole, charge = self._native.solve(_real(rho))
        of_charge, of_density = (None, None) if stresses is None else map(np.array, stresses)
        return potential, Electrostatics(energy, of_charge, of_density, np.array(dipole), charge)


def _real(rho: ArrayLike) -> NDArray[Any]:
    """Return an array of reals, of which numpy would else drop the imaginary parts."""
    values = np.asarray(rho)
    if values.dtype.kind not in "fiu":
        raise InvalidInput(f"a density has real numbers, not {values.dtype}")
    return values


def read_cube(path: str | os.PathLike[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Read a Gaussian cube file: the values, as an array of three axes, and the cell in bohr."""
    values, cell = _native.read_cube(path)
    return values, np.array(cell)
