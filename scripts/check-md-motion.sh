#!/usr/bin/env bash
# Moves 500 argon atoms for 100 000 steps of 2 fs in double, without a break and killed three times, and compares every bit of rows and trajectories.
# Then moves them in mixed precision, and checks that the total energies of both do not drift.
#
#     scripts/check-md-motion.sh [STEPS]
set -euo pipefail
cd "$(dirname "$0")/.."

steps=${1:-100000}
${CARGO:-cargo} build --quiet -p cr-solve
program=$(realpath "${CARGO_TARGET_DIR:-target}/debug/cr-solve")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# A crystal of 5x5x5 cells of four atoms, in a box with an edge of 27 Å.
awk 'BEGIN {
    print 500; print "Lattice=\"27 0 0 0 27 0 0 0 27\" Properties=species:S:1:pos:R:3"
    split("0 0 0 0 .5 .5 .5 0 .5 .5 .5 0", corner, " ")
    for (i = 0; i < 125; ++i) for (c = 0; c < 4; ++c)
        print "Ar", 5.4 * (i % 5 + corner[3 * c + 1]), 5.4 * (int(i / 5) % 5 + corner[3 * c + 2]), 5.4 * (int(i / 25) + corner[3 * c + 3])
}' >argon.xyz

# motion NAME PRECISION [OPTIONS]
motion() {
    name=$1 precision=$2
    shift 2
    "$program" md run argon.xyz --lj Ar=0.238,3.405 --cutoff 8.5 --shift force --temperature 90 --step 2 --steps "$steps" --every 100 \
        --precision "$precision" --trajectory "$name.xyz" --json --quiet "$@" >"$name.json"
}

motion whole double
kills=0
while [ "$kills" -lt 3 ]; do
    rm -f seen
    motion killed double --checkpoint state --checkpoint-every 0s &
    running=$!
    touch seen
    # Dies as soon as it has kept a state that is newer, and has moved on for a moment.
    until [ state -nt seen ] || ! kill -0 "$running" 2>/dev/null; do sleep 0.1; done
    sleep 1
    child=$(pgrep -P "$running" || true)
    if [ -z "$child" ]; then
        echo "check: error: the motion ended before it was killed; give more steps" >&2
        exit 1
    fi
    kill -9 "$child"
    wait "$running" 2>/dev/null || true
    kills=$((kills + 1))
done
motion killed double --checkpoint state --checkpoint-every 60s
cmp whole.xyz killed.xyz
motion mixed mixed

python3 - <<'PYTHON'
import json

whole, killed, mixed = (json.load(open(f"{name}.json")) for name in ("whole", "killed", "mixed"))
assert killed["resumed_from"] > 0 and killed["rows"] == whole["rows"], "the motions differ"
print(f"killed three times, last resumed from step {killed['resumed_from']}: every bit is the same")
for result, goal in ((whole, 1e-6), (mixed, 1e-5)):
    drift = result["drift"]
    found = drift["relative_per_atom_per_ns"]
    print(
        f"{result['precision']}: {result['steps']} steps, drift {found:.1e} of the kinetic energy, "
        f"{drift['per_atom_per_ns']:.1e} kcal/mol, for each ns and atom; goal {goal:.0e}; {result['steps_per_second']:.0f} steps/s"
    )
    assert result["steps"] < 100_000 or abs(found) < goal, "the energy drifts"
PYTHON
