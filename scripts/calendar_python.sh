#!/usr/bin/env bash
# Prints a Python with exchange_calendars and pandas_market_calendars: other calendars of exchanges, which tests compare with ours. Makes
# an environment with both packages in a cache of the user outside the repository. Needs Python 3.11 or newer; without one the script fails.
set -euo pipefail

cache=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal
folder=$cache/calendar-python-1

if [[ ! -f $folder/ready ]]; then
  # pyenv keeps its versions outside of the path.
  for python in python3 python3.1{1..9} "$HOME"/.pyenv/versions/3.1[1-9].*/bin/python3; do
    command -v "$python" >/dev/null && "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && found=$python
  done
  if [[ -z ${found:-} ]]; then
    echo "no Python 3.11 or newer" >&2
    exit 1
  fi
  rm -rf "$folder"
  "$found" -m venv "$folder" >&2
  "$folder/bin/pip" install --quiet --disable-pip-version-check exchange_calendars==4.13.2 pandas_market_calendars==5.5.0 >&2
  touch "$folder/ready"
fi
echo "$folder/bin/python"
