#!/usr/bin/env bash
# Publishes the draft of a release: `publish.sh TAG`. The action at this tag must know exactly the archives of the draft.
set -euo pipefail
tag=$1
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
gh release download "$tag" --repo "$GITHUB_REPOSITORY" --pattern '*.tar.gz' --dir "$folder"
sums=$(cd "$folder" && sha256sum -- deadheat-*.tar.gz | sed "s|  |  $tag/|")
if [[ $(grep -v '^#' action/release.sha256) != "$sums" ]]; then
  echo "action/release.sha256 does not have the archives of the draft $tag: run .github/record.sh, commit, and move the tag" >&2
  exit 1
fi
gh release edit "$tag" --repo "$GITHUB_REPOSITORY" --verify-tag --draft=false
