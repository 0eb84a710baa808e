#!/usr/bin/env bash
# The main job, from nothing to a correlator: a thermalised configuration, one solve, the pion correlator, two plots.
set -euo pipefail
cd "$(dirname "$0")/.."
out=demo
mkdir -p "$out"

# Cargo itself says how far the build is, and where the program lies: the build directory may be set anywhere.
echo "demo: building cr-solve; the first build takes some minutes" >&2
solve=$(cargo build --release --package cr-solve --message-format=json-render-diagnostics |
    sed -n 's|.*"executable":"\([^"]*/cr-solve[^"]*\)".*|\1|p' | tail -n 1)
[ -n "$solve" ] || {
    echo "demo: error: cargo built no program cr-solve; see its messages above." >&2
    exit 1
}
start=$SECONDS

step() { printf '\n$ cr-solve %s\n' "$*"; "$solve" "$@"; }

step devices
step generate --dims 8x8x8x16 --beta 6.0 --sweeps 100 --seed 1 --output "$out/b6.0.ildg" --force
step info "$out/b6.0.ildg"
step invert "$out/b6.0.ildg" --kappa 0.150 --no-tune --plot "$out/residual.svg" --output "$out/solution.lime" --force
step spectrum "$out/b6.0.ildg" --kappa 0.150 --no-tune --plot "$out/pion.svg" --force

printf '\ndemo: done in %d seconds. In %s/: a configuration, a solution, residual.svg and pion.svg\n' $((SECONDS - start)) "$out"
