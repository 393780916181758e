#!/usr/bin/env bash
# Finds people, cars and other objects in a recording by a neural network, and draws them: cclmotion says
# where something moves, ccldetect looks there, ccltrack gives each object an id, and ccloverlay draws.
#
#   pipelines/detect.sh MODEL [FILE [OUTPUT [PROPERTY=VALUE...]]]
#
# MODEL      a detector in the ONNX format, such as yolox_nano.onnx; docs/detection.md says how to get one,
#            and ONNX Runtime, which runs it
# FILE       a video that GStreamer can decode, or a URI; default: the sample vtest.avi, downloaded if
#            missing
# OUTPUT     a Matroska video; default: detect.mkv
# PROPERTY   of ccldetect; default: region=moving
#
# Each frame waits for the network, so that the video is the same each time.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
model=${1-}
file=${2-}
output=${3-detect.mkv}
[[ -n $model ]] || die "no model is named; docs/detection.md says how to get one"
[[ -r $model ]] || die "cannot read '$model'; docs/detection.md says how to get a model"
[[ -n $file ]] || file=$("$here/../scripts/find-recording.sh")
[[ $file == *://* ]] || file=file://$(realpath "$file")
need_element ccldetect "this project; build it with ./run.sh"
need_element ccloverlay "this project; build it with ./run.sh"
need_element matroskamux gstreamer1.0-plugins-good
mapfile -t words < <(encoder)
need_element "${words[0]}" gstreamer1.0-plugins-good

options=(region=moving)
for option in "${@:4}"; do
  options+=("$(property "$option")")
done

gst-launch-1.0 -q uridecodebin "$(property uri="$file")" ! videoconvert ! cclmotion \
  ! ccldetect "$(property model="$model")" wait=true "${options[@]}" ! ccltrack \
  ! ccloverlay draw=boxes+tracks+trails+time \
  ! videoconvert ! "${words[@]}" ! matroskamux ! filesink "$(property location="$output")"
printf 'wrote %s\n' "$output"
