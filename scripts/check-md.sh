#!/usr/bin/env bash
# Opens a trajectory of `cr-solve md run` with ASE, and compares an energy and forces with ASE's own Lennard-Jones calculator.
# Installs ASE into target/ase. Without it, or without a way to get it, nothing is checked, and this is said.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/python-package.sh
if ! python_with ase; then
    echo "SKIPPED: ASE cannot be installed, so no trajectory is opened with it" >&2
    exit 0
fi
${CARGO:-cargo} build --quiet -p cr-solve
program=$(realpath "${CARGO_TARGET_DIR:-target}/debug/cr-solve")
python=$(realpath -s "$python")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

"$python" - <<'PYTHON'
from ase.build import bulk
from ase.io import write

atoms = bulk("Ar", "fcc", a=5.4, cubic=True).repeat(4)
atoms.rattle(0.2, seed=1)
write("atoms.xyz", atoms, format="extxyz")
PYTHON
options="--lj Ar=0.238,3.405 --cutoff 8.5 --quiet"
"$program" md run atoms.xyz $options --shift force --temperature 60 --step 2 --steps 40 --every 10 --trajectory out.xyz >text
"$program" md forces atoms.xyz $options --shift energy --precision double --forces f.npy --json >result.json
"$python" - <<'PYTHON'
import json

import numpy
from ase.calculators.lj import LennardJones
from ase.io import read

frames = read("out.xyz", index=":", format="extxyz")
assert len(frames) == 5 and all(len(frame) == 256 for frame in frames), frames
assert numpy.allclose(frames[0].cell.lengths(), 21.6) and all(frame.pbc.all() for frame in frames)
assert frames[-1].info["step"] == 40 and frames[-1].arrays["vel"].shape == (256, 3)

atoms = read("atoms.xyz", format="extxyz")
atoms.calc = LennardJones(epsilon=0.238, sigma=3.405, rc=8.5)
found, forces = json.load(open("result.json")), numpy.load("f.npy")
wanted = atoms.get_potential_energy()
energy = abs(found["energy"] / wanted - 1)
force = numpy.linalg.norm(forces - atoms.get_forces()) / numpy.linalg.norm(forces)
print(f"energy {found['energy']:.9f}, ASE {wanted:.9f}, relative differences {energy:.1e}, of forces {force:.1e}")
assert energy < 1e-9 and force < 1e-9
PYTHON

cd - >/dev/null
scripts/check-md-motion.sh
