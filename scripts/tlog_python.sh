#!/usr/bin/env bash
# Prints a Python that has another implementation of public logs and of their witnesses: aics-tlog and aics-witness. Makes an environment
# with both packages in a cache of the user outside the repository. Needs Python 3.12 or newer; without one the script fails.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal
folder=$cache/tlog-python-1

if [[ ! -f $folder/ready ]]; then
  # pyenv keeps its versions outside of the path.
  for python in python3 python3.1{2..9} "$HOME"/.pyenv/versions/3.1[2-9].*/bin/python3; do
    command -v "$python" >/dev/null && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && found=$python
  done
  if [[ -z ${found:-} ]]; then
    echo "no Python 3.12 or newer" >&2
    exit 1
  fi
  rm -rf "$folder"
  "$found" -m venv "$folder" >&2
  "$folder/bin/pip" install --quiet --disable-pip-version-check aics-tlog==0.2.1 aics-witness==0.1.0 >&2
  touch "$folder/ready"
fi
echo "$folder/bin/python"
