"""Smearing of sources and sinks in space.

Every step adds hops in x, y and z with the links of a gauge configuration. Spins stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from ._native import Gauge, Propagator, smear_sink
from .errors import InvalidInput
from .source import Source

__all__ = ["gaussian", "wuppertal"]

Smeared = TypeVar("Smeared", Propagator, Source)


def gaussian(of: Smeared, gauge: Gauge, rho: float, steps: int, at: str | None = None) -> Smeared:
    """Multiply by [(1 − 6c) + c H]ⁿ, c = ρ²/(4n), which is Chroma's GAUGE_INV_GAUSSIAN of width ρ.

    A propagator is smeared at its sink, a source at the source. `at`, "sink" or "source", says so again.
    """
    return _smeared(of, gauge, f"gaussian:{float(rho)!r},{int(steps)}", at)


def wuppertal(of: Smeared, gauge: Gauge, alpha: float, steps: int, at: str | None = None) -> Smeared:
    """Multiply by [(1 + α H)/(1 + 6α)]ⁿ, at the sink of a propagator or at a source."""
    return _smeared(of, gauge, f"wuppertal:{float(alpha)!r},{int(steps)}", at)


def _smeared(of: Smeared, gauge: Gauge, smearing: str, at: str | None) -> Smeared:
    place = "source" if isinstance(of, Source) else "sink"
    if at not in (None, place):
        hint = "smear the source before it is solved for" if at == "source" else "a source has no sink"
        raise InvalidInput(f"at={at!r}: a {type(of).__name__.lower()} is smeared at its {place}; {hint}")
    if isinstance(of, Source):
        if of.smearing is not None:
            raise InvalidInput(f"the source is smeared already: {of.smearing}")
        return replace(of, smearing=smearing, smearing_links=gauge)
    return smear_sink(of, gauge, smearing)
