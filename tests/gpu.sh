#!/usr/bin/env bash
# Runs the checks that need an NVIDIA GPU, which CI does not have, on an existing build, which may
# come from another machine. Needs GStreamer and, for four of them, CUDA's compute-sanitizer.
#
#   tests/gpu.sh [OPTION...] [CHECK...]
#
# CHECK             checks to run, in this order; default: all
#   primitives      the device functions against plain host code
#   checkccl        every CUDA algorithm against the reference
#   cleaning        operations on masks and bits against the CPU, at the sizes that are measured;
#                   prints the times
#   motion          background models against the reference, and at the size that is measured against
#                   the CPU; prints the times
#   element         the elements' tests, with CUDA and CPU
#   element-memcheck
#                   compute-sanitizer's memcheck on the elements' tests that use the device, also
#                   with many elements at once
#   recording       every CUDA algorithm finds the same as the CPU in a recording
#   memcheck        compute-sanitizer's tools on each of checkccl's tests, with small images
#   racecheck       (slow)
#   initcheck
#
# --build FOLDER    default: ./build
# --masks FILE      masks for the check recording, raw GRAY8 of 768x576; default: made from
#                   vtest.avi, if it is found (scripts/find-recording.sh)
# --algorithm NAME  only this algorithm with the sanitizers
# --test PATTERN    only these of checkccl's tests
# --seed N          seed for primitives and checkccl; default: a new one each time, see the logs
# --jobs N          sanitizers at a time; default: half of the processors
# --logs FOLDER     folder for output; default: a new folder, deleted if nothing failed
#
# The last line counts what passed, failed and was skipped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/setup.sh
. "$root/scripts/setup.sh"
# shellcheck source=scripts/results.sh
. "$root/scripts/results.sh"

all=(primitives checkccl cleaning motion element element-memcheck recording memcheck racecheck initcheck)
time_limit=600 # seconds, of one program
build=$root/build masks='' logs='' algorithm='' pattern='*' seed='' jobs=$((($(nproc) + 1) / 2))
checks=()
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --*)
    (($# > 1)) || die "$1 needs a value (see --help)"
    case $1 in
    --build) build=$2 ;;
    --masks) masks=$2 ;;
    --algorithm) algorithm=$2 ;;
    --test) pattern=$2 ;;
    --seed) seed=$2 ;;
    --jobs) jobs=$2 ;;
    --logs) logs=$2 ;;
    *) die "no such option: $1 (see --help)" ;;
    esac
    shift
    ;;
  *)
    [[ " ${all[*]} " == *" $1 "* ]] || die "no such check: $1; use ${all[*]}"
    checks+=("$1")
    ;;
  esac
  shift
