#!/usr/bin/env bash
# Compares what a library exports with a list: what programs link with stays. Run by meson test.
#
#   tests/abi.sh LIBRARY LIST                    symbols
#   tests/abi.sh --layout INCLUDE LIST CC...     libcudaccl's structures and constants, compiled by CC
#   tests/abi.sh [--layout] ... --write          writes the list
#
# New symbols belong in the list, structures take it from their reserved fields. If something must go
# or change, so must the library's soversion. Exit status 77: skipped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

need() {
  command -v "$1" >/dev/null || {
    echo "skipped: no $1"
    exit 77
  }
}

write=
[[ ${*: -1} != --write ]] || write=yes
if [[ $1 == --layout ]]; then
  include=$2 list=$3
  need python3
  program=$(mktemp)
  trap 'rm -f "$program"' EXIT
  cc=("${@:4}")
  [[ -z $write ]] || unset 'cc[-1]'
  "$root/docs/engine.py" --layout | "${cc[@]}" -x c -I"$include" -o "$program" -
  found=$("$program")
else
  list=$2
  need nm
  found=$(nm --dynamic --defined-only --format=posix "$1" | cut -d' ' -f1 | LC_ALL=C sort)
fi
if [[ $write ]]; then
  printf '%s\n' "$found" >"$list"
  exit
fi
diff "$list" - <<<"$found" || {
  echo "there is more (>) or less (<) than ${list##*/} lists"
  exit 1
}
