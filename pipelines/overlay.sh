#!/usr/bin/env bash
# Draws boxes around moving objects in a recording: cclmotion finds them, and ccloverlay draws.
#
#   pipelines/overlay.sh [FILE [OUTPUT [FRAME]]]
#
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, downloaded if missing
# OUTPUT   a Matroska video, or a picture if the name ends with .png; default: overlay.mkv
# FRAME    frame number for the picture, counting from 0; default: 260
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
file=${1-}
output=${2-overlay.mkv}
frame=$(number "frame number" "${3-260}")
[[ -n $file ]] || file=$("$here/../scripts/find-recording.sh")
[[ -r $file ]] || die "cannot read '$file'"
need_element ccloverlay "this project; build it with ./run.sh"

# draw COUNT SINK...: sends COUNT frames (-1: all) with their boxes to a sink.
draw() {
  local count=$1
  shift
  gst-launch-1.0 -q \
    filesrc "$(property location="$file")" ! decodebin ! identity eos-after="$count" ! queue ! "${motion[@]}" \
    ! ccloverlay draw=boxes+centroids ! videoconvert ! "$@"
}

# When a video is cut short, the decoder may drop or damage the last frames, so make ten more than
# needed. Five bits per channel take a third of the bytes, with little visible difference.
picture() {
  need_element pngenc gstreamer1.0-plugins-good
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  draw $((frame + 10)) pngenc compression-level=1 \
    ! multifilesink max-files=20 "$(pattern "$folder" %d.png)"
  [[ -s $folder/$frame.png ]] || die "'$file' has no frame $frame"
  gst-launch-1.0 -q filesrc "$(property location="$folder/$frame.png")" ! pngdec \
    ! videoconvert dither=none ! video/x-raw,format=RGB15 \
    ! videoconvert ! video/x-raw,format=RGB ! pngenc compression-level=9 ! filesink "$(property location="$output")"
}

if [[ $output == *.png ]]; then
  picture
else
  mapfile -t words < <(encoder)
  need_element "${words[0]}" gstreamer1.0-plugins-good
  need_element matroskamux gstreamer1.0-plugins-good
  draw -1 "${words[@]}" ! matroskamux ! filesink "$(property location="$output")"
fi
