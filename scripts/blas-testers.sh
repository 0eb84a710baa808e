#!/usr/bin/env bash
# Runs the test programs of the reference BLAS, Fortran's and C's, with lattice-cl in front of it (crates/blas).
# Calls that lattice-cl has no function for, and illegal ones, are answered by the reference behind it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup-opencl.sh blas-testers

# One place a Debian architecture: /usr/lib/x86_64-linux-gnu/blas.
testers=$(find /usr/lib -path '*/blas/xblat1d' -printf '%h\n' -quit)
[ -n "$testers" ] || {
    echo "blas-testers: error: no xblat1d under /usr/lib/*/blas; install the test programs of the reference BLAS." >&2
    exit 1
}
shim=$(cargo build --package lattice-cl-blas --message-format=json-render-diagnostics |
    sed -n 's|.*"\(/[^"]*/liblattice_cl_blas\.so\)".*|\1|p' | tail -n 1)
[ -n "$shim" ] || {
    echo "blas-testers: error: cargo built no liblattice_cl_blas.so; see its messages above." >&2
    exit 1
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

failures=0
fail() {
    cat ./*.out 2>/dev/null | grep -E 'FAIL|\*\*\*' | head -n 20 >&2 || true
    echo "blas-testers: error: $1: $2" >&2
    failures=$((failures + 1))
}

# tester NAME INPUT PASSES: runs a program, which must say so often at least that it passed, and nothing else.
tester() {
    name=$1 input=$2 passes=$3
    rm -f ./*
    status=0
    LATTICE_CL_BLAS_CALLS=$folder/calls LD_PRELOAD=$shim LD_LIBRARY_PATH=$testers${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        timeout 600 "$testers/$name" <"$input" >"$name.out" 2>&1 || status=$?
    calls=$(awk '{ sum += $2 } END { print sum + 0 }' calls 2>/dev/null || echo 0)
    passed=$(cat ./*.out | grep -cE -- '----- PASS -----|PASSED THE ' || true)
    if [ "$status" -ne 0 ]; then
        tail -n 20 "$name.out" >&2
        fail "$name" "exit status $status"
    elif cat ./*.out | grep -qE 'FAIL|\*\*\*|SUSPECT'; then
        fail "$name" "it reports the above"
    elif [ "$passed" -lt "$passes" ]; then
        fail "$name" "$passed tests passed, at least $passes were expected"
    elif [ "$calls" -eq 0 ]; then
        fail "$name" "no call was computed by lattice-cl"
    else
        echo "blas-testers: $name: $passed tests passed, $calls calls computed by lattice-cl"
    fi
}

for type in s d c z; do
    # Routines of level 1, and of levels 2 and 3 with one test of results and one of errors each.
    case $type in
    s | d) level1=10 level2=32 level3=12 ;;
    c | z) level1=10 level2=34 level3=18 ;;
    esac
    tester "xblat1$type" /dev/null "$level1"
    tester "xblat2$type" "$testers/${type}blat2.in" "$level2"
    tester "xblat3$type" "$testers/${type}blat3.in" "$level3"
    # The results twice here, once in either order.
    tester "x${type}cblat1" /dev/null "$level1"
    tester "x${type}cblat2" "$testers/${type}in2" $((level2 * 3 / 2))
    tester "x${type}cblat3" "$testers/${type}in3" $((level3 * 3 / 2))
done
[ "$failures" -eq 0 ] || {
    echo "blas-testers: error: $failures of 24 test programs failed, see above." >&2
    exit 1
}
