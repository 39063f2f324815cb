#!/usr/bin/env bash
# Records which archives the action and the template run: `record.sh TAG FOLDER`, with the release's archives in FOLDER.
# Whoever pins the action pins these, too, wherever the archives are downloaded from.
set -euo pipefail
tag=$1
folder=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

sums=$(cd "$folder" && sha256sum -- deadheat-*.tar.gz | sed "s|  |  $tag/|")
printf '%s\n' "$(grep '^#' action/release.sha256)" "$sums" >action/release.sha256

# In the template it is a variable, because an included file comes alone.
awk -v sums="$sums" -v tag="$tag" '
  /^    DEADHEAT_CI_RECORDED:/ {
    print "    DEADHEAT_CI_RECORDED: |"
    gsub(/\n/, "\n      ", sums)
    print "      " sums
    skip = 1
    next
  }
  skip && /^      / { next }
  { skip = 0 }
  /^    version:/ { version = 1 }
  version && /^      default:/ { $0 = "      default: " tag; version = 0 }
  { print }
' templates/compare.yml >templates/compare.yml.new
mv templates/compare.yml.new templates/compare.yml
