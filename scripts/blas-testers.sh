#!/usr/bin/env bash
# Runs the test programs of the reference BLAS, Fortran's and C's, and of LAPACK, with lattice-cl in front of them
# (crates/blas). Calls that lattice-cl has no function for, and illegal ones, are answered by the reference behind it.
# LAPACK's programs are run with cut inputs. With LATTICE_CL_TEST_ALL=1 they have Debian's, too.
# TYPES has the letters of the types (s d c z).
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup-opencl.sh blas-testers

# One place a Debian architecture: /usr/lib/x86_64-linux-gnu/blas.
testers=$(find /usr/lib -path '*/blas/xblat1d' -printf '%h\n' -quit)
[ -n "$testers" ] || {
    echo "blas-testers: error: no xblat1d under /usr/lib/*/blas; install the test programs of the reference BLAS." >&2
    exit 1
}
# `make test` names the packages that it has built already, so that nothing is built with other features once more.
# shellcheck disable=SC2086
shim=$(cargo build ${BUILT:---package lattice-cl-blas} --message-format=json-render-diagnostics |
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
    cat ./*.out 2>/dev/null | grep -E 'FAIL|failed|\*\*\*|lattice-cl-blas' | head -n 20 >&2 || true
    echo "blas-testers: error: $1: $2" >&2
    failures=$((failures + 1))
}

# tester NAME INPUT PASSES FOLDER: runs a program, which must say so often at least that it passed, and nothing else.
tester() {
    name=$1 input=$2 passes=$3 place=$4
    rm -f ./*
    status=0
    LATTICE_CL_BLAS_LEAST=0 LATTICE_CL_BLAS_ONLY=$only LATTICE_CL_BLAS_CALLS=$folder/calls LD_PRELOAD=$shim \
        LD_LIBRARY_PATH=$testers:$lapack${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
        timeout 1200 "$place/$name" <"$input" >"$name.out" 2>&1 || status=$?
    calls=$(awk '{ sum += $2 } END { print sum + 0 }' calls 2>/dev/null || echo 0)
    passed=$(cat ./*.out | grep -cE -- '----- PASS -----|PASSED THE |passed the t' || true)
    if [ "$status" -ne 0 ]; then
        tail -n 20 "$name.out" >&2
        fail "$name" "exit status $status"
    elif cat ./*.out | grep -qE 'FAIL|failed|\*\*\*|SUSPECT|lattice-cl-blas: warning'; then
        fail "$name" "it reports the above"
    elif [ "$passed" -lt "$passes" ]; then
        fail "$name" "$passed tests passed, at least $passes were expected"
    elif [ "$calls" -eq 0 ]; then
        fail "$name" "no call was computed by lattice-cl"
    else
        echo "blas-testers: $name: $passed tests passed, $calls calls computed by lattice-cl"
    fi
}

lapack=$(find /usr/lib -path '*/lapack/xlintstd' -printf '%h\n' -quit)
only=_
for type in ${TYPES:-s d c z}; do
    # Routines of level 1, and of levels 2 and 3 with one test of results and one of errors each.
    case $type in
    s | d) level1=10 level2=32 level3=12 ;;
    c | z) level1=10 level2=34 level3=18 ;;
    esac
    tester "xblat1$type" /dev/null "$level1" "$testers"
    tester "xblat2$type" "$testers/${type}blat2.in" "$level2" "$testers"
    tester "xblat3$type" "$testers/${type}blat3.in" "$level3" "$testers"
    # The results twice here, once in either order.
    tester "x${type}cblat1" /dev/null "$level1" "$testers"
    tester "x${type}cblat2" "$testers/${type}in2" $((level2 * 3 / 2)) "$testers"
    tester "x${type}cblat3" "$testers/${type}in3" $((level3 * 3 / 2)) "$testers"
done

# Numbers of rows, columns, right-hand sides and blocks; then general, positive definite and orthogonal factorisations,
# and least squares. Two sizes lie beyond a block of the library.
cut_input() {
    printf '%s\n' cut 6 '0 1 2 5 17 66' 6 '0 1 2 5 17 66' 2 '1 3' 2 '1 3' '1 0' 1 50 30.0 T T T \
        "$1GE 11" "$1PO 9" "$1QR 8" "$1LS 6"
}
# Numbers of rows and columns; then the blocks of the reference, the bound of ratios, and which parts of the program run.
# The largest matrix of each kind is beyond what the library leaves to rotations or to the host.
cut_sep() {
    # The reference's own heevr fails at two kinds of this size, 9 and 10.
    printf '%s\n' SEP: 5 '0 1 2 5 66' 1 3 2 0 50.0 F T T 1 'SEP 19' '1 2 3 4 5 6 7 8 11 12 13 14 15 16 17 18 19 20 21'
}
cut_svd() {
    printf '%s\n' SVD: 6 '0 1 3 10 40 68' '3 1 2 16 30 66' 1 3 2 0 2 50.0 F T T 1 'SVD 16'
}
cut_lse() {
    cat "$lapack/lse.in"
}
if [ -n "$lapack" ]; then
    # The products and vectors within LAPACK's own routines are many and small: the programs above test them.
    only=potrf_,potrs_,potri_,posv_,getrf_,getrs_,getri_,gesv_,geqrf_,ormqr_,orgqr_,unmqr_,ungqr_,gels_
    for type in ${TYPES:-s d c z}; do
        input=$(mktemp)
        cut_input "${type^^}" >"$input"
        # Results and error exits of six groups of routines.
        tester "xlintst$type" "$input" 12 "$lapack"
        rm -f "$input"
        [ "${LATTICE_CL_TEST_ALL:-0}" = 0 ] || tester "xlintst$type" "$lapack/${type}test.in" 50 "$lapack"
    done
    # Factors in single precision, refined in double.
    tester xlintstds "$lapack/dstest.in" 4 "$lapack"
    tester xlintstzc "$lapack/zctest.in" 4 "$lapack"

    # Eigenvalues, singular values, and least squares under constraints; all drivers of a kind in one program.
    only=syevd_,heevd_,gesdd_,gesvd_,gglse_
    for type in ${TYPES:-s d c z}; do
        for kind in sep svd lse; do
            input=$(mktemp)
            "cut_$kind" >"$input"
            tester "xeigtst$type" "$input" 1 "$lapack"
            rm -f "$input"
            [ "${LATTICE_CL_TEST_ALL:-0}" = 0 ] || tester "xeigtst$type" "$lapack/$kind.in" 1 "$lapack"
        done
    done
else
    echo "SKIPPED: blas-testers: no xlintstd under /usr/lib/*/lapack; install LAPACK's test programs (liblapack-test)." >&2
fi
[ "$failures" -eq 0 ] || {
    echo "blas-testers: error: $failures test programs failed, see above." >&2
    exit 1
}
