#!/usr/bin/env bash
# Runs the fast tests on other versions of Node. Default: `node_versions.sh 22 24 26`. Compile before. The builds of
# uWebSockets.js for Node 22 and 24 need the glibc of Debian 13, so the tests run in a Debian 13 that debootstrap makes; Node comes from its
# packages on npm. Both are in a folder of the user outside the repository. A version for which uWebSockets.js has no build runs the
# tests that open no listener. If the tests cannot run, the script prints one line that begins with `skipped`, and succeeds.
#
# `node_versions.sh 24 -- COMMAND` runs a command instead of the tests. Where there can be no Debian 13, the command runs on this
# machine's Node, and a line says so.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ -d dist/src ]] || { echo "nothing is built: run npm ci first" >&2 && exit 1; }

versions=()
while [[ $# -gt 0 && $1 != -- ]]; do
  versions+=("$1")
  shift
done
[[ ${#versions[@]} -gt 0 ]] || versions=(22 24 26)
command=("${@:2}")

skip() {
  if [[ ${#command[@]} -gt 0 ]]; then
    echo "On Node $(node -p process.versions.node) of this machine: $1" >&2
    exec "${command[@]}"
  fi
  echo "skipped: $1"
  exit 0
}

[[ $(uname -s) == Linux && $(id -u) == 0 ]] || skip "only root may make a Debian 13 to run tests in, and only on Linux"
unshare --mount true 2>/dev/null || skip "this machine permits no mounts"
if ! command -v debootstrap >/dev/null; then
  { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends debootstrap; } >/dev/null 2>&1 ||
    skip "debootstrap is not installed, and apt cannot install it"
fi

case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) skip "there are no packages of Node for $(uname -m)" ;;
esac
folder=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal
debian=$folder/debian-13

mkdir -p "$folder"
if [[ ! -d $debian ]]; then
  work=$(mktemp -d "$folder/debian.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  debootstrap --variant=minbase --include=ca-certificates,git,libatomic1,libsecp256k1-2,openssl,procps trixie "$work" >&2 ||
    skip "Debian 13 cannot be fetched"
  chmod 755 "$work"
  # Renaming is atomic, so two of these scripts may run at the same time.
  mv -T "$work" "$debian"
fi

# In separate namespaces, the mounts end with the processes. The project has the same path inside.
inside='
  set -euo pipefail
  debian=$1 project=$2 bin=$3 cache=$4
  shift 4
  for system in proc sys dev; do mount --rbind "/$system" "$debian/$system"; done
  for path in "$project" "$bin" "$cache"; do
    mkdir -p "$debian$path"
    mount --bind "$path" "$debian$path"
  done
  exec chroot "$debian" env -i HOME=/root XDG_CACHE_HOME="$(dirname "$cache")" LANG=C.UTF-8 PATH="$bin:/usr/bin:/bin" "$@"
'
status=0
for version in "${versions[@]}"; do
  node=$folder/node-$version
  npm install --silent --no-save --ignore-scripts --prefix "$node" "node-linux-$arch@$version" >/dev/null 2>&1 ||
    [[ -x $node/node_modules/node-linux-$arch/bin/node ]] || skip "Node $version cannot be fetched"
  bin=$node/node_modules/node-linux-$arch/bin
  run() { unshare --mount bash -c "$inside" bash "$debian" "$PWD" "$bin" "$folder" sh -c 'cd "$1" && shift && exec "$@"' sh "$PWD" "$@"; }
  if [[ ${#command[@]} -gt 0 ]]; then
    run "${command[@]}" || status=$?
    continue
  fi
  abi=$(run node -p process.versions.modules)
  scope=()
  [[ -f node_modules/uWebSockets.js/uws_linux_${arch}_$abi.node ]] || scope=(--without-listener)
  echo "Node $(run node -p process.versions.node)${scope:+, the tests that open no listener}"
  run node dist/scripts/test/main.js fast "${scope[@]}" || status=1
done
exit "$status"
