#!/usr/bin/env bash
# Prints a Python with packages that tests compare with the code of this project. `calendars` has exchange_calendars and
# pandas_market_calendars, other calendars of exchanges; `tlog` has aics-witness, another witness of public logs, and its aics-tlog.
# Makes an environment with the packages in a cache of the user outside the repository. Fails without a Python that is new enough.
set -euo pipefail

case ${1:-} in
  calendars) minor=11 packages=(exchange_calendars==4.13.2 pandas_market_calendars==5.5.0) ;;
  tlog) minor=12 packages=(aics-tlog==0.2.1 aics-witness==0.1.0) ;;
  *) echo "one of: calendars, tlog" >&2 && exit 2 ;;
esac
folder=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal/${1/calendars/calendar}-python-1

if [[ ! -f $folder/ready ]]; then
  # pyenv keeps its versions outside of the path.
  for python in python3 python3.1{1..9} "$HOME"/.pyenv/versions/3.1[1-9].*/bin/python3; do
    command -v "$python" >/dev/null && "$python" -c "import sys; sys.exit(sys.version_info < (3, $minor))" 2>/dev/null && found=$python
  done
  if [[ -z ${found:-} ]]; then
    echo "no Python 3.$minor or newer" >&2
    exit 1
  fi
  rm -rf "$folder"
  "$found" -m venv "$folder" >&2
  "$folder/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" >&2
  touch "$folder/ready"
fi
echo "$folder/bin/python"
