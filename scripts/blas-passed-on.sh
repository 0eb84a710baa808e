#!/usr/bin/env bash
# Times small calls of the reference BLAS and of LAPACK alone, and behind lattice-cl's BLAS, which passes them on.
# blas-passed-on.sh [LIBRARY]: liblattice_cl_blas.so, by default that of `cargo build --release`.
set -euo pipefail
cd "$(dirname "$0")/.."
shim=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/release/liblattice_cl_blas.so}")
places=$(find /usr/lib -path '*/blas/libblas.so.3' -printf '%h\n' -quit):$(find /usr/lib -path '*/lapack/liblapack.so.3' -printf '%h\n' -quit)
program=$(mktemp)
trap 'rm -f "$program"' EXIT
export LD_LIBRARY_PATH=$places
cc -O1 -o "$program" scripts/blas-passed-on.c -Wl,--unresolved-symbols=ignore-all "${places%%:*}/libblas.so.3" "${places##*:}/liblapack.so.3"
for round in 1 2 3; do
    echo "alone:  $("$program")"
    echo "behind: $(LD_PRELOAD=$shim "$program")"
done
