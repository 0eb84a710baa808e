"""What several tests share."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import lattice_cl as lc

Field = NDArray[np.complex128]


def _shared() -> Path | None:
    """The folder of public files and values, beside or above the checkout."""
    named = os.environ.get("LATTICE_CL_SHARED")
    folders = [Path(named)] if named else [folder / "shared" for folder in Path(__file__).resolve().parents]
    return next((folder for folder in folders if (folder / "data").is_dir()), None)


SHARED = _shared()
if SHARED is None:
    print("SKIPPED: there is no folder shared/data beside or above the tests", file=sys.stderr)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public files."""
    if SHARED is None:
        pytest.skip("there is no folder shared/data")
    return SHARED / "data"


@pytest.fixture(scope="session")
def computed() -> list[dict[str, Any]]:
    """Values of operators and solves, by an independent program."""
    if SHARED is None:
        pytest.skip("there is no folder shared/reference")
    values: list[dict[str, Any]] = json.loads((SHARED / "reference/computed.json").read_text())
    return values


@pytest.fixture(scope="session")
def physics() -> dict[str, Any]:
    """Values of hadrons and smearing, by an independent program."""
    if SHARED is None:
        pytest.skip("there is no folder shared/reference")
    values: dict[str, Any] = json.loads((SHARED / "reference/physics.json").read_text())["computed"]
    return values


def _teams() -> list[str]:
    """The host, the first device, and a team of two."""
    if not lc.devices():
        print("SKIPPED: there is no OpenCL device, so the host alone is tested", file=sys.stderr)
        return ["host"]
    return ["host", "0.0", "0.0,0.0"]


@pytest.fixture(scope="session", params=_teams())
def team(request: pytest.FixtureRequest) -> str:
    """The devices: each team in turn."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def device() -> lc.Device:
    """An open device."""
    if not lc.devices():
        pytest.skip("there is no OpenCL device")
    return lc.Team("0.0")[0]


@pytest.fixture(scope="session")
def weak() -> lc.Gauge:
    """Links near unit ones, which no file has."""
    return lc.Gauge(links_near_unit((4, 4, 4, 6)))


def links_near_unit(dims: tuple[int, int, int, int], strength: float = 0.2) -> Field:
    """Exponentials of small antihermitian matrices without trace, axes t, z, y, x, direction, row, column."""
    random = np.random.default_rng(7)
    shape = (*reversed(dims), 4, 3, 3)
    a = random.normal(size=shape) + 1j * random.normal(size=shape)
    hermitian = a + np.conj(np.swapaxes(a, -1, -2))
    hermitian -= np.eye(3) * np.trace(hermitian, axis1=-2, axis2=-1)[..., None, None] / 3
    values, vectors = np.linalg.eigh(hermitian)
    phases = np.exp(1j * strength * values)
    links: Field = (vectors * phases[..., None, :]) @ np.conj(np.swapaxes(vectors, -1, -2))
    return links


def point(gauge: lc.Gauge, spin: int, colour: int) -> Field:
    """The right-hand side of a point source at the origin."""
    b = np.zeros((*reversed(gauge.dims), 4, 3), dtype=np.complex128)
    b[0, 0, 0, 0, spin, colour] = 1
    return b
