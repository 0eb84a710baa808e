#!/usr/bin/env bash
# Runs the kernel tests under Oclgrind: data races, uninitialised memory, accesses out of bounds, wrong API calls.
# Oclgrind exits with 0 whatever it finds, so a check passes when its log is empty.
set -euo pipefail
cd "$(dirname "$0")/.."

runtime=$(find /usr/lib /usr/local/lib -name liboclgrind-rt.so -print -quit 2>/dev/null)
if [ -z "$runtime" ] || ! command -v oclgrind >/dev/null; then
    echo "check: error: Oclgrind is not installed; run scripts/setup-opencl.sh" >&2
    exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Functions that return structures are inlined by the optimiser with intrinsics that Oclgrind does not know.
options=-cl-opt-disable

programs=$(cargo test --workspace --quiet --lib --tests --no-run --message-format=json | sed -n 's|.*"executable":"\([^"]*\)".*|\1|p')

# check TEST WHAT [ARGUMENTS]: the tests of a module from outside or of a library, without those or with those alone that the arguments name.
check() {
    test=$1 what=$2
    shift 2
    echo "check: $test under Oclgrind: $what" >&2
    case $test in
    lattice_cl | lattice_linalg)
        binary=$(grep "/$test-" <<<"$programs")
        arguments=("$@")
        ;;
    *)
        binary=$(for program in $programs; do
            "$program" --list --format terse | grep -qE "^(from_outside::)?$test::" && echo "$program"
        done | grep -E "/all-|/lattice_(md|poisson|xc)-" | head -n 1)
        [ -n "$binary" ] || { echo "check: error: no test program has a module $test" >&2; exit 1; }
        # A filter is found anywhere in a name.
        arguments=() filters=0
        while [ $# != 0 ]; do
            if [ "$1" = --skip ]; then
                arguments+=("$1" "$2") && shift 2
            else
                arguments+=("$test::$1") && filters=1 && shift
            fi
        done
        [ "$filters" = 1 ] || arguments+=("$test::")
        ;;
    esac
    # The library loads OpenCL itself, so the simulator's runtime is named to it instead of being preloaded.
    LATTICE_CL_TEST_SMALL=1 LATTICE_CL_NO_CACHE=1 OPENCL_DYLIB_PATH=$runtime \
        oclgrind --build-options "$options" $what --log "$log" "$binary" --test-threads=1 --quiet ${arguments[@]+"${arguments[@]}"}
    if [ -s "$log" ]; then
        cat "$log" >&2
        echo "check: error: Oclgrind found the above in $test" >&2
        exit 1
    fi
}

everything='--data-races --uninitialized --check-api'
for test in device kernels_level1 kernels_bandwidth ladder matrix_operations cholesky lu qr constrained eigen svd batch sparse_products gemm gauge_devices hadron_devices fft pair_forces pair_motion grouped; do
    check "$test" "$everything"
done
check lattice_linalg "$everything" factor::eigen::level factor::eigen::values factor::eigen::tests fft::tiles
# Oclgrind 21.10 itself crashes where it notes that the host has written pinned memory (Uninitialized::hostMemoryStore, MemoryPool::alloc).
# It also takes no two kernels at once, as devices that share densities have them.
check potentials '--data-races --check-api' --skip devices_share --skip slabs_through
check lattice_linalg "$everything" gemm::triangle factor::qr::kernels factor::lu::kernels
check mixed "$everything"
check xc_properties "$everything" the_order_of_points
check sparse_solves "$everything" preconditioners_are_what_they_claim a_cycle_is_symmetric devices_make_the_levels
check sparse_teams "$everything" products_of_teams vectors_in_parts
# Oclgrind takes numbers that kernels of columns have loaded, and links that groups share, for uninitialised as soon as they come to local memory. It
# also loses track of what the host has written into the links of a single device, and reports `multiply` there. All of these numbers are initialised:
# the tests compare results on random links with the twin, so that every number that was read is one that was written. On several devices Oclgrind
# keeps track of links. There the operator and hops in every storage, of one and of several columns, are checked for uninitialised memory.
check even_odd '--data-races --check-api'
# It reports uninitialised numbers in products and updates of triangles here too. The cause is not known; every result is compared with the twin.
check triangular '--data-races --check-api'
check wilson_properties '--data-races --check-api'
check domains "$everything" the_operator
check domains "$everything" every_storage_on_cuts
check domains '--data-races --check-api'
# Kernels that wait for each other need devices that run at the same time. Here flags are raised early, and nobody waits.
check lattice_cl "$everything" early_flags
check site_terms '--data-races --check-api' every_storage_on_every_team_is_the_twin
check lattice_cl "$everything" devices_make_the_matrices_of_the_twin
# So it is with pairs of numbers that are put together.
check lattice_cl '--data-races --check-api' clover_blocks
check lattice_cl '--data-races --check-api' matrix_units_do_what_the_twin_does
check lattice_cl "$everything" multigrid::tests::kernels_alone --skip kernels_alone_put
# Fields that the host has written are like links here.
check lattice_cl '--data-races --check-api' multigrid::tests::kernels_alone_put
echo "check: no findings" >&2
