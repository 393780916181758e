#!/usr/bin/env bash
# Long runs on an existing build, with a report: memory must stay flat, and nothing may hang or crash.
#
#   tests/soak.sh [OPTION...] [PART...]
#
# PART            parts to run; default: all
#   frames        frames through all elements on the CPU, whose size changes all the time
#   gpu           the same with backend=cuda, with flat memory on the device; needs a GPU
#   cycles        starts and stops of a pipeline with all elements
#   seeks         seeks through a stream of a day, one for every 5 seconds of it
#   socket        kill -9 of either side of unixfdsink and unixfdsrc (GStreamer 1.24). shmsink
#                 carries no metadata
#   validate      scenarios of gst-validate, if it is installed
#
# --build FOLDER  default: ./build
# --frames N      default: 1000000
# --cycles N      default: 10000
# --seeks N       default: 17280
# --kills N       default: 200
# --seed N        default: a new one each time
# --plugins FOLDER
#                 GStreamer's own plugins; default: those of the system
#
# The last line counts what passed, failed and was skipped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/setup.sh
. "$root/scripts/setup.sh"
# shellcheck source=scripts/results.sh
. "$root/scripts/results.sh"

all=(frames gpu cycles seeks socket validate)
build=$root/build frames=1000000 cycles=10000 seeks=17280 kills=200 seed=$((RANDOM * 32768 + RANDOM)) plugins=''
parts=()
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --*)
    (($# > 1)) || die "$1 needs a value (see --help)"
    case $1 in
    --build) build=$2 ;;
    --frames) frames=$2 ;;
    --cycles) cycles=$2 ;;
    --seeks) seeks=$2 ;;
    --kills) kills=$2 ;;
    --seed) seed=$2 ;;
    --plugins) plugins=$2 ;;
    *) die "no such option: $1 (see --help)" ;;
    esac
    shift
    ;;
  *)
    [[ " ${all[*]} " == *" $1 "* ]] || die "no such part: $1; use ${all[*]}"
    parts+=("$1")
    ;;
  esac
  shift
done
((${#parts[@]})) || parts=("${all[@]}")

soak=$build/tests/soak/soak
[[ -x $soak ]] || die "$build has no soak; build it first, or set --build"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$build/gst/meta${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GST_PLUGIN_PATH_1_0=$build/gst/analysis:$build/gst/tools
export GST_REGISTRY_1_0=$work/registry G_DEBUG=fatal-criticals
if [[ -n $plugins ]]; then
  export GST_PLUGIN_PATH_1_0=$GST_PLUGIN_PATH_1_0:$plugins GST_PLUGIN_SYSTEM_PATH_1_0=''
fi

# A scenario that seeks, pauses and plays on.
validate() {
  command -v gst-validate-1.0 >/dev/null || {
    echo "validate: skipped, gst-validate-1.0 is not installed"
    return 77
  }
  cat >"$work/cudaccl.scenario" <<'SCENARIO'
description, duration=10.0, seek=true
pause, playback-time=0.5, duration=0.2
seek, playback-time=1.0, start=5.0, flags=flush+accurate
seek, playback-time=5.5, start=0.0, flags=flush+accurate
set-state, playback-time=1.0, state="paused"
set-state, state="playing", playback-time=1.0
stop, playback-time=2.0
SCENARIO
  timeout 300 gst-validate-1.0 --set-scenario="$work/cudaccl.scenario" videotestsrc num-buffers=300 ! \
    video/x-raw,format=I420 ! cclmotion ! ccltrack ! ccloverlay ! fakesink sync=true
}

run_part() {
  case $1 in
  frames) "$soak" --frames "$frames" --seed "$seed" ;;
  gpu)
    if ! "$build/tests/engine/checkccl" --backend=cuda --list >/dev/null 2>&1; then
      echo "gpu: skipped, there is no CUDA device"
      return 77
    fi
    "$soak" --frames "$frames" --seed "$seed" --backend cuda
    ;;
  cycles) "$soak" --cycles "$cycles" --seed "$seed" ;;
  seeks) "$soak" --seeks "$seeks" --seed "$seed" ;;
  socket) "$soak" --kills "$kills" --seed "$seed" ;;
  validate) validate ;;
  esac
}

printf '%s, %s cores, %s\n' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" \
  "$(pkg-config --modversion gstreamer-1.0 2>/dev/null | sed 's/^/GStreamer /')"
for part in "${parts[@]}"; do
  status=0
  run_part "$part" || status=$?
  result_of "$status" "$part"
done
summarize
