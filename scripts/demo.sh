#!/usr/bin/env bash
# The main job, from nothing to a correlator: a thermalised configuration, one solve, the pion correlator, two plots.
set -euo pipefail
cd "$(dirname "$0")/.."
out=demo
mkdir -p "$out"

echo "building cr-solve (release) …" >&2
cargo build --release --quiet --bin cr-solve
solve=target/release/cr-solve
start=$SECONDS

step() { printf '\n$ cr-solve %s\n' "$*"; "$solve" "$@"; }

step devices
step generate --dims 8x8x8x16 --beta 6.0 --sweeps 200 --seed 1 --output "$out/b6.0.ildg"
step info "$out/b6.0.ildg"
step invert "$out/b6.0.ildg" --kappa 0.150 --solver cr --no-tune --plot "$out/residual.svg" --output "$out/solution.lime"
step spectrum "$out/b6.0.ildg" --kappa 0.150 --no-tune --plot "$out/pion.svg"

printf '\ndemo: done in %d seconds; in %s/: the configuration, a solution, residual.svg and pion.svg\n' $((SECONDS - start)) "$out"
