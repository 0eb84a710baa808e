#!/usr/bin/env bash
# Makes sure that OpenCL programs and the kernel checker can run: installs PoCL and Oclgrind where they are missing. Beside them comes an
# allocator with which PoCL compiles faster.
# With the argument blas-testers, also the test programs of the reference BLAS and of LAPACK.
set -euo pipefail

packages=()
have_device() {
    # clinfo lists devices as lines with "Device #".
    command -v clinfo >/dev/null && clinfo -l 2>/dev/null | grep -q 'Device #'
}
have_device || packages+=(clinfo ocl-icd-libopencl1 pocl-opencl-icd)
command -v oclgrind >/dev/null || packages+=(oclgrind)
if [ "${1:-}" = blas-testers ]; then
    # They lie beside the library, in a folder for each Debian architecture.
    [ -n "$(find /usr/lib -path '*/blas/xblat1d' -print -quit 2>/dev/null)" ] || packages+=(libblas-test)
    [ -n "$(find /usr/lib -path '*/lapack/xlintstd' -print -quit 2>/dev/null)" ] || packages+=(liblapack-test)
fi
[ ${#packages[@]} -eq 0 ] && exit 0

echo "setup: installing ${packages[*]}" >&2
if ! command -v apt-get >/dev/null; then
    echo "setup: error: ${packages[*]} are missing, and there is no apt-get to install them with." >&2
    echo "setup: hint: install them with your package manager: PoCL, an OpenCL loader, clinfo, Oclgrind, netlib's BLAS testers." >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        as_root=(sudo -n)
    else
        echo "setup: error: installing packages needs root, and sudo does not grant it without a password." >&2
        echo "setup: hint: run this once, then run again: sudo apt-get install -y ${packages[*]}" >&2
        exit 1
    fi
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq >&2
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
"${as_root[@]}" apt-get install -y -qq --no-install-recommends libmimalloc2.0 >&2 ||
    echo "setup: note: there is no package libmimalloc2.0, without which tests take longer" >&2
have_device || {
    echo "setup: error: OpenCL still shows no device after the installation; see clinfo." >&2
    exit 1
}
