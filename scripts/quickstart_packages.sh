#!/usr/bin/env bash
# Fetches the packages of the quickstarts in Python, Go and Rust, with the commands of their page, and compiles those in Go and Rust. Also
# fetches the Python packages that read exported Parquet files, an older TypeScript, and a generator of Go clients. Prints a name and a folder for each. The
# folders are in a cache of the user outside the repository, and tests use them. The script skips a language that is missing on this
# machine, or whose packages cannot be fetched.
# With --prepared the script fetches nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

option=${1:-}
export page=$PWD/src/client/examples/README.md
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tickseal

# Prints the code block of the page whose first line ends with the argument.
block() { awk -v tag="\`\`\`$1" '$0 == tag {on = 1; next} $0 == "```" {on = 0} on' "$page"; }
export -f block

commands() {
  if [[ $1 == parquet ]]; then
    echo 'python3 -m venv env'
    echo 'env/bin/pip install pyarrow==26.0.1 duckdb==2.0.1'
  elif [[ $1 == ogen ]]; then
    echo 'GOBIN="$PWD" go install github.com/ogen-go/ogen/cmd/ogen@v1.25.0'
  elif [[ $1 == typescript ]]; then
    echo 'npm install --no-audit --no-fund --prefix . typescript@5.4.5'
  else block "sh $1"; fi
}

# A change of the commands causes a new folder.
folder_of() { echo "$cache/quickstart-$1-$(commands "$1" | cksum | cut -d ' ' -f 1)"; }

prepare() {
  local language=$1 tool=$2 compile=${3:-true} folder
  folder=$(folder_of "$language")
  if [[ ! -f $folder/ready ]]; then
    [[ $option != --prepared ]] || return 0
    command -v "$tool" >/dev/null || return 0
    rm -rf "$folder" && mkdir -p "$folder"
    (cd "$folder" && bash -euo pipefail -c "$(commands "$language")") >&2 || return 0
    (cd "$folder" && bash -euc "$compile") >&2 || return 0
    touch "$folder/ready"
  fi
  echo "$language $folder"
}

prepare python python3
prepare parquet python3
prepare typescript npm
prepare ogen go
prepare go go "cp '${page%/*}/tickseal.go' . && go build -o reader ."
prepare rust cargo "block 'rs main.rs' >src/main.rs && CARGO_PROFILE_DEV_DEBUG=0 cargo build --quiet"
