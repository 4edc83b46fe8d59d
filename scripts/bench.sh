#!/usr/bin/env bash
# Runs the bench on Node 24, in the Debian 13 that node_versions.sh makes, or on this machine's Node. The programs of peers are built before,
# because that Debian has no compilers.
cd "$(dirname "$0")/.."
bash scripts/secp256k1_library.sh >/dev/null
bash bench/peers/go/build.sh >/dev/null
exec bash scripts/node_versions.sh 24 -- node dist/bench/main.js "$@"
