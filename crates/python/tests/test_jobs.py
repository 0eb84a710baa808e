"""Jobs as dictionaries, text and files, and the same solve by the program."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lattice_cl as lc


def program(*arguments: str) -> str:
    """Run the program of the package."""
    command = [sys.executable, "-m", "lattice_cl", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def links(weak: lc.Gauge, tmp_path: Path) -> Path:
    path = tmp_path / "links.lime"
    weak.save(path)
    return path


def job_of(links: Path, team: str) -> dict[str, Any]:
    return {
        "command": "spectrum",
        "configuration": {"file": str(links)},
        "action": {"kappa": 0.124, "csw": 1.1},
        "sources": {"source": "point:1,0,2,3", "smear-source": "gaussian:1.5,4"},
        "solver": {"tol": 1e-11},
        "devices": {"device": team},
    }


def test_the_same_solve_has_the_same_bits(links: Path, tmp_path: Path, team: str) -> None:
    job = job_of(links, team)
    by_api = lc.Clover(lc.read_gauge(links), kappa=0.124, csw=1.1, devices=team)
    gauge = lc.read_gauge(links)
    source = lc.smear.gaussian(lc.source.point(1, 0, 2, 3), gauge, rho=1.5, steps=4)
    wanted = by_api.propagator(source, tol=1e-11)

    by_dictionary = lc.run_job(job)
    assert np.array_equal(by_dictionary.propagators[0].numpy(), wanted.numpy())

    toml = f"""
        command = "spectrum"
        configuration.file = "{links}"
        action = {{ kappa = 0.124, csw = 1.1 }}
        sources = {{ source = "point:1,0,2,3", smear-source = "gaussian:1.5,4" }}
        solver.tol = 1e-11
        devices.device = "{team}"
    """
    assert np.array_equal(lc.run_job(toml).propagators[0].numpy(), wanted.numpy())
    assert lc.run_job(toml).job == by_dictionary.job

    options = ["--kappa", "0.124", "--csw", "1.1", "--source", "point:1,0,2,3", "--smear-source", "gaussian:1.5,4"]
    options += ["--tol", "1e-11", "--device", team]
    by_program = tmp_path / "program.lime"
    result = json.loads(program("spectrum", str(links), *options, "--output", str(by_program), "--json"))
    assert np.array_equal(lc.read_propagator(by_program).numpy(), wanted.numpy())
    # The pion is summed in the same order too.
    assert result["correlators"]["pion"] == wanted.correlator().tolist()

    by_file, file = tmp_path / "file.lime", tmp_path / "job.toml"
    file.write_text(toml + f'outputs.output = "{by_file}"\n')
    program("run", str(file))
    assert np.array_equal(lc.read_propagator(by_file).numpy(), wanted.numpy())


def test_lists(links: Path) -> None:
    job = job_of(links, "host")
    job["action"] = {"kappa": [0.12, 0.11]}
    job["sources"] = {"source": "wall:0"}
    outcome = lc.run_job(job)
    assert len(outcome.propagators) == 2 and len(outcome.report.solves) == 24
    gauge = lc.read_gauge(links)
    alone = lc.Wilson(gauge, kappa=0.11, devices="host").propagator("wall:0", tol=1e-11)
    assert np.array_equal(outcome.propagators[1].numpy(), alone.numpy())


def test_one_column(links: Path) -> None:
    job = job_of(links, "host")
    job |= {"command": "invert", "sources": {"source": "point:0,0,0,0", "spin": 2, "colour": 1}}
    outcome = lc.run_job(job)
    assert outcome.propagators == [] and outcome.solutions[0].shape == (6, 4, 4, 4, 4, 3)


def test_faults_are_named(links: Path, tmp_path: Path) -> None:
    job = job_of(links, "host")
    changes: list[tuple[dict[str, Any], str]] = [
        ({"action": {"kappa": 0.12, "c": 1}}, "unknown field `c`"),
        ({"outputs": {"output": "x.lime"}}, "returns its results"),
        ({"configuration": {}}, "configuration"),
        ({"sources": {"source": "point:9,0,0,0"}}, "outside"),
    ]
    for change, words in changes:
        with pytest.raises(lc.InvalidInput, match=words):
            lc.run_job({**job, **change})
    with pytest.raises(lc.FileError):
        lc.run_job({**job, "configuration": {"file": str(tmp_path / "absent")}})
    with pytest.raises(lc.FileError):
        lc.run_job(tmp_path / "absent.toml")
    with pytest.raises(lc.InvalidInput, match="line 2"):
        lc.run_job('command = "spectrum"\naction = { kapa = 0.1 }\n')


def test_the_program_is_in_the_package() -> None:
    assert program("--version").startswith("cr-solve ")
    script = Path(sys.executable).with_name("cr-solve")
    assert subprocess.run([script, "--help"], capture_output=True, timeout=60).returncode == 0
    assert subprocess.run([script, "no-such-command"], capture_output=True, timeout=60).returncode == 2
