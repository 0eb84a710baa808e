"""Arrays on devices, and devices that several teams share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lattice_cl as lc


def test_teams_share_their_devices(device: lc.Device) -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(size=(5, 7)), random.normal(size=(7, 3))
    every = [lc.Team("all")[0], lc.Team("all")[0], lc.Team("0.0")[0], lc.Team("0.0,0.0")[0]]
    A = device.array(a)
    for other in every:
        assert other.cl_context == device.cl_context and other.cl_queue == device.cl_queue
        np.testing.assert_allclose((A @ other.array(b)).numpy(), a @ b, atol=1e-13)
    # A device that is named twice is two devices, and their arrays do not go together.
    one, two = lc.Team("0.0,0.0"), lc.Team("0.0,0.0")
    assert one[0].cl_context != one[1].cl_context
    assert [one[k].cl_context for k in (0, 1)] == [two[k].cl_context for k in (0, 1)]
    with pytest.raises(lc.InvalidInput, match="must be on one device"):
        one[0].array(a) @ one[1].array(b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("shape", [(3, 2), (1031, 2053)])
def test_arrays_come_back_as_they_were(device: lc.Device, dtype: Any, shape: tuple[int, int]) -> None:
    numbers = np.random.default_rng(2).normal(size=2 * shape[0] * shape[1])
    a = numbers.view(np.complex128).reshape(shape).astype(dtype) if np.dtype(dtype).kind == "c" else None
    a = numbers[: shape[0] * shape[1]].reshape(shape).astype(dtype) if a is None else a
    A = device.array(a)
    found = A.numpy()
    assert found.dtype == dtype and found.shape == shape and np.array_equal(found, a)
    # Every copy has memory of its own.
    found[0, 0] = 7
    assert np.array_equal(A.numpy(), a)
    assert np.array_equal((A + A).numpy(), 2 * a)