done
((${#checks[@]})) || checks=("${all[@]}")

checkccl=$build/tests/engine/checkccl
[[ -x $checkccl ]] || die "$build has no checkccl; build it first, or set --build"
if [[ -z $logs ]]; then
  logs=$(mktemp -d)
  trap '((failed > 0)) || rm -rf "$logs"' EXIT
fi
mkdir -p "$logs"
export GST_PLUGIN_PATH=$build/gst/analysis:$build/gst/tools${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
export LD_LIBRARY_PATH=$build/gst/meta${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# logged NAME COMMAND...: runs the command with its output in a log of that name.
logged() {
  local name=$1 status=0
  shift
  timeout "$time_limit" "$@" >"$logs/$name.log" 2>&1 </dev/null || status=$?
  echo "exit status $status" >>"$logs/$name.log"
  return "$status"
}

# show NAME: prints the end of a log.
show() {
  tail -n 8 "$logs/$1.log" | sed 's/^/    /'
}

# check NAME COMMAND...: runs the command and records one result.
check() {
  local name=$1 status=0
  logged "$@" || status=$?
  result_of "$status" "$name"
  ((status == 0)) || show "$name"
}

# Options of all runs of checkccl.
cuda_options=(--backend=cuda)
[[ -z $seed ]] || cuda_options+=("--seed=$seed")

check_primitives() {
  check primitives "$build/tests/engine/primitives" ${seed:+"--seed=$seed"}
}

check_checkccl() {
  check checkccl "$checkccl" "${cuda_options[@]}" --test="$pattern" --dump="$logs"
}

# The second time only the analysis, of bytes and of bits.
check_cleaning() {
  check cleaning-hd "$build/tests/bench/ccl-bench" morphology --backend=cuda
  check cleaning-large "$build/tests/bench/ccl-bench" morphology --backend=cuda --size=8192x8192 \
    --operations=- --granularity=4,16 --runs=10
  grep -h ' us ' "$logs/cleaning-hd.log" "$logs/cleaning-large.log" || true
}

check_motion() {
  check motion-reference "$checkccl" "${cuda_options[@]}" --test='motion-*' --dump="$logs"
  check motion-hd "$build/tests/bench/ccl-bench" motion --no-peers
  grep -h ' us ' "$logs/motion-hd.log" || true
}

# Without forks, which a CUDA context does not survive.
check_environment=(CK_FORK=no CK_DEFAULT_TIMEOUT="$time_limit" G_DEBUG=fatal-criticals)

check_element() {
  local program
  for program in "$build"/tests/elements/check-*; do
    [[ -f $program && -x $program ]] || continue
    check "element-${program##*/check-}" env "${check_environment[@]}" "$program"
  done
}

# Without the tests that make a device fail or go through thousands of state changes.
check_element_memcheck() {
  local name program
  if ! command -v compute-sanitizer >/dev/null; then
    result skipped "element-memcheck: no compute-sanitizer"
    return
  fi
  for name in cudamemory cudacontext cudapipelines nvmm pinned motionmemory cudacclanalysis cudaccloperations cclcolor; do
    program=$build/tests/elements/check-$name
    if [[ ! -x $program ]]; then
      result skipped "element-memcheck-$name: not built"
      continue
    fi
    check "element-memcheck-$name" env "${check_environment[@]}" \
      compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 3 \
      --print-limit 10 "$program"
  done
}

# Makes the masks of the recording, once for all runs.
make_masks() {
  local recording
  recording=$("$root/scripts/find-recording.sh" --no-fetch) || return 77
  # shellcheck source=pipelines/environment.sh
  CUDACCL_BUILD=$build . "$root/pipelines/environment.sh"
  gst-launch-1.0 -q filesrc location="$recording" ! decodebin ! "${opencv_mask[@]}" ! \
    filesink location="$masks"
}

# boxes NAME OPTION...: writes the components of the masks as text.
boxes() {
  local name=$1
  shift
  timeout "$time_limit" "$build/pipelines/print-boxes" "$@" -- filesrc location="$masks" \
    blocksize=$((768 * 576)) ! rawvideoparse format=gray8 width=768 height=576 framerate=10/1 \
    >"$logs/$name.boxes" 2>"$logs/$name.log"
}

check_recording() {
  local connectivity name cuda status=0
  if [[ -z $masks ]]; then
    masks=$logs/masks.raw
    logged recording make_masks || status=$?
    if ((status)); then
      result_of "$status" recording
      return
    fi
  fi
  for connectivity in 4 8; do
    if ! boxes "recording-cpu-$connectivity" --set=backend=cpu --set="connectivity=$connectivity" ||
      [[ ! -s $logs/recording-cpu-$connectivity.boxes ]]; then
      result failed "recording-cpu-$connectivity"
      show "recording-cpu-$connectivity"
      continue
    fi
    for cuda in $("$checkccl" --list | awk -v n="$connectivity" \
      '$2 == "cuda" && ($4 == n || $4 == n "," || $5 == n) { print $1 }'); do
      name=recording-$cuda-$connectivity status=0
      boxes "$name" --set=backend=cuda --set="algorithm=$cuda" \
        --set="connectivity=$connectivity" &&
        diff "$logs/recording-cpu-$connectivity.boxes" "$logs/$name.boxes" >>"$logs/$name.log" ||
        status=$?
      result_of "$status" "$name"
      ((status == 0)) || show "$name"
    done
  done
}

# sanitize TOOL: runs a process per test, $jobs at a time.
sanitize() {
  local tool=$1 test options=("${cuda_options[@]}" --small --dump="$logs") names=()
  if ! command -v compute-sanitizer >/dev/null; then
    result skipped "$tool: no compute-sanitizer"
    return
  fi
  [[ -z $algorithm ]] || options+=(--algorithm="$algorithm")
  for test in $("$checkccl" --list | sed '1,/^tests:/d'); do
    # shellcheck disable=SC2053
    [[ $test == $pattern ]] || continue
    # initcheck does not track copies from CUDA arrays.
    [[ $tool-$test != initcheck-*arrays ]] || continue
    names+=("$test")
    while (($(jobs -rp | wc -l) >= jobs)); do
      wait -n || true
    done
    logged "$tool-$test" compute-sanitizer --tool "$tool" --error-exitcode 3 --print-limit 10 \
      "$checkccl" "${options[@]}" --test="$test" &
  done
  wait
  for test in "${names[@]}"; do
    result_of "$(sed -n '$s/exit status //p' "$logs/$tool-$test.log")" "$tool-$test"
    [[ $(tail -n 1 "$logs/$tool-$test.log") =~ \ (0|77)$ ]] || show "$tool-$test"
  done
}

status=0
logged device "$checkccl" --backend=cuda --test=config-errors || status=$?
((status != 77)) || die "$(grep -m 1 'nothing to run' "$logs/device.log")"

for name in "${checks[@]}"; do
  case $name in
  memcheck | racecheck | initcheck) sanitize "$name" ;;
  *) "check_${name//-/_}" ;;
  esac
done

((failed == 0)) || say "logs: $logs"
summarize
