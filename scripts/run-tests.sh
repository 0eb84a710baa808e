#!/usr/bin/env bash
# Builds every test and runs them, one test program a core. PoCL compiles the kernels of a process one after the other, so that a
# single program, as `cargo test` runs them, keeps one core busy however many threads it has.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
# These start first, because they compile the most kernels. Every other test program that cargo knows follows.
long='lattice_cl|domains|wilson_properties|reference_values|even_odd|cli_solve|solving|cli_bench_report|mpi|fused_updates'

# Folder of the package and path of the test program, a tab between them.
programs=$("$cargo" test --workspace --quiet --no-run --message-format=json-render-diagnostics |
    sed -n 's|.*"manifest_path":"\([^"]*\)/Cargo\.toml".*"overflow_checks":[a-z]*,"test":true}.*"executable":"\([^"]*\)".*|\1\t\2|p')
# Minutes each: whole solves for figures of the documents, a Monte Carlo run, every edit of a tuning file, every site term and Schur complement on every team.
# `make check` runs them.
[ -n "${LATTICE_CL_TEST_ALL:-}" ] ||
    programs=$(grep -vE '/(fixed_point_clover|quenched_plaquette|edited_tuning_file|site_terms|preconditioning)-[0-9a-f]+$' <<<"$programs")
ordered=$(
    grep -E "/($long)-[0-9a-f]+\$" <<<"$programs" || true
    grep -vE "/($long)-[0-9a-f]+\$" <<<"$programs"
)

run_one() {
    folder=${1%%$'\t'*} program=${1#*$'\t'}
    name=$(basename "$program" | sed 's/-[0-9a-f]*$//')
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    cd "$folder"
    if CARGO_MANIFEST_DIR=$folder timeout -k 10 900 "$program" >"$log" 2>&1; then
        echo "test: $name:$(grep -h '^test result:' "$log" | cut -d: -f2-)"
        grep '^SKIPPED' "$log" | sort -u || true
    else
        status=$?
        # Whatever did not end in `ok`: failures, and, of a program that hangs, the tests that had been running for a minute.
        grep -vE '^test .* \.\.\. ok$' "$log" || true
        [ "$status" = 124 ] && echo "test: error: $name did not end in 900 s; a test above that is running for over 60 seconds hangs"
        echo "test: error: $name failed, see above; to run it alone: $program"
        return 1
    fi
}
export -f run_one

tr '\n' '\0' <<<"$ordered" | xargs -0 -n 1 -P "$(getconf _NPROCESSORS_ONLN)" bash -c 'run_one "$1"' run
"$cargo" test --workspace --doc --quiet
