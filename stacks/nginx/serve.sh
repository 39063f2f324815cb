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
tls='#' h2c='#'
[ -z "${TLS_PORT:-}" ] || tls=
[ -z "${H2C_PORT:-}" ] || h2c=
sed -e "s/@USER@/$user/" -e "s/@HOST@/$HOST/" -e "s/@PORT@/$PORT/" -e "s/@CPUS@/$CPUS/" \
    -e "s|@STATIC_DIR@|${STATIC_DIR:-www}|" \
    -e "s/@TLS@/$tls/" -e "s/@TLS_PORT@/${TLS_PORT:-}/" -e "s|@TLS_CERT@|${TLS_CERT:-}|" -e "s|@TLS_KEY@|${TLS_KEY:-}|" \
    -e "s/@H2C@/$h2c/" -e "s/@H2C_PORT@/${H2C_PORT:-}/" nginx.conf.in >&4
exec 4>&-

exec nginx -e stderr -p "$PWD/out/" -c /dev/fd/3
