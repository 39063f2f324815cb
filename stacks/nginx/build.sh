#!/bin/sh
# Makes the file of 1 MiB, unless it is there.
set -eu
cd "$(dirname "$0")"

size=1048576
file=out/www/payload
if [ -f "$file" ] && [ "$(wc -c <"$file")" -eq "$size" ]; then
    exit
fi
mkdir -p out/www
head -c "$size" /dev/zero | tr '\0' d >"$file.new"
mv "$file.new" "$file"
