#!/usr/bin/env bash
# Builds every test and runs them, a process for each module of a test program and a process a core. PoCL compiles the kernels of a process
# one after the other, so that a single program, as `cargo test` runs them, keeps one core busy however many threads it has.
# Arguments choose modules: `scripts/run-tests.sh domains cli_solve`.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
# These start first, because they compile the most kernels. Every other module follows.
long='cli_solve|mpi|reference_values|domains|wilson_properties|even_odd|solving|pair_range|cli_bench_report|fused_updates|modes|fft|multigrid'
# Minutes each: whole solves for figures of the documents, a Monte Carlo run, every edit of a tuning file, every site term and Schur complement on every team.
minutes='fixed_point_clover|quenched_plaquette|edited_tuning_file|site_terms|preconditioning'
if [ -n "${LATTICE_CL_TEST_ALL:-}" ]; then
    minutes='-'
else
    # Compiling is most of what tests on PoCL do, and twice as fast without optimisation. `make check` tests what PoCL optimises.
    export POCL_EXTRA_BUILD_FLAGS=${POCL_EXTRA_BUILD_FLAGS--cl-opt-disable}
fi
# In a process that compiles hundreds of programs PoCL spends half of its time in glibc's allocator. The program is tested as its users have it.
allocator=$(ldconfig -p 2>/dev/null | sed -n 's/.*libmimalloc\.so\.2 .* => //p' | head -1)
export allocator

# Folder of the package and path of the test program, a tab between them.
programs=$("$cargo" test --workspace --tests --quiet --no-run --message-format=json-render-diagnostics |
    sed -n 's|.*"manifest_path":"\([^"]*\)/Cargo\.toml".*"overflow_checks":[a-z]*,"test":true}.*"executable":"\([^"]*\)".*|\1\t\2|p')
echo "test: all programs are built after $SECONDS s"
chosen='.*'
[ $# = 0 ] || chosen=$(IFS='|' && echo "$*") minutes='-'
# A module behind each program. Tests from outside a crate are a floor deeper.
modules=$(while IFS=$'\t' read -r folder program; do
    "$program" --list --format terse | sed -n 's/: test$//p' | sed -E 's/^((from_outside::)?[^:]*).*/\1/' | sort -u |
        while read -r module; do printf '%s\t%s\t%s\n' "$folder" "$program" "$module"; done
done <<<"$programs" | grep -E "[	:]($chosen)\$" | grep -vE "[	:]($minutes)\$")
ordered=$(
    for name in ${long//|/ }; do grep -E "[	:]$name\$" <<<"$modules" || true; done
    grep -vE "[	:]($long)\$" <<<"$modules" || true
)

run_one() {
    IFS=$'\t' read -r folder program module <<<"$1"
    name="$(basename "$folder") $module"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    cd "$folder"
    # By full names: a filter is found anywhere in a name.
    mapfile -t tests < <("$program" --list --format terse | sed -n 's/: test$//p' | grep -E "^$module(::|\$)")
    begin=$SECONDS
    preload=$allocator
    [ "$(basename "$folder")" != cr-solve ] || preload=
    if LD_PRELOAD=$preload CARGO_MANIFEST_DIR=$folder timeout -k 10 900 "$program" --exact "${tests[@]}" >"$log" 2>&1; then
        result=$(grep -h '^test result:' "$log" | cut -d: -f2-)
        grep '^SKIPPED' "$log" | sort -u || true
        # A file, because a process of a pipe would tell its own times.
        times >"$log"
        echo "test: $name:$result; processors (user, system): $(tail -n 1 "$log")"
    else
        status=$?
        # Whatever did not end in `ok`: failures, and, of a program that hangs, the tests that had been running for a minute.
        grep -vE '^test .* \.\.\. ok$' "$log" || true
        [ "$status" = 124 ] && echo "test: error: $name did not end in 900 s; a test above that is running for over 60 seconds hangs"
        echo "test: error: $name failed after $((SECONDS - begin)) s, see above; to run it alone: (cd $folder && $program $module)"
        return 1
    fi
}
export -f run_one

tr '\n' '\0' <<<"$ordered" | xargs -0 -n 1 -P "$(getconf _NPROCESSORS_ONLN)" bash -c 'run_one "$1"' run
[ $# != 0 ] || "$cargo" test --workspace --doc --quiet
