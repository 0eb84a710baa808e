"""Sources of quarks.

Numbers are the same in all twelve spins and colours of a propagator.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from ._native import Gauge

__all__ = ["Source", "exponential", "file", "noise", "point", "volume", "wall"]


@dataclass(frozen=True)
class Source:
    """A source, in the words of job files."""

    text: str
    """For example `wall:0`."""
    smearing: str | None = None
    """For example `gaussian:2.0,5`."""
    smearing_links: Gauge | None = None
    """The links of the smearing; `None` for those of the operator."""


def point(x: int = 0, y: int = 0, z: int = 0, t: int = 0) -> Source:
    """1 on one site, 0 elsewhere."""
    return Source(f"point:{x},{y},{z},{t}")


def wall(t: int = 0, momentum: tuple[int, int, int] = (0, 0, 0)) -> Source:
    """e^{ip·x} on one time slice, p = 2πn/L with n the `momentum`."""
    if momentum == (0, 0, 0):
        return Source(f"wall:{t}")
    return Source(f"wall:{t},{momentum[0]},{momentum[1]},{momentum[2]}")


def volume() -> Source:
    """1 on all sites."""
    return Source("volume")


def noise(
    seed: int,
    hit: int = 0,
    *,
    kind: str = "z4",
    t: int | None = None,
    part: tuple[int, int] | None = None,
) -> Source:
    """Noise of a kind (`z2`, `z4`, `u1`, `z2xz2`), on all sites or on time slice `t`.

    `part=(k, n)` takes the sites with x + y + z + t = k modulo n.
    """
    text = f"{kind}:{seed},{hit}"
    if t is not None:
        text += f",t={t}"
    if part is not None:
        text += f",part={part[0]}/{part[1]}"
    return Source(text)


def exponential(site: tuple[int, int, int, int], decay: float, power: float = 1.0) -> Source:
    """e^{−a rᵖ} on the time slice of a site, for a fixed gauge."""
    x, y, z, t = site
    return Source(f"exponential:{x},{y},{z},{t},{decay!r},{power!r}")


def file(path: str | os.PathLike[str]) -> Source:
    """The columns of a file of propagators."""
    return Source(f"file:{os.fspath(path)}")
