#!/bin/sh
# Fills nginx.conf.in in from the environment, and becomes nginx.
set -eu
cd "$(dirname "$0")"
mkdir -p out/tmp

# The workers of root's nginx would be "nobody", who may not be able to read a file in root's home.
user=
if [ "$(id -u)" -eq 0 ]; then
    user="user root;"
fi

# As many descriptors as may be had: a connection that is sent the file takes two.
ulimit -S -n "$(ulimit -H -n)"

# A file without a name, which nginx reads through the descriptor: nothing stays behind, however it ends.
conf=$(mktemp)
exec 3<"$conf" 4>"$conf"
rm "$conf"
sed -e "s/@USER@/$user/" -e "s/@HOST@/$HOST/" -e "s/@PORT@/$PORT/" -e "s/@CPUS@/$CPUS/" nginx.conf.in >&4
exec 4>&-

exec nginx -e stderr -p "$PWD/out/" -c /dev/fd/3
