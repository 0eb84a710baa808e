#!/usr/bin/env bash
# Builds the book of docs/ into target/book. Installs mdBook into target/tools where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$PWD/target/tools
PATH=$PATH:$tools/bin
if ! command -v mdbook >/dev/null; then
    echo "book: installing mdBook into $tools" >&2
    # A debug build compiles in half the time, and the book is small.
    ${CARGO:-cargo} install mdbook --version 0.5.4 --locked --no-default-features --debug --quiet --root "$tools"
fi
mdbook build docs --dest-dir "$PWD/target/book"
