"""Hadrons of propagators, and effective masses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native
from ._native import Correlators, Propagator

__all__ = ["Momenta", "effective_mass", "hadrons", "momenta"]


@dataclass(frozen=True)
class Momenta:
    """All momenta p = 2πn/L with n² up to a number."""

    upto: int = 0
    averaged: bool = False
    """Whether equivalent momenta are averaged."""


def momenta(upto: int = 0, *, averaged: bool = False) -> Momenta:
    """Take all momenta p = 2πn/L with n_x² + n_y² + n_z² up to `upto`."""
    return Momenta(upto, averaged)


def hadrons(
    propagator: Propagator,
    names: str | Iterable[str],
    momenta: Momenta | Sequence[tuple[int, int, int]] | None = None,
    *,
    antiquark: Propagator | None = None,
) -> Correlators:
    """Measure correlators of hadrons over the distance in t.

    Mesons: `pion`, `pion_4`, `rho`, `rho_4`, `a0`, `a1`, `b1`. Each is the mean over the directions of its matrix, with the sign
    of ⟨O(x) Ō(0)⟩. `antiquark` is the propagator of another quark.

    Baryons: `nucleon` (or `proton`), `delta`; `nucleon-`, `delta-` of the other parity.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    chosen = momenta if isinstance(momenta, Momenta) else Momenta()
    listed: Any = None
    if momenta is not None and not isinstance(momenta, Momenta):
        listed = [[int(n) for n in momentum] for momentum in momenta]
    return _native.hadrons(
        propagator,
        wanted,
        upto=chosen.upto,
        momenta=listed,
        averaged=chosen.averaged,
        antiquark=antiquark,
    )


def effective_mass(correlator: ArrayLike) -> NDArray[np.float64]:
    """Solve C(n−1) + C(n+1) = 2 cosh(m) C(n) at each distance; NaN at 0 and where there is no m.

    The real part of a complex correlator counts.
    """
    values = np.real(np.asarray(correlator)).astype(np.float64)
    with np.errstate(all="ignore"):
        cosh = (np.roll(values, -1) + np.roll(values, 1)) / (2 * values)
        masses: NDArray[np.float64] = np.arccosh(np.where(cosh >= 1, cosh, np.nan))
    masses[:1] = np.nan
    return masses
