#!/usr/bin/env bash
# deb.sh TREE VERSION FOLDER: makes a Debian package of a tree with bin and share.
set -euo pipefail
tree=$1 version=$2 folder=$3
arch=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/DEBIAN" "$root/usr"
cp -r "$tree"/bin "$tree"/share "$root/usr/"
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root"/usr/share/zsh/site-functions/* "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
{
    echo "Licence: MIT or Apache-2.0, as you like. THIRD-PARTY.txt has the licences of dependencies."
    cat "$tree/share/doc/cr-solve/LICENSE-MIT"
} >"$root/usr/share/doc/cr-solve/copyright"
cat >"$root/DEBIAN/control" <<CONTROL
Package: cr-solve
Version: $version
Architecture: $arch
Maintainer: The lattice-cl developers <lattice-cl@users.noreply.github.com>
Section: science
Priority: optional
Depends: libc6 (>= 2.17)
Recommends: ocl-icd-libopencl1 | libopencl1, pocl-opencl-icd | opencl-icd
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Homepage: https://github.com/lattice-cl/lattice-cl
Description: lattice QCD on any OpenCL device, and on none
 Reads gauge configurations, solves the Dirac equation, and computes propagators
 and correlators. OpenCL is opened at run time and may be absent.
CONTROL
find "$root" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/cr-solve_${version}_$arch.deb" >/dev/null
