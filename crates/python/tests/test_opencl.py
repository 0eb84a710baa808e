"""Memory that is shared with pyopencl, in its contexts and in ours."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np
import pytest

import lattice_cl as lc

try:
    import pyopencl
    import pyopencl.array

    cl: Any = pyopencl
except ImportError:
    print("SKIPPED: pyopencl is not installed, so nothing is shared with it", file=sys.stderr)
    pytest.skip("there is no pyopencl", allow_module_level=True)


def theirs() -> Any:
    """A new context on the device that this package calls 0.0."""
    if not lc.devices():
        pytest.skip("there is no OpenCL device")
    wanted = lc.devices()[0]
    for platform in cl.get_platforms():
        for device in platform.get_devices():
            if (platform.name, device.name) == (wanted.platform, wanted.name):
                return cl.Context([device])
    print(f"SKIPPED: pyopencl does not find {wanted.label}", file=sys.stderr)
    pytest.skip("pyopencl does not find the device")


@pytest.fixture
def queue() -> Any:
    return cl.CommandQueue(theirs())


def sent(queue: Any, numbers: Any) -> Any:
    return cl.array.to_device(queue, numbers)


def test_an_array_is_shared_without_a_copy(queue: Any) -> None:
    random = np.random.default_rng(1)
    a, b = random.normal(size=(37, 23)), random.normal(size=(23, 5))
    x, y = sent(queue, a), sent(queue, b)
    A, B = lc.from_pyopencl(x), lc.from_pyopencl(y)
    assert A.cl_mem == x.base_data.int_ptr and A.shape == [37, 23] and A.dtype == np.float64
    assert np.array_equal(A.numpy(), a)
    np.testing.assert_allclose((A @ B).numpy(), a @ b, atol=1e-13)
    x += 1
    queue.finish()
    assert np.array_equal(A.numpy(), a + 1)
    for element in [np.float32, np.complex64, np.complex128]:
        z: Any = random.normal(size=11).astype(element)
        Z = lc.from_pyopencl(sent(queue, z))
        assert np.array_equal(Z.numpy(), z) and Z.dtype == element
        assert lc.nrm2(Z) == pytest.approx(np.linalg.norm(z), rel=1e-6)


def test_memory_lives_as_long_as_somebody_has_it(queue: Any) -> None:
    x = sent(queue, np.arange(1000.0))
    buffer = x.base_data
    before = buffer.reference_count
    A = lc.from_pyopencl(x)
    assert buffer.reference_count == before + 1
    del x
    gc.collect()
    for _ in range(5):
        sent(queue, np.zeros(1000))
    assert np.array_equal(A.numpy(), np.arange(1000.0))
    del A
    gc.collect()
    assert buffer.reference_count == before
    # The context too is given back with the last array in it.
    context = queue.context
    left = context.reference_count
    for _ in range(100):
        lc.from_pyopencl(sent(queue, np.ones(3)))
    gc.collect()
    assert context.reference_count <= left


def test_pyopencl_takes_results(queue: Any, device: lc.Device) -> None:
    A = lc.from_pyopencl(sent(queue, np.arange(6.0).reshape(2, 3)))
    C = A + 2 * A
    there = cl.array.Array(queue, tuple(C.shape), C.dtype, data=cl.Buffer.from_int_ptr(C.cl_mem))
    del C
    gc.collect()
    A + A  # Memory that was lent serves no other array.
    assert np.array_equal((there + 1).get(), 3 * np.arange(6.0).reshape(2, 3) + 1)

    # In a context of this package, on its queue: nobody waits.
    own = cl.CommandQueue.from_int_ptr(device.cl_queue)
    assert own.context == cl.Context.from_int_ptr(device.cl_context)
    D = device.array(np.arange(4.0))
    there = cl.array.Array(own, (4,), np.float64, data=cl.Buffer.from_int_ptr(D.cl_mem))
    there *= 3
    assert np.array_equal((D + D).numpy(), 6 * np.arange(4.0))


def test_operators_work_in_a_context_of_pyopencl(queue: Any, weak: lc.Gauge) -> None:
    team = lc.interop.pyopencl_team(queue.context)
    numbers = team[0].array(np.arange(3.0))
    assert np.array_equal((numbers + lc.from_pyopencl(sent(queue, np.ones(3)))).numpy(), np.arange(3.0) + 1)
    options = {"spin": 0, "colour": 0, "tol": 1e-10}
    x, report = lc.Wilson(weak, kappa=0.12, devices=team).solve("point:0,0,0,0", **options)  # type: ignore[arg-type]
    y, _ = lc.Wilson(weak, kappa=0.12, devices="0.0").solve("point:0,0,0,0", **options)  # type: ignore[arg-type]
    assert np.array_equal(x, y) and report.solves[0].residual < 1e-10


def test_what_cannot_be_shared_is_told(queue: Any) -> None:
    numbers = np.ones((6, 4))
    x = sent(queue, numbers)
    wrongs: list[tuple[Any, str]] = [
        (numbers, r"takes a pyopencl\.array\.Array, not ndarray"),
        (x.base_data, "not Buffer"),
        (sent(queue, numbers.astype(np.int32)), "int32, not float32"),
        (x.T, "order of C"),
        (x[:, ::2], "order of C"),
        (x[1:], "32 bytes within its buffer"),
        (sent(queue, np.ones((2, 2, 2))), r"shape \(2, 2, 2\)"),
    ]
    for wrong, words in wrongs:
        with pytest.raises(lc.InvalidInput, match=words):
            lc.from_pyopencl(wrong)
    with pytest.raises(lc.InvalidInput, match=r"takes a pyopencl\.Context, not CommandQueue"):
        lc.interop.pyopencl_team(queue)
    elsewhere = lc.from_pyopencl(sent(cl.CommandQueue(theirs()), np.ones((4, 2))))
    with pytest.raises(lc.InvalidInput, match="must be on one device"):
        lc.from_pyopencl(x) @ elsewhere
    with pytest.raises(lc.InvalidInput, match="is not open"):
        lc.devices()[0].cl_queue
