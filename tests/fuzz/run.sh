#!/usr/bin/env bash
# Builds the fuzzers with clang and the address and undefined behaviour sanitizers in ./build-fuzz, and
# runs them, each with the inputs in corpus/ and those that it found before.
#
#   tests/fuzz/run.sh [OPTION...] [TARGET...]
#
# TARGET         default: all; --list lists them
# --seconds N    how long each target runs; default: 60
# --runs N       how many inputs each target runs instead
# --seed N       of libFuzzer; default: a new one each time, which the log begins with
# --jobs N       targets at a time; default: the number of processors
# --build FOLDER default: ./build-fuzz. FOLDER/found keeps inputs and crashes between runs
# --keep         adds what was found to the corpus of the sources, as few and small inputs as
#                cover the same
#
# The last line counts what passed and failed, and the lines before it say how many inputs ran. A crash
# is in FOLDER/found/TARGET-crash-…: FOLDER/tests/fuzz/fuzz-TARGET FILE replays it. Once it is fixed,
# move the file to tests/fuzz/corpus/TARGET. Exit status 77: there is no clang with libFuzzer.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/setup.sh
. "$root/scripts/setup.sh"
# shellcheck source=scripts/results.sh
. "$root/scripts/results.sh"

seconds=60 runs='' seed='' jobs=$(nproc) build=$root/build-fuzz keep='' list=''
targets=()
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --keep) keep=yes ;;
  --list) list=yes ;;
  --*)
    (($# > 1)) || die "$1 needs a value (see --help)"
    case $1 in
    --seconds) seconds=$2 ;;
    --runs) runs=$2 ;;
    --seed) seed=$2 ;;
    --jobs) jobs=$2 ;;
    --build) build=$2 ;;
    *) die "no such option: $1 (see --help)" ;;
    esac
    shift
    ;;
  *) targets+=("$1") ;;
  esac
  shift
done
corpora=$root/tests/fuzz/corpus
all=("$corpora"/*/)
all=("${all[@]%/}")
all=("${all[@]##*/}")
[[ -z $list ]] || {
  printf '%s\n' "${all[@]}"
  exit
}
((${#targets[@]})) || targets=("${all[@]}")
for target in "${targets[@]}"; do
  [[ " ${all[*]} " == *" $target "* ]] || die "no such target: $target (see --list)"
done

CC=${CC:-clang}
export CC
echo 'int LLVMFuzzerTestOneInput (const char *data, long size) { return 0; }' |
  "$CC" -fsanitize=fuzzer,address -x c -o /dev/null - 2>/dev/null || {
  say "no clang with libFuzzer (Debian: clang, libclang-rt-dev)"
  exit 77
}

if [[ ! -f $build/build.ninja ]]; then
  # Plugins find the sanitizers' functions in the program that loads them (b_lundef).
  quietly meson setup "$build" "$root" -Dfuzz=enabled -Db_sanitize=address,undefined \
    -Db_lundef=false -Dbuildtype=debugoptimized -Dwerror=true -Dcuda=disabled \
    -Dintrospection=disabled
fi
quietly ninja -C "$build" fuzzers

# Analyzers of huge frames must fail, not fill the machine's memory.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:max_allocation_size_mb=1024
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export LSAN_OPTIONS=suppressions=$root/tests/fuzz/leaks.txt:print_suppressions=0
# So that the sanitizers see GLib's slices.
export G_SLICE=always-malloc
# Without plugins' features: of so many names GLib drops a table, which looks like a leak.
export GST_REGISTRY_DISABLE=yes GST_PLUGIN_PATH_1_0='' GST_PLUGIN_SYSTEM_PATH_1_0=''
[[ -n $seed ]] || seed=$((RANDOM << 15 | RANDOM))
say "seed $seed"
found=$build/found
mkdir -p "$found"

# fuzz TARGET: runs one target. Its log is FOLDER/found/TARGET.log. A leak counts if its input leaks
# again alone: LeakSanitizer overlooks a live thread whose id an ended one had before, and so reports
# the 2032 bytes that GLib keeps for each thread.
fuzz() {
  local target=$1 program=$build/tests/fuzz/fuzz-$1 options=() limit end=$((SECONDS + seconds)) leaks status
  local dictionary=$root/tests/fuzz/dictionaries/$1.dict asan=$ASAN_OPTIONS
  # leaks.txt knows a leak by a function of libsoup, which has no frame pointers.
  [[ $target != http ]] || asan+=:fast_unwind_on_malloc=0
  mkdir -p "$found/$target"
  rm -f "$found/$target"-leak-*
  [[ -f $dictionary ]] && options+=("-dict=$dictionary")
  : >"$found/$target.log"
  while :; do
    limit=-max_total_time=$((end > SECONDS ? end - SECONDS : 1))
    [[ -z $runs ]] || limit=-runs=$runs
    status=0
    # Without allocations that libFuzzer itself limits, and with whole inputs from the start.
    ASAN_OPTIONS=$asan "$program" "${options[@]}" "-seed=$seed" "$limit" -max_len=1024 -len_control=0 -timeout=60 \
      -error_exitcode=1 -malloc_limit_mb=65536 -rss_limit_mb=4096 -close_fd_mask=1 -print_final_stats=1 \
      -artifact_prefix="$found/$target-" "$found/$target" "$corpora/$target" \
      >>"$found/$target.log" 2>&1 </dev/null || status=$?
    leaks=("$found/$target"-leak-*)
    if ((status == 0)) || [[ ! -f ${leaks[0]} ]] || ! ASAN_OPTIONS=$asan "$program" -runs=20 "${leaks[0]}" >/dev/null 2>&1; then
      return "$status"
    fi
    rm "${leaks[0]}"
    [[ -n $runs ]] || ((end > SECONDS)) || return 0
    seed=$((seed + 1))
  done
}

report() {
  local target=$1 status=$2 log=$found/$1.log
  result_of "$status" "$target: $(awk '/^stat::number_of_executed_units:/ { sum += $2 } END { print sum }' "$log") inputs"
  ((status == 0)) || grep -aE -m 40 '^(==|SUMMARY|    #|[^#].*(error|assert|critical))|Test unit' "$log" >&2 || true
}

# As many at a time as wanted; results in the order of the list.
for ((i = 0; i < ${#targets[@]}; i += jobs)); do
  pids=()
  for target in "${targets[@]:i:jobs}"; do
    fuzz "$target" &
    pids+=($!)
  done
  for k in "${!pids[@]}"; do
    status=0
    wait "${pids[k]}" || status=$?
    report "${targets[i + k]}" "$status"
  done
done

if [[ -n $keep ]]; then
  for target in "${targets[@]}"; do
    "$build/tests/fuzz/fuzz-$target" -merge=1 -max_len=1024 -close_fd_mask=3 "$corpora/$target" \
      "$found/$target" || true
  done
fi
summarize
