#!/usr/bin/env bash
# Builds the Python package, installs it into a virtual environment of its own, and runs its tests and type checks, and the notebooks of the book.
# PYTHON names the interpreter, PROFILE cargo's profile (dev), and further arguments are pytest's.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
python=${PYTHON:-python3}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=$target/python-$version wheels=$target/wheels

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' numpy h5py ipykernel matplotlib mypy nbmake pytest
# Without them the tests say that they are skipped.
for package in pyopencl pyerrors; do
    "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" || true
done
CARGO_TARGET_DIR=$target "$venv/bin/maturin" build --quiet --profile "${PROFILE:-dev}" --out "$wheels" \
    --manifest-path crates/python/Cargo.toml --interpreter "$venv/bin/python"
wheel=$(ls -t "$wheels"/lattice_cl-*.whl | head -1)
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"

# From the tests' folder the installed package is found, not the sources.
cd crates/python/tests
"$venv/bin/python" -m mypy --config-file ../pyproject.toml -p lattice_cl
"$venv/bin/python" -m mypy --config-file ../pyproject.toml .
"$venv/bin/python" -m mypy.stubtest lattice_cl --mypy-config-file ../pyproject.toml --allowlist stubtest.txt
"$venv/bin/python" -m pytest --quiet -p no:cacheprovider "$@" .
cd ../../../docs/notebooks
"$venv/bin/python" -m pytest --quiet -p no:cacheprovider --nbmake .
