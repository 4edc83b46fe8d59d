#!/usr/bin/env bash
# Prints the path of the program in Go. The first run builds it with go and cc. The result is in a folder of the user outside the
# repository.
set -euo pipefail
cd "$(dirname "$0")"

folder=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal
# A change of the source causes a new build.
program=$folder/recover-$(cat go.mod go.sum ./*.go | cksum | cut -d ' ' -f 1)
if [[ ! -f $program ]]; then
  mkdir -p "$folder"
  go build -o "$program" . >&2
fi
echo "$program"
