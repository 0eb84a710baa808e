"""Dirac operators.

M = 1 − κ H + … with `kappa`, M = (4 + m) − ½ H + … with `mass`. Solutions are those of the M that was given.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._native import Dirac, Gauge, Team

__all__ = ["Clover", "Twisted", "Wilson"]

Devices = Team | str | Sequence[str] | None


class Wilson(Dirac):
    """The Wilson operator."""

    def __new__(
        cls,
        gauge: Gauge,
        *,
        kappa: float | None = None,
        mass: float | None = None,
        boundary: str = "antiperiodic",
        theta: str | None = None,
        anisotropy: float | None = None,
        nu: float | None = None,
        devices: Devices = None,
    ) -> Wilson:
        """Put the operator on devices: `"auto"`, `"all"`, `"host"`, names, or a team."""
        return super().__new__(
            cls,
            gauge,
            kappa=kappa,
            mass=mass,
            boundary=boundary,
            theta=theta,
            anisotropy=anisotropy,
            nu=nu,
            devices=devices,
        )


class Clover(Dirac):
    """The Wilson operator with a clover term of coefficient `csw`, of the same links."""

    def __new__(
        cls,
        gauge: Gauge,
        *,
        csw: float,
        kappa: float | None = None,
        mass: float | None = None,
        mu: float | None = None,
        flavour: str | None = None,
        boundary: str = "antiperiodic",
        theta: str | None = None,
        anisotropy: float | None = None,
        nu: float | None = None,
        devices: Devices = None,
    ) -> Clover:
        """Put the operator on devices. `mu` adds a twisted mass."""
        return super().__new__(
            cls,
            gauge,
            kappa=kappa,
            mass=mass,
            csw=csw,
            mu=mu,
            flavour=flavour,
            boundary=boundary,
            theta=theta,
            anisotropy=anisotropy,
            nu=nu,
            devices=devices,
        )


class Twisted(Dirac):
    """One flavour of twisted mass: M + 2iκμγ5, or M + iμγ5 with `mass`."""

    def __new__(
        cls,
        gauge: Gauge,
        *,
        mu: float,
        kappa: float | None = None,
        mass: float | None = None,
        flavour: str | None = None,
        boundary: str = "antiperiodic",
        theta: str | None = None,
        devices: Devices = None,
    ) -> Twisted:
        """Put the operator on devices. `flavour` is `"up"` (+μ) or `"down"` (−μ)."""
        return super().__new__(
            cls,
            gauge,
            kappa=kappa,
            mass=mass,
            mu=mu,
            flavour=flavour,
            boundary=boundary,
            theta=theta,
            devices=devices,
        )
