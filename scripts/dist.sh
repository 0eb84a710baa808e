#!/usr/bin/env bash
# Makes the packages of this checkout in target/dist: a wheel of the Python package, a tarball and a .deb of cr-solve for glibc 2.17, its
# debug symbols, and a source tarball with vendored crates. zig links against old symbols. It comes from PyPI with maturin and cargo-zigbuild.
# PROFILE names cargo's profile (release).
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")
glibc=2.17 arch=$(uname -m) profile=${PROFILE:-release}
triple=$arch-unknown-linux-gnu
built=$CARGO_TARGET_DIR/$triple/${profile/#dev/debug}
dist=$CARGO_TARGET_DIR/dist tools=$CARGO_TARGET_DIR/dist-tools
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
name=cr-solve-$version-$arch-linux
rm -rf "$dist"
mkdir -p "$dist"

[ -x "$tools/bin/python" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' 'ziglang>=0.13' 'cargo-zigbuild>=0.20' auditwheel
PATH=$tools/bin:$PATH

echo "dist: program" >&2
cargo zigbuild --quiet --locked --profile "$profile" --target "$triple.$glibc" -p cr-solve
tree=$CARGO_TARGET_DIR/dist-tree/$name
rm -rf "$(dirname "$tree")"
mkdir -p "$tree"/{bin,share/man/man1,share/bash-completion/completions,share/zsh/site-functions,share/fish/vendor_completions.d,share/doc/cr-solve}
objcopy --only-keep-debug "$built/cr-solve" "$dist/$name.debug"
objcopy --strip-unneeded --remove-section=.comment --add-gnu-debuglink="$dist/$name.debug" "$built/cr-solve" "$tree/bin/cr-solve"
packaging/check-glibc.sh "$tree/bin/cr-solve" "$glibc"
program=$tree/bin/cr-solve
"$program" man "$tree/share/man/man1"
gzip -9n "$tree"/share/man/man1/*
"$program" completions bash >"$tree/share/bash-completion/completions/cr-solve"
"$program" completions zsh >"$tree/share/zsh/site-functions/_cr-solve"
"$program" completions fish >"$tree/share/fish/vendor_completions.d/cr-solve.fish"
cp README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT "$tree/share/doc/cr-solve/"
packaging/licences.py cr-solve "$triple" >"$tree/share/doc/cr-solve/THIRD-PARTY.txt"
tar -C "$(dirname "$tree")" --sort=name --owner=0 --group=0 --numeric-owner -czf "$dist/$name.tar.gz" "$name"

if command -v dpkg-deb >/dev/null; then
    echo "dist: .deb" >&2
    packaging/deb.sh "$tree" "$version" "$dist"
else
    echo "dist: there is no dpkg-deb, so no .deb is made" >&2
fi

echo "dist: wheel" >&2
maturin build --quiet --locked --profile "$profile" --zig --target "$triple" --compatibility manylinux2014 --strip \
    --manifest-path crates/python/Cargo.toml --out "$dist"
auditwheel show "$dist"/lattice_cl-*.whl >&2

echo "dist: source" >&2
source=$CARGO_TARGET_DIR/dist-tree/lattice-cl-$version
mkdir -p "$source"
git archive HEAD | tar -x -C "$source"
mkdir "$source/.cargo"
(cd "$source" && cargo vendor --quiet --locked vendor >.cargo/config.toml)
tar -C "$(dirname "$source")" --sort=name --owner=0 --group=0 --numeric-owner -cJf "$dist/lattice-cl-$version-source.tar.xz" "lattice-cl-$version"

(cd "$dist" && sha256sum -- * >SHA256SUMS)
ls -l "$dist" >&2
