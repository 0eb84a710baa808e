#!/usr/bin/env bash
# Installs a wheel into empty virtual environments and makes a first propagator there: with the OpenCL devices of the machine, and without any OpenCL.
# Arguments: the wheel (default: the newest of `make dist`), then interpreters (default: 3.10 and 3.13, of pyenv too, and python3).
# The newest glibc that its library may need is GLIBC (2.28, of RHEL 8; 2.17 is that of manylinux2014).
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
wheel=$(realpath "${1:-$(ls -t "$target"/dist/lattice_cl-*.whl | head -1)}")
shift || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

interpreters=("$@")
if [ ${#interpreters[@]} = 0 ]; then
    for version in 3.10 3.13; do
        found=
        # A name may be a shim of pyenv that starts nothing.
        for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python; do
            if "$candidate" --version >/dev/null 2>&1; then found=$candidate && break; fi
        done
        if [ -n "$found" ]; then interpreters+=("$found"); else echo "SKIPPED: there is no Python $version" >&2; fi
    done
    interpreters+=(python3)
fi

python3 -m zipfile -e "$wheel" "$work/content"
packaging/check-glibc.sh "$work"/content/lattice_cl/_native*.so "${GLIBC:-2.28}"

# In a folder of its own, so that no sources are found.
cd "$work"
cat >first.py <<'PYTHON'
import sys, time
begun = time.monotonic()
import lattice_cl as lc
S = lc.Wilson(lc.Gauge.unit((4, 4, 4, 8)), kappa=0.12).propagator(lc.source.wall(t=0), tol=1e-10)
assert max(solve.residual for solve in S.report.solves) < 1e-10
print(f"  first propagator after {time.monotonic() - begun:.1f} s on {S.report.devices[0]}")
PYTHON
# seconds WORDS COMMAND...: runs it, and tells how long it took.
seconds() {
    local begun=$EPOCHREALTIME
    "${@:2}"
    awk -v a="$begun" -v b="$EPOCHREALTIME" -v words="$1" 'BEGIN { printf "  %s in %.1f s\n", words, b - a }'
}
for interpreter in "${interpreters[@]}"; do
    "$interpreter" --version
    rm -rf venv
    "$interpreter" -m venv venv
    seconds "pip install" venv/bin/pip install --quiet --disable-pip-version-check "$wheel"
    venv/bin/python first.py
    OCL_ICD_VENDORS=$work/none OPENCL_DYLIB_PATH=$work/none/libOpenCL.so venv/bin/python first.py
    [ "$(venv/bin/cr-solve --version)" = "$(venv/bin/python -m lattice_cl --version)" ]
done
