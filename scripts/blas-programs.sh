#!/usr/bin/env bash
# Runs programs that were not made for lattice-cl with its BLAS in front of theirs (crates/blas), and compares their
# results with those of their own BLAS: NumPy, and SciPy, Octave and R where they are installed.
# PYTHON names an interpreter with NumPy; without it that of scripts/test-python.sh is taken, or python3.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts=$PWD/scripts
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")

shim=$(${CARGO:-cargo} build --package lattice-cl-blas --message-format=json-render-diagnostics |
    sed -n 's|.*"\(/[^"]*/liblattice_cl_blas\.so\)".*|\1|p' | tail -n 1)
[ -n "$shim" ] || {
    echo "blas-programs: error: cargo built no liblattice_cl_blas.so; see its messages above." >&2
    exit 1
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# The threads of OpenBLAS and a process that is forked do not go together.
export OPENBLAS_NUM_THREADS=1

# with_lattice COMMAND...: the command with lattice-cl's BLAS, which computes everything from small matrices on.
with_lattice() {
    rm -f calls
    LATTICE_CL_BLAS_LEAST=${LATTICE_CL_BLAS_LEAST:-1e5} LATTICE_CL_BLAS_CALLS=$folder/calls LD_PRELOAD=$shim "$@"
}

# expect_calls PROGRAM NAME...: all these routines must have been computed by lattice-cl.
expect_calls() {
    program=$1
    shift
    for name in "$@"; do
        grep -qE "$name" calls || {
            cat calls >&2
            echo "blas-programs: error: $program: no call of $name was computed by lattice-cl" >&2
            exit 1
        }
    done
    echo "blas-programs: $program: $(awk '{ sum += $2 } END { print sum }' calls) calls computed by lattice-cl"
}

# report WHAT PATTERN...: the file `report` must have these lines, and no warnings.
report() {
    what=$1
    shift
    for pattern in "$@"; do
        grep -qE "lattice-cl-blas: .*$pattern" report && ! grep -q "lattice-cl-blas: warning" report || {
            cat report >&2
            echo "blas-programs: error: $what: no line of the report has $pattern, or there is a warning" >&2
            exit 1
        }
    done
    echo "blas-programs: $what: reported"
}

for python in ${PYTHON:-"$target"/python-*/bin/python python3}; do
    "$python" -c 'import numpy' 2>/dev/null && break
    python=
done
if [ -n "$python" ]; then
    "$python" "$scripts/blas-programs.py" own.npz
    with_lattice "$python" "$scripts/blas-programs.py" lattice.npz
    "$python" "$scripts/blas-programs.py" own.npz lattice.npz
    expect_calls NumPy sgemm dgemm cgemm zgemm dgesv zgesv dpotrf dgeqrf dorgqr dsyevd zheevd dgesdd zgesdd
    if "$python" -c 'import scipy' 2>/dev/null; then
        expect_calls SciPy ssyevd cheevd sgesdd cgesdd dgesvd sgglse dgglse cgglse zgglse dgetrf
    fi
    LATTICE_CL_BLAS_DEVICE=0.0 with_lattice "$python" "$scripts/blas-programs.py" lattice.npz
    expect_calls "NumPy on a named device" dgemm dgesv
    (export LATTICE_CL_BLAS_CHECK=1 && with_lattice "$python" "$scripts/blas-programs.py" lattice.npz) 2>report
    "$python" "$scripts/blas-programs.py" own.npz lattice.npz
    report "calls compared with the next library" 'dgemm64_ .* [1-9][0-9]* +[0-9.]+$' 'dsyevd' 'dgesdd'
    (export LATTICE_CL_BLAS_REPORT=1 LATTICE_CL_BLAS_DEVICE=0.0,0.1 POCL_DEVICES="pthread pthread" &&
        with_lattice "$python" "$scripts/blas-programs.py" lattice.npz) 2>report
    "$python" "$scripts/blas-programs.py" own.npz lattice.npz
    report "products on two devices" 'computed on 0\.0 .* and 0\.1 ' 'dgemm64_ +[1-9]'
    env LATTICE_CL_BLAS_REPORT=1 LD_PRELOAD="$shim" "$python" "$scripts/blas-programs.py" lattice.npz 2>report
    "$python" "$scripts/blas-programs.py" own.npz lattice.npz
    report "break-even by measured rates" 'dgemm [0-9.]+ GFLOP/s on the device, [0-9.]+ GFLOP/s in the next library'
    LATTICE_CL_BLAS_LEAST=0 with_lattice "$python" "$scripts/blas-gemm3m.py" "$shim"
    expect_calls gemm3m cblas_cgemm3m64_ cblas_zgemm3m64_ scipy_cgemm3m_64_ scipy_zgemm3m_64_
    LATTICE_CL_BLAS_OFF=1 with_lattice "$python" "$scripts/blas-gemm3m.py" "$shim"
    for setting in LATTICE_CL_BLAS_OFF=1 LATTICE_CL_BLAS_DEVICE=nowhere; do
        (export "${setting?}" && with_lattice "$python" "$scripts/blas-programs.py" lattice.npz) 2>warnings
        "$python" "$scripts/blas-programs.py" own.npz lattice.npz
        [ ! -e calls ] || {
            echo "blas-programs: error: $setting: calls were computed by lattice-cl" >&2
            exit 1
        }
    done
    grep -q nowhere warnings || {
        echo "blas-programs: error: nothing warns of a device that is not there" >&2
        exit 1
    }
else
    echo "SKIPPED: blas-programs: no Python with NumPy; name one by PYTHON." >&2
fi

# The numbers are made by the same formula in both, and written with all digits.
cat >job.m <<'OCTAVE'
n = 150; [i, j] = ndgrid(1:n, 1:n);
a = sin(0.7 * i .* j) / sqrt(n) + 3 * eye(n); b = cos(0.3 * i + j);
printf("%.17g\n", a * b, a \ b, chol(a * a'), inv(a), svd(a));
OCTAVE
cat >job.R <<'R'
n <- 150; a <- outer(1:n, 1:n, function(i, j) sin(0.7 * i * j)) / sqrt(n) + 3 * diag(n)
b <- outer(1:n, 1:n, function(i, j) cos(0.3 * i + j))
cat(sprintf("%.17g\n", c(a %*% b, solve(a, b), chol(a %*% t(a)), solve(a), svd(a)$d)), sep = "")
R
# close_numbers: two files of numbers must be close.
close_numbers() {
    paste own.txt lattice.txt | awk '
        NF != 2 { print "blas-programs: error: line " NR " has no two numbers"; exit 1 }
        { d = $1 - $2; d = d < 0 ? -d : d; size = $1 < 0 ? -$1 : $1; if (!(d <= 1e-12 * (1 + size))) {
            print "blas-programs: error: number " NR ": " $1 " and " $2; exit 1 } }' >&2
}
for job in "octave-cli --no-init-file job.m" "Rscript --vanilla job.R"; do
    program=${job%% *}
    command -v "$program" >/dev/null || {
        echo "SKIPPED: blas-programs: there is no $program." >&2
        continue
    }
    $job >own.txt
    with_lattice $job >lattice.txt
    close_numbers
    expect_calls "$program" dgemm 'dgetrf|dgesv_' dpotrf 'dgesvd|dgesdd'
done
