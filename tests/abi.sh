#!/usr/bin/env bash
# Compares the symbols that libgstccl exports with tests/abi.symbols: those that programs link with
# stay. Run by meson test.
#
#   tests/abi.sh LIBRARY
#
# A new function belongs in the list. If one must go or change, so must the library's soversion.
# Exit status 77: skipped.
set -euo pipefail
list=$(dirname "${BASH_SOURCE[0]}")/abi.symbols

command -v nm >/dev/null || {
  echo "skipped: no nm"
  exit 77
}
diff "$list" <(nm --dynamic --defined-only --format=posix "$1" | cut -d' ' -f1 | LC_ALL=C sort) || {
  echo "${1##*/} exports other symbols (>) than ${list##*/} lists (<)"
  exit 1
}
