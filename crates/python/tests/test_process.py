"""The package in a process: Ctrl-C, threads, forks, exits, memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lattice_cl as lc

ENDLESS = """
import sys, time, signal
import lattice_cl as lc
gauge = lc.Gauge.unit((8, 8, 8, 8))
D = lc.Wilson(gauge, kappa=0.12, devices=sys.argv[1])
print("ready", flush=True)
try:
    while True:
        D.propagator(lc.source.wall())
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


def test_ctrl_c_returns_within_three_tenths_of_a_second(team: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, team], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(3)
    pressed = time.time()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.startswith("interrupted") and err == "", (out, err)
    # A machine that does other work may take longer: the bound is only told.
    print(f"Ctrl-C took {float(out.split()[1]) - pressed:.3f} s")
    assert process.returncode == 0


def test_an_exception_of_progress_ends_the_solve() -> None:
    def refuse(progress: lc.Progress) -> None:
        raise RuntimeError("enough")

    gauge = lc.Gauge.unit((8, 8, 8, 8))
    d = lc.Wilson(gauge, kappa=0.125, boundary="periodic", devices="host")
    with pytest.raises(RuntimeError, match="enough"):
        d.propagator(lc.source.wall(), solver="mr", tol=1e-15, max_iterations=10**9, progress=refuse)


def test_threads_solve_side_by_side(weak: lc.Gauge, team: str) -> None:
    d = lc.Wilson(weak, kappa=0.12, devices=team)
    expected = d.propagator("point:0,0,0,0").numpy()
    found: list[bool] = []

    def solve() -> None:
        found.append(np.array_equal(d.propagator("point:0,0,0,0").numpy(), expected))

    threads = [threading.Thread(target=solve) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_is_refused(weak: lc.Gauge) -> None:
    assert weak.stout(rho=0.1).plaquette > 0
    child = os.fork()
    if child == 0:
        try:
            weak.stout(rho=0.1)
        except lc.DeviceError as error:
            os._exit(7 if "forked" in str(error) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def entries(weak: lc.Gauge, folder: Path) -> dict[str, Callable[[], object]]:
    """What a child may call with objects of its parent: everything that uses threads or devices."""
    device = lc.Team("0.0")[0] if lc.devices() else None
    d = lc.Wilson(weak, kappa=0.1, devices="host")
    s = d.propagator("point:0,0,0,0")
    spinors = s.column(spin=0, colour=0)
    matrix = lc.sparse.problem("poisson2d:8")
    observable = lc.analysis.Observable([1.0, 2.0, 4.0])
    weak.save(folder / "weak.lime")
    s.save(folder / "s.lime")
    calls: dict[str, Callable[[], object]] = {
        "read_gauge": lambda: lc.read_gauge(folder / "weak.lime"),
        "read_propagator": lambda: lc.read_propagator(folder / "s.lime"),
        "Gauge": lambda: lc.Gauge(weak_numbers),
        "Gauge.numpy": weak.numpy,
        "Gauge.pyquda": weak.pyquda,
        "Gauge.gpt": weak.gpt,
        "Gauge.__array__": lambda: np.asarray(weak),
        "Gauge.__dlpack__": lambda: np.from_dlpack(weak),
        "Gauge.plaquette": lambda: weak.plaquette,
        "Gauge.stout": lambda: weak.stout(rho=0.1),
        "Gauge.save": lambda: weak.save(folder / "again.lime"),
        "Wilson.solve": lambda: d.solve("point:0,0,0,0", spin=0, colour=0),
        "Wilson.apply": lambda: d.apply(spinors),
        "Wilson.propagator": lambda: d.propagator("point:0,0,0,0"),
        "Propagator": lambda: lc.Propagator(s_numbers),
        "Propagator.numpy": s.numpy,
        "Propagator.pyquda": s.pyquda,
        "Propagator.gpt": s.gpt,
        "Propagator.__dlpack__": lambda: np.from_dlpack(s),
        "Propagator.column": lambda: s.column(spin=0, colour=0),
        "Propagator.correlator": lambda: s.correlator("pion"),
        "hadrons": lambda: lc.hadrons(s, "pion"),
        "Observable": lambda: lc.analysis.Observable([1.0, 2.0, 4.0]),
        "Observable +": lambda: observable + 1,
        "Observable.error": lambda: observable.error,
        "analysis.derived": lambda: lc.analysis.derived(lambda x: x[0], [observable]),
        "analysis.fit": lambda: lc.analysis.fit([0.0], [observable], "constant"),
        "sparse.problem": lambda: lc.sparse.problem("poisson2d:8"),
        "SparseMatrix @": lambda: matrix @ np.ones(64),
        "SparseMatrix.solve": lambda: matrix.solve(np.ones(64)),
        "gemm": lambda: lc.gemm(np.eye(3), np.eye(3)),
    }
    weak_numbers, s_numbers = weak.numpy(), s.numpy()
    if device is not None:
        array = device.array(np.ones((4, 4)))
        lu, cholesky = lc.linalg.lu(np.eye(4)), lc.linalg.cholesky(np.eye(4))
        calls |= {
            "Device.array": lambda: device.array(np.ones(3)),
            "Array.numpy": array.numpy,
            "Array @": lambda: array @ array,
            "Array +": lambda: array + array,
            "nrm2": lambda: lc.nrm2(array),
            "dot": lambda: lc.dot(array, array),
            "vdot": lambda: lc.vdot(array, array),
            "Lu.solve": lambda: lu.solve(np.ones(4)),
            "Lu.inverse": lu.inverse,
            "Lu.slogdet": lu.slogdet,
            "Lu.pivots": lambda: lu.pivots,
            "Cholesky.inverse": cholesky.inverse,
            "lu": lambda: lc.linalg.lu(np.eye(4)),
        }
    return calls


def ends_refused(call: Callable[[], object]) -> bool:
    """Tells whether a forked child is refused, within ten seconds."""
    child = os.fork()
    if child == 0:
        try:
            call()
        except lc.DeviceError as error:
            os._exit(7 if "forked" in str(error) else 1)
        finally:
            os._exit(2)
    for _ in range(200):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) == 7
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_no_entry_hangs_in_a_forked_process(weak: lc.Gauge, tmp_path: Path) -> None:
    wrong = [name for name, call in entries(weak, tmp_path).items() if not ends_refused(call)]
    assert wrong == []


@pytest.mark.skipif("LATTICE_CL_TEST_ALL" not in os.environ, reason="takes minutes: LATTICE_CL_TEST_ALL=1 asks for it")
def test_a_thousand_solves_leak_nothing(weak: lc.Gauge, team: str) -> None:
    def resident() -> int:
        pages = Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    d = lc.Wilson(weak, kappa=0.1, devices=team)
    for _ in range(100):
        d.solve("point:0,0,0,0", spin=0, colour=0, solver="cg")
    before = resident()
    for _ in range(1000):
        d.solve("point:0,0,0,0", spin=0, colour=0, solver="cg")
    assert resident() - before < 20 << 20
