#!/usr/bin/env bash
# Measures cudaccl-watch with many cameras: a file that each of them repeats at its own rate, decoded,
# analysed, tracked and counted. Prints the cores that the process takes, its memory, the frames of all
# cameras, those that came too late, how long the start took, and the threads that take most time.
#
#   tests/bench/watch.sh [OPTION...] FILE
#
# FILE          a video, best H.264 of 1920x1080 with 30 frames/s, longer than the measurement: each repeat
#               begins with a new decoder
# --cameras N   default: 64
# --seconds S   of measuring, after all cameras run; default: 30
# --no-record   without clips; events still have pictures
# --mqtt        also publishes to a broker (Mosquitto) on this machine, and prints how long after their
#               frame events arrive at a subscriber
# --build DIR   default: ./build
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/setup.sh
. "$root/scripts/setup.sh"

cameras=64 seconds=30 record=true mqtt='' build=$root/build file=
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --cameras) cameras=$2 && shift ;;
  --seconds) seconds=$2 && shift ;;
  --no-record) record=false ;;
  --mqtt) mqtt=yes ;;
  --build) build=$2 && shift ;;
  -*) die "no such option: $1 (see --help)" ;;
  *) file=$(realpath "$1") ;;
  esac
  shift
done
[[ -f $file ]] || die "expected a video (see --help)"
program=$build/apps/watch/cudaccl-watch
export GST_PLUGIN_PATH=$build/gst/analysis:$build/gst/tools${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
[[ -x $program ]] || die "there is no $program; build it"

work=$(mktemp -d)
pid='' others=()
trap '[[ -z $pid ]] || { kill "$pid" && wait "$pid"; } 2>/dev/null
  ((${#others[@]} == 0)) || kill "${others[@]}" 2>/dev/null; rm -rf "$work"' EXIT
port=$((20000 + RANDOM % 10000))
if [[ -n $mqtt ]]; then
  mqtt=$((30000 + RANDOM % 2000))
  mosquitto -p "$mqtt" >"$work/broker" 2>&1 &
  others+=($!)
  until mosquitto_sub -p "$mqtt" -t none -E 2>/dev/null; do
    kill -0 "${others[0]}" 2>/dev/null || die "mosquitto does not start: $(<"$work/broker")"
    sleep 0.1
  done
fi
{
  printf '[watch]\ndata=%s/data\n[server]\nlisten=127.0.0.1:%d\n' "$work" "$port"
  printf '[lines]\nfile=%s/lines\n' "$work"
  [[ -z $mqtt ]] || printf '[mqtt]\nbroker=mqtt://127.0.0.1:%d\ndiscovery=\n' "$mqtt"
  for ((i = 0; i < cameras; i++)); do
    printf '[camera c%d]\nuri=file://%s\nloop=true\nrecord=%s\n' "$i" "$file" "$record"
    printf 'tripwires=line: 0.5,0 0.5,1\nzones=left: 0,0 0.5,0 0.5,1 0,1\n'
  done
} >"$work/watch.conf"

# get NAME: the sum of a metric over all cameras; 0 if nothing answers.
get() {
  { exec 3<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null || { echo 0 && return; }
  printf 'GET /metrics HTTP/1.0\r\nHost: 127.0.0.1:%d\r\n\r\n' "$port" >&3
  awk -v name="cudaccl_watch_$1{" 'index($0, name) == 1 { sum += $NF } END { printf "%.0f\n", sum }' <&3
  exec 3>&-
}

# ticks: CPU time of the process so far, in hundredths of a second.
ticks() {
  sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }'
}

now() {
  date +%s%N
}

began=$(now)
"$program" "$work/watch.conf" >"$work/log" 2>&1 &
pid=$!
until (($(get camera_up) == cameras)); do
  kill -0 "$pid" 2>/dev/null || {
    status=0
    wait "$pid" || status=$?
    tail -n 20 "$work/log" >&2
    die "cudaccl-watch ended with status $status"
  }
  (($(now) - began < 120000000000)) ||
    { tail -n 20 "$work/log" >&2 && die "only $(get camera_up) of $cameras cameras run after 120 s"; }
  sleep 0.2
done
start=$(now)
sleep 5 # clips of the first events, and models that learn
if [[ -n $mqtt ]]; then
  mosquitto_sub -p "$mqtt" -q 1 -t 'cudaccl/+/events' -F '%U %p' >"$work/events" &
  others+=($!)
fi
frames=$(get camera_frames_total) late=$(get camera_late_frames_total) cpu=$(ticks) at=$(now)
sleep "$seconds"
awk -v cameras="$cameras" -v cpu="$(($(ticks) - cpu))" -v ns="$(($(now) - at))" \
  -v frames="$(($(get camera_frames_total) - frames))" \
  -v late="$(($(get camera_late_frames_total) - late))" -v start="$((start - began))" \
  -v lost="$(get camera_lost_total)" -v lines="$(wc -l <"$work/lines" 2>/dev/null || echo 0)" \
  -v rss="$(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status")" \
  -v threads="$(awk '/^Threads/ { print $2 }' "/proc/$pid/status")" 'BEGIN {
    s = ns / 1e9
    printf "%d cameras, %.0f s: %.2f cores, %.0f frames/s, %d late, %d lost, %d events\n",
           cameras, s, cpu / 100 / s, frames / s, late, lost, lines
    printf "start %.1f s, %.0f MB, %d threads\n", start / 1e9, rss / 1024, threads }'
# Where the time went since the start, by the names of threads.
cat /proc/"$pid"/task/*/stat 2>/dev/null | sed -E 's/^[0-9]+ \((.*)\) /\1|/' |
  awk -F'|' '{ split($2, field, " "); gsub(/[0-9]+/, "", $1); sum[$1] += field[12] + field[13] }
    END { for (name in sum) printf "%8.2f s of CPU time in threads %s\n", sum[name] / 100, name }' |
  sort -rn | head -n 8
# The event's time is that of its frame; both count from midnight here.
[[ -z $mqtt ]] || sed -nE 's/^([0-9.]+) .*"utc":"[^T]*T([0-9]+):([0-9]+):([0-9.]+)Z".*/\1 \2 \3 \4/p' "$work/events" |
  awk '{ d = $1 % 86400 - $2 * 3600 - $3 * 60 - $4; printf "%.2f\n", 1000 * (d < -43200 ? d + 86400 : d) }' |
  sort -n | awk '{ ms[NR] = $1 }
    END { if (NR) printf "%d events at the subscriber: p50 %.1f ms, p99 %.1f ms, max %.1f ms\n",
                         NR, ms[int((NR + 1) / 2)], ms[int((NR * 99 + 99) / 100)], ms[NR] }'
