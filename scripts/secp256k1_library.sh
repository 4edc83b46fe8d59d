#!/usr/bin/env bash
# Prints the path of a current libsecp256k1, for TICKSEAL_SECP256K1_LIBRARY. The first time it is built, from the crates that
# scripts/secp256k1/Cargo.lock names, with cargo and cc, into a folder of the user outside the repository. With --built nothing is built.
set -euo pipefail
cd "$(dirname "$0")/secp256k1"

# Of the libsecp256k1 in the crate secp256k1-sys.
version=0.8.0

folder=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal
# Another source is built again.
source=$(cat Cargo.toml Cargo.lock src/lib.rs | cksum | cut -d ' ' -f 1)
library=$folder/libsecp256k1-$version-$source.so
if [[ -f $library ]]; then
  echo "$library"
  exit
fi

if [[ ${1:-} == --built ]]; then
  echo "libsecp256k1 $version has not been built: bash scripts/secp256k1_library.sh" >&2
  exit 1
fi

mkdir -p "$folder"
work=$(mktemp -d "$folder/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
cargo build --quiet --release --locked --target-dir "$work" >&2 || {
  echo "libsecp256k1 $version could not be built: that needs cargo, cc, and the crates of scripts/secp256k1" >&2
  exit 1
}
# Renaming is atomic, so two of these scripts may run at the same time.
mv -f "$work"/release/libsecp256k1.[sd][oy]* "$library"
echo "$library"
