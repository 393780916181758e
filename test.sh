#!/usr/bin/env bash
# Installs missing Debian packages, builds, and runs the tests. Works on a fresh Debian 12 or 13, as
# root or with sudo. The last line counts passed, failed and skipped tests.
#
#   ./test.sh        builds in ./build; where there is no GPU or driver, without the CUDA backend. The
#                    longest tests run in a short form
#   ./test.sh --ci   as in CI: all tests in their long forms, those of a fleet, and those of the CUDA
#                    backend on an emulated device; warnings are errors; also builds with clang and its
#                    address and undefined behaviour sanitizers, runs the fuzzers and the tests with them,
#                    measures the coverage of branches, and checks the format of the sources, the scripts
#                    (shellcheck) and the links of the documentation. A skipped test is a failure, unless
#                    tests/skips.ci has a reason
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"
# shellcheck source=scripts/results.sh
. "$(dirname "${BASH_SOURCE[0]}")/scripts/results.sh"

ci=
case ${1-} in
'') ;;
--ci) ci=yes ;;
-h | --help) show_help && exit ;;
*) die "no such option: $1 (see --help)" ;;
esac

# stage NAME COMMAND...: the log says how long it took.
stage() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  say "$name: $((SECONDS - start)) s"
  return "$status"
}

# check NAME COMMAND...: one test; shows its output only if it fails. Exit status 77 means skipped.
check() {
  local name=$1 status=0
  shift
  stage "$name" quietly "$@" || status=$?
  result_of "$status" "$name"
}

# The suites that run in CI alone.
long_suites=(--no-suite long --no-suite emulation --no-suite seeded-bugs --no-suite fleet)

# meson_tests BUILD FOLDER [OPTION...]: builds in FOLDER with the function BUILD, runs the tests and adds
# up Meson's counts.
meson_tests() {
  local build=$1 folder=$2 name=${2#"$builds/"} log
  shift
  if ! stage "build in $name" "$build" "$@"; then
    result failed "build in $name"
    return
  fi
  log=$folder/meson-logs/console.txt
  stage "tests in $name" run_meson_tests "$folder" "$log" || true
  if ! grep -q '^Ok:' "$log"; then
    result failed "tests in $name: none ran"
    return
  fi
  passed=$((passed + $(count_results 'Ok|Expected Fail' "$log")))
  failed=$((failed + $(count_results 'Fail|Unexpected Pass|Timeout' "$log")))
  skipped=$((skipped + $(count_results 'Skipped' "$log")))
  [[ -z $ci ]] || check "reasons of skipped tests in $name" tests/skips.py tests/skips.ci "$folder/meson-logs/testlog.json"
}

# run_meson_tests FOLDER LOG
run_meson_tests() {
  meson test -C "$1" --no-rebuild --print-errorlogs --timeout-multiplier 3 --num-processes "$processes" "${skip[@]}" </dev/null 2>&1 |
    tee "$2"
}

# The emulated device takes a third of the time to compile.
with_tests=(-Dtests=enabled -Demulation=disabled)

# build_for_this_machine, with the tests, which run.sh leaves out.
build_with_tests() {
  if [[ -f $1/build.ninja ]] && ! ninja -C "$1" -t query all | grep -q tests/engine/checkccl; then
    quietly meson configure "$1" "${with_tests[@]}" || return
  fi
  build_for_this_machine "$1" "${with_tests[@]}"
}

# build_in, with what only the suites of CI need.
build_for_ci() {
  build_in "$@" && quietly ninja -C "$1" seeded-bugs
}

# count_results KINDS LOG: adds up these lines of Meson's summary.
count_results() {
  awk -F: -v kinds="^($1)\$" '$1 ~ kinds { sum += $2 } END { print sum + 0 }' "$2"
}

check_format() {
  local files
  if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
    echo "missing clang-format 14, the version that .clang-format is for"
    return 77
  fi
  mapfile -t files < <(find engine cuda gst apps tests pipelines python docs -regex '.*\.\(c\|h\|hpp\|cpp\|cu\|cuh\)')
  clang-format --dry-run --Werror "${files[@]}"
}

check_shell() {
  local files
  mapfile -t files < <(find . -path './build*' -prune -o -path ./.git -prune -o -name '*.sh' -print)
  shellcheck --external-sources "${files[@]}" .ci/run
}

# Plugins are linked without the sanitizers' library, which is in clang's programs only.
build_with_sanitizers() {
  CC=clang CXX=clang++ build_in "$@" -Dwerror=true -Dbuildtype=debugoptimized -Dfuzz=enabled \
    -Db_sanitize=address,undefined -Db_lundef=false -Dcuda=disabled -Dintrospection=disabled \
    "-Dc_args=-fprofile-instr-generate -fcoverage-mapping" -Dc_link_args=-fprofile-instr-generate
}

# Of ccljson's test.
make_locales() {
  local name
  for name in de_DE fr_FR ru_RU; do
    locale -a | grep -q "^$name.utf8" || as_root localedef --inputfile="$name" --charmap=UTF-8 "$name.UTF-8" || return
  done
}

packages=("${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}")
[[ -z $ci ]] || packages+=("${ci_packages[@]}")
stage "packages" install_missing "${packages[@]}"
# Debian's mosquitto is in /usr/sbin, which users' PATH lacks.
PATH=$PATH:/usr/sbin
cd "$root"
stage "recording" scripts/find-recording.sh >/dev/null || say "no recording: skipping its tests"

# Many tests wait more than they compute: for cameras that are lost, brokers and a browser.
processes=$(($(nproc) + 2))
if [[ -z $ci ]]; then
  processes=$((2 * $(nproc) + 2)) # fewer in CI, whose tests also compute
  skip=("${long_suites[@]}")
  meson_tests build_with_tests "$builds/build"
else
  skip=()
  make_locales
  check "format of the sources" check_format
  check "shellcheck of the scripts" check_shell
  check "site of the documentation" docs/site.sh "$builds/build-ci/site"

  # Two compute capabilities, with and without dependent launches: all of them take four times as
  # long to compile.
  meson_tests build_for_ci "$builds/build-ci" -Dwerror=true -Dcuda-arch=75,90

  # One build for the fuzzers, the sanitizers and the coverage.
  sanitized=$builds/build-clang
  export LLVM_PROFILE_FILE=/dev/null
  stage "build in build-clang" build_with_sanitizers "$sanitized" || true
  # Half a core for each. The same seed each time, so that a failure is due to a change.
  check "fuzzers" tests/fuzz/run.sh --seconds 30 --seed 1 --jobs 4 --build "$sanitized"

  export ASAN_OPTIONS=detect_leaks=1
  export LSAN_OPTIONS=suppressions=$root/tests/lsan.supp:print_suppressions=0
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  # Programs add up their counts, in one file for each that is linked.
  rm -rf "$sanitized/coverage"
  export LLVM_PROFILE_FILE=$sanitized/coverage/%m.profraw
  meson_tests build_with_sanitizers "$sanitized"
  stage "coverage" tests/coverage.py "$sanitized" || result failed "coverage"
fi

summarize
