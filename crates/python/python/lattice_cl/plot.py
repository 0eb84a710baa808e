"""Plots by matplotlib, which is installed by `pip install lattice-cl[plot]`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import correlators

__all__ = ["correlator", "effective_mass"]


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    import matplotlib.pyplot

    return matplotlib.pyplot.gca()


def effective_mass(values: ArrayLike, axes: Any = None, **options: Any) -> Any:
    """Plot the effective mass of a correlator, and return the axes."""
    axes = _axes(axes)
    masses = correlators.effective_mass(values)
    axes.plot(np.arange(len(masses)), masses, **{"marker": "o", "linestyle": "none", **options})
    axes.set_xlabel("t")
    axes.set_ylabel("effective mass")
    return axes


def correlator(values: ArrayLike, axes: Any = None, **options: Any) -> Any:
    """Plot the absolute value of a correlator over t, and return the axes."""
    axes = _axes(axes)
    numbers = np.abs(np.real(np.asarray(values)))
    axes.semilogy(np.arange(len(numbers)), numbers, **{"marker": "o", "linestyle": "none", **options})
    axes.set_xlabel("t")
    axes.set_ylabel("C(t)")
    return axes
