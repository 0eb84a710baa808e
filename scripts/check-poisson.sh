#!/usr/bin/env bash
# Compares `cr-solve poisson` with PySCF: the Hartree energy of a molecule's density, which PySCF writes as .cube and has in closed form.
# Installs PySCF into target/pyscf. Without it, or without a way to get it, nothing is checked, and this is said.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/python-package.sh
if ! python_with pyscf; then
    echo "SKIPPED: PySCF cannot be installed, so its Hartree energy is not compared" >&2
    exit 0
fi
${CARGO:-cargo} build --quiet -p cr-solve
program=${CARGO_TARGET_DIR:-target}/debug/cr-solve
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Smooth functions: their density is on the mesh to more digits than a cube file has.
wanted=$("$python" - "$folder/density.cube" <<'PYTHON'
import sys
import numpy
from pyscf import gto, scf
from pyscf.tools import cubegen

molecule = gto.M(atom="Li 0 0 -1.4; H 0.3 0 1.2", unit="bohr", verbose=0,
                 basis={"Li": [[0, (0.9, 1)], [0, (0.4, 1)], [1, (0.5, 1)]], "H": [[0, (0.7, 1)]]})
field = scf.RHF(molecule).run()
density = field.make_rdm1()
cubegen.density(molecule, sys.argv[1], density, nx=66, ny=64, nz=70, margin=7.5)
print(float(0.5 * numpy.einsum("ij,ji", density, field.get_j(molecule, density))))
PYTHON
)

for device in host auto; do
    "$program" poisson "$folder/density.cube" --boundary isolated --device "$device" --json --quiet >"$folder/result.json"
    "$python" - "$folder/result.json" "$wanted" "$device" <<'PYTHON'
import json
import sys

found, wanted = json.load(open(sys.argv[1])), float(sys.argv[2])
error = abs(found["energy"] / wanted - 1)
print(f"{sys.argv[3]}: Hartree energy {found['energy']:.9f}, PySCF {wanted:.9f}, relative difference {error:.1e}, "
      f"charge {found['charge']:.7f}")
# A cube file of PySCF has six digits.
sys.exit(error > 1e-5)
PYTHON
done
