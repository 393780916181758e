#!/usr/bin/env bash
# Tests of the scripts and applications beside this file; meson test runs it.
#
#   pipelines/check.sh testsource|apps|c-app|camera|recording
#
# Exit status 77: skipped, as something is missing here.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

skip() {
  printf 'skipped: %s\n' "$*"
  exit 77
}

# expect COUNT PATTERN FILE: so many lines match.
expect() {
  local count
  count=$(grep -c -E "$2" "$3" || true)
  if [[ $count != "$1" ]]; then
    cat "$3"
    die "$count lines match '$2', not $1"
  fi
}

balls=(videotestsrc pattern=ball num-buffers=20
  ! 'video/x-raw,format=GRAY8,width=321,height=243,framerate=30/1')
# Thousands of small components a frame, in the luma of a format with colour.
noise=(videotestsrc pattern=snow num-buffers=5
  ! 'video/x-raw,format=NV12,width=162,height=122,framerate=30000/1001')

check_c_app() {
  print_boxes --summary -- "${balls[@]}" >"$output/balls"
  expect 20 '^frame [0-9]+, [0-9.]+ s, components: 1$' "$output/balls"
  expect 20 '^  1: [0-9]+x[0-9]+ at \([0-9]+, [0-9]+\), area [0-9]+, centroid ' "$output/balls"
  expect 1 '^frames with components +20$' "$output/balls"
  expect 1 '^backend ' "$output/balls"

  print_boxes --frames=3 --set=max-components=7 --set=connectivity=4 --summary \
    -- "${noise[@]}" >"$output/noise"
  expect 3 ', components: 7$' "$output/noise"
  expect 1 '^frames truncated +3$' "$output/noise"

  if print_boxes --set=no-such-property=1 -- "${balls[@]}" 2>"$output/error"; then
    die "print-boxes took a property that does not exist"
  fi
  expect 1 'no-such-property' "$output/error"
}

case ${1-} in
testsource)
  "$here/testsource.sh" 10 >"$output/messages"
  expect 10 '^cudaccl, timestamp=.* found=\(uint\)1, components=' "$output/messages"
  ;;
c-app)
  check_c_app
  ;;
apps)
  check_c_app
  python -c 'import gi; gi.require_version("GstVideo", "1.0")' 2>/dev/null ||
    skip "Python cannot use GStreamer here (Debian: python3-gi, gir1.2-gst-plugins-base-1.0)"
  for source in balls noise; do
    declare -n words=$source
    print_boxes -- "${words[@]}" >"$output/c"
    python "$here/print-boxes.py" -- "${words[@]}" >"$output/python"
    diff "$output/c" "$output/python" >"$output/diff" ||
      die "C and Python print different boxes: $(head -n 20 "$output/diff")"
    (($(wc -l <"$output/c") >= 25)) || die "too few boxes: $(cat "$output/c")"
  done
  ;;
camera)
  if "$here/camera.sh" /dev/no-such-camera 2>"$output/error"; then
    die "camera.sh found a camera that does not exist"
  fi
  expect 1 '/dev/no-such-camera' "$output/error"
  ;;
recording)
  file=$("$here/../scripts/find-recording.sh" --no-fetch) ||
    skip "vtest.avi is not here (scripts/find-recording.sh fetches it)"
  for element in segmentation avdec_msmpeg4; do
    gst-inspect-1.0 --exists "$element" || skip "GStreamer has no element '$element' here"
  done
  "$here/recording.sh" "$file" --frames=100 --quiet --summary >"$output/summary"
  cat "$output/summary"
  expect 1 '^frames +100$' "$output/summary"
  # The first frame is all background; in every other one, somebody walks.
  expect 1 '^frames with components +99$' "$output/summary"
  ;;
*)
  show_help
  exit 2
  ;;
esac
