#!/usr/bin/env bash
# Prints the path of a current libsecp256k1, for TICKSEAL_SECP256K1_LIBRARY. The first run builds the library with cargo and cc from the
# crates in scripts/secp256k1/Cargo.lock. The result is in a folder of the user outside the repository. With --built the script builds
# nothing.
set -euo pipefail
cd "$(dirname "$0")/secp256k1"

# The version of the libsecp256k1 in the crate secp256k1-sys.
version=0.8.0

folder=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal
# A change of the source causes a new build.
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
# Renaming is atomic, so two runs of this script may happen at the same time.
mv -f "$work"/release/libsecp256k1.[sd][oy]* "$library"
echo "$library"
