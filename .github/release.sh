#!/usr/bin/env bash
# Builds a release on this machine: `release.sh TARGET FOLDER` writes the archive, its checksum and its SBOM.
# RELEASE_TAG, if it is set, must be that of the version in Cargo.toml.
# TARGET is x86_64-unknown-linux-musl or aarch64-unknown-linux-musl, whichever this machine is.
set -euo pipefail
target=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

version=$(cargo metadata --no-deps --format-version 1 | jq -r '.packages[] | select(.name == "deadheat").version')
if [[ ${RELEASE_TAG:-v$version} != "v$version" ]]; then
  echo "the tag is $RELEASE_TAG, but Cargo.toml has $version: use v$version, or change the version" >&2
  exit 1
fi

rustup target add "$target"
# ring has C and assembler in it.
type -P musl-gcc >/dev/null || sudo apt-get install --yes --no-install-recommends musl-tools
cargo build --release --locked --package deadheat --target "$target"
.github/package.sh "${CARGO_TARGET_DIR:-target}/$target/release/deadheat" "$target" "$folder"

type -P cargo-cyclonedx >/dev/null || cargo install cargo-cyclonedx --locked --version 0.5.9
cargo cyclonedx --manifest-path crates/cli/Cargo.toml --format json --target "$target" --override-filename sbom
mv crates/cli/sbom.json "$folder/deadheat-$target.cdx.json"
# The other crates of the workspace get one, too.
rm -f crates/*/sbom.json xtask/sbom.json
