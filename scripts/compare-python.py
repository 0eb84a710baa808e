#!/usr/bin/env python3
"""Compares a solve from Python with the same solve by the program of the same package, whole times beside those of the method.

    scripts/compare-python.py FILE [--kappa 0.132] [--tol 1e-10] [--solver cg] [--device 0.0] [--rounds 5] [--propagator] [--json FILE]

Run it by a Python that has the package. Each round has one process for each: the program tells its times by --json, Python takes its own.
Both read the file, open the device, solve for a point source, and have the solution in memory of the host. Python solves a second time:
then no kernel is compiled or loaded, and the program's time of the solve has no compiling either. `--propagator` solves for all twelve
columns, with the pion in both. Rows are medians of the rounds, and differences are of the medians.

`invert` tells the time of its method alone, `spectrum` that of all solves with the way of solutions to the host. The time of the call in
Python is that of the library: source, method, and the way of the solution to the host.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time


def from_python(arguments):
    """Solves twice in this process, and prints the times as JSON."""
    import lattice_cl as lc

    begun = time.perf_counter()
    gauge = lc.read_gauge(arguments.file)
    read = time.perf_counter()
    dirac = lc.Wilson(gauge, kappa=arguments.kappa, devices=arguments.device)
    made = time.perf_counter()
    rounds, sums = [], None
    for _ in range(2):
        before = time.perf_counter()
        if arguments.propagator:
            propagator = dirac.propagator("point:0,0,0,0", tol=arguments.tol, solver=arguments.solver)
            pion = propagator.correlator("pion")
            report, sums = propagator.report, float(pion.sum())
        else:
            x, report = dirac.solve("point:0,0,0,0", spin=0, colour=0, tol=arguments.tol, solver=arguments.solver)
        whole = time.perf_counter() - before
        rounds.append({"method": report.seconds, "call": report.total_seconds, "whole": whole, "iterations": report.iterations})
    times = {"read": read - begun, "operator": made - read, "first": rounds[0], "second": rounds[1], "pion": sums}
    print(json.dumps(times))


def by_program(arguments):
    """Runs the program, and returns its times and iterations."""
    task = ["spectrum"] if arguments.propagator else ["invert", "--spin", "0", "--color", "0"]
    line = [sys.executable, "-m", "lattice_cl", *task, arguments.file, "--kappa", str(arguments.kappa), "--tol", str(arguments.tol)]
    run = subprocess.run([*line, "--solver", arguments.solver, "--device", arguments.device, "--json"], check=True, capture_output=True, text=True)
    result = json.loads(run.stdout)
    seconds = result["seconds"]
    solves = result.get("solves") or [result]
    return {
        "setup": seconds["setup"],
        "compile": seconds["compile"],
        # All that is neither set-up nor compiling, and the method alone.
        "whole": seconds["solve"] + seconds.get("prepare", 0.0),
        "iterations": sum(solve["iterations"] for solve in solves),
    }


def median(rounds, *keys):
    def of(value):
        for key in keys:
            value = value[key]
        return value

    return statistics.median(of(one) for one in rounds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--kappa", type=float, default=0.132)
    parser.add_argument("--tol", type=float, default=1e-10)
    parser.add_argument("--solver", default="cg")
    parser.add_argument("--device", default="0.0")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--propagator", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--in-python", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.in_python:
        return from_python(arguments)
    same = ["--kappa", str(arguments.kappa), "--tol", str(arguments.tol), "--device", arguments.device, "--solver", arguments.solver]
    same += ["--propagator"] if arguments.propagator else []
    program, python = [], []
    # The first round fills the caches of compiled kernels and of the file, and does not count.
    for number in range(arguments.rounds + 1):
        one = by_program(arguments)
        run = subprocess.run([sys.executable, __file__, arguments.file, *same, "--in-python"], check=True, capture_output=True, text=True)
        if number > 0:
            program.append(one)
            python.append(json.loads(run.stdout))
    if median(program, "iterations") != median(python, "second", "iterations"):
        sys.exit("the solves differ: their iterations are not the same")
    whole, method = median(python, "second", "whole"), median(python, "second", "method")
    theirs = median(program, "whole")
    print(f"{arguments.file}, kappa {arguments.kappa}, tol {arguments.tol}, {arguments.solver}, {'12 columns' if arguments.propagator else '1 column'}, device {arguments.device}")
    print(f"iterations                 {median(program, 'iterations'):.0f}")
    print(f"program, solve             {theirs:.4f} s (set-up {median(program, 'setup'):.3f}, compile {median(program, 'compile'):.3f})")
    print(f"Python, second solve       {whole:.4f} s (read {median(python, 'read'):.3f}, operator {median(python, 'operator'):.3f}, first solve {median(python, 'first', 'whole'):.3f})")
    print(f"Python, time of the call   {median(python, 'second', 'call'):.4f} s")
    print(f"Python, method             {method:.4f} s")
    if arguments.propagator:
        print(f"Python beside the program  {100 * (whole / theirs - 1):+.2f} %")
    else:
        print(f"Python beside the call     {100 * (whole / median(python, 'second', 'call') - 1):+.2f} %")
    all_of = [
        statistics.median(one["setup"] + one["compile"] + one["whole"] for one in program),
        statistics.median(one["read"] + one["operator"] + one["first"]["whole"] for one in python),
    ]
    print(f"from file to solution      program {all_of[0]:.4f} s, Python {all_of[1]:.4f} s, {100 * (all_of[1] / all_of[0] - 1):+.2f} %")
    print(f"Python beside the method   {100 * (whole / method - 1):+.2f} %")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"arguments": vars(arguments), "program": program, "python": python}, file, indent=1)


if __name__ == "__main__":
    main()
