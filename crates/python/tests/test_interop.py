"""Fields in the axes of other programs, and DLPack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

import lattice_cl as lc

DIMS = (4, 2, 6, 8)


@pytest.fixture(scope="module")
def gauge() -> lc.Gauge:
    links = np.broadcast_to(np.eye(3, dtype=np.complex128), (*reversed(DIMS), 4, 3, 3)).copy()
    # A phase tells each link from the others.
    phases = np.exp(1j * np.random.default_rng(3).normal(size=links.shape[:5]))
    links[..., 0, 0] *= phases
    links[..., 1, 1] /= phases
    return lc.Gauge(links)


@pytest.fixture(scope="module")
def propagator() -> lc.Propagator:
    random = np.random.default_rng(4)
    shape = (*reversed(DIMS), 4, 3, 4, 3)
    return lc.Propagator(random.normal(size=shape) + 1j * random.normal(size=shape))


def in_order(split: NDArray[Any]) -> NDArray[Any]:
    """Sites of the axes parity, t, z, y, x/2 in the axes t, z, y, x, one site after the other."""
    _, t, z, y, half, *rest = split.shape
    field = np.empty((t, z, y, 2 * half, *rest), split.dtype)
    for site in np.ndindex(t, z, y, 2 * half):
        field[site] = split[(sum(site) % 2, *site[:3], site[3] // 2)]
    return field


def test_links(gauge: lc.Gauge) -> None:
    links = gauge.numpy()
    data = gauge.pyquda()
    assert data.shape == (4, 2, 8, 6, 2, 2, 3, 3) and data.flags.c_contiguous
    of_gpt = gauge.gpt()
    for mu in range(4):
        assert np.array_equal(in_order(data[mu]), links[:, :, :, :, mu])
        x, y, z, t = 3, 1, 4, 5
        site = x + DIMS[0] * (y + DIMS[1] * (z + DIMS[2] * t))
        assert np.array_equal(of_gpt[mu][site], links[t, z, y, x, mu])
    for back in [lc.interop.from_pyquda(data), lc.interop.from_gpt(of_gpt, dims=DIMS)]:
        assert isinstance(back, lc.Gauge) and np.array_equal(back.numpy(), links)


def test_propagators(propagator: lc.Propagator, tmp_path: Path) -> None:
    numbers = propagator.numpy()
    data, of_gpt = propagator.pyquda(), propagator.gpt()
    assert data.shape == (2, 8, 6, 2, 2, 4, 4, 3, 3) and of_gpt.shape == (np.prod(DIMS), 4, 4, 3, 3)
    assert np.array_equal(in_order(data), numbers.transpose(0, 1, 2, 3, 4, 6, 5, 7))
    assert np.array_equal(of_gpt[7, 1, 2, 0, 2], numbers[0, 0, 1, 3, 1, 0, 2, 2])
    # The file that PyQUDA reads has the same numbers.
    propagator.save(tmp_path / "s.h5", format="pyquda-hdf5")
    with h5py.File(tmp_path / "s.h5") as file:
        assert np.array_equal(file["LatticeSpinColorMatrix/0"][()], in_order(data))
    for back in [lc.interop.from_pyquda(data), lc.interop.from_gpt(of_gpt, dims=DIMS)]:
        assert isinstance(back, lc.Propagator) and np.array_equal(back.numpy(), numbers)


def test_fields_of_other_shapes() -> None:
    wrongs: list[Any] = [
        lambda: lc.interop.from_pyquda(np.ones((4, 2, 2, 2, 2, 1, 3, 2))),
        lambda: lc.interop.from_gpt(np.ones((4, 15, 3, 3)), dims=(2, 2, 2, 2)),
        lambda: lc.interop.from_gpt(np.ones((4, 16, 3, 3)), dims=(2, 8)),
    ]
    for wrong in wrongs:
        with pytest.raises(lc.InvalidInput):
            wrong()


class OnlyDlpack:
    """An array that only DLPack reads."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def test_dlpack(gauge: lc.Gauge, propagator: lc.Propagator) -> None:
    fields: list[Any] = [gauge, propagator]
    for field in fields:
        taken: Any = np.from_dlpack(field)
        assert np.array_equal(taken, field.numpy())
        assert np.array_equal(np.frombuffer(memoryview(field.numpy()).cast("B"), np.complex128), taken.ravel())
    given: Any = OnlyDlpack(gauge.numpy())
    assert np.array_equal(lc.Gauge(given).numpy(), gauge.numpy())


def test_dlpack_of_devices(device: lc.Device) -> None:
    numbers = np.arange(6.0).reshape(2, 3)
    there: Any = device.array(numbers)
    assert np.array_equal(np.from_dlpack(there), numbers)
    given: Any = OnlyDlpack(numbers)
    assert np.array_equal(device.array(given).numpy(), numbers)
