#!/usr/bin/env bash
# Packs a release: `package.sh BINARY TARGET FOLDER` writes FOLDER/deadheat-TARGET.tar.gz and its .sha256.
# The same commit and binary give the same bytes.
set -euo pipefail
binary=$(realpath -- "$1")
name=deadheat-$2
mkdir -p "$3"
folder=$(cd "$3" && pwd)
cd "$(dirname "$0")/.."

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/$name/action"
install -m 755 "$binary" "$stage/$name/deadheat"
# Of a script, which is what tests pack, there is nothing to strip.
strip "$stage/$name/deadheat" 2>/dev/null || true
install -m 755 action/compare.sh "$stage/$name/action/"
install -m 644 README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT THIRD-PARTY.md "$stage/$name/"
mkdir "$stage/$name/completions" "$stage/$name/man"
for shell in bash fish zsh; do (PATH="$stage/$name:$PATH" && deadheat completions "$shell") >"$stage/$name/completions/deadheat.$shell"; done
"$stage/$name/deadheat" man "$stage/$name/man"

time=$(git log -1 --format=%ct)
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -C "$stage" -cf - "$name" |
  gzip --no-name -9 >"$folder/$name.tar.gz"
cd "$folder"
sha256sum "$name.tar.gz" >"$name.tar.gz.sha256"
