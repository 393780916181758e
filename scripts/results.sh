# shellcheck shell=bash
# Counts and prints results; sourced by the test scripts.

passed=0 failed=0 skipped=0

# result passed|failed|skipped NAME: counts and prints a result.
result() {
  printf '%-8s %s\n' "$1" "$2"
  case $1 in
  passed) passed=$((passed + 1)) ;;
  failed) failed=$((failed + 1)) ;;
  skipped) skipped=$((skipped + 1)) ;;
  esac
}

# result_of STATUS NAME: the same for an exit status; 77 means skipped.
result_of() {
  case $1 in
  0) result passed "$2" ;;
  77) result skipped "$2" ;;
  *) result failed "$2" ;;
  esac
}

# Prints the last line; fails if a test has failed.
summarize() {
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  ((failed == 0))
}
