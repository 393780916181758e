#!/usr/bin/env bash
# Moving things in a recording, with boxes drawn around them: background subtraction makes a mask of
# every frame, cudaccl finds the mask's components, cclmerge puts them on the colour frames, and
# ccloverlay draws them.
#
#   pipelines/overlay.sh [FILE [OUTPUT [FRAME]]]
#
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, fetched if need be
# OUTPUT   a video, in Matroska, or, if its name ends with .png, a picture; default: overlay.mkv
# FRAME    the number of the frame in the picture, from 0 on; default: 260
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
file=${1-}
output=${2-overlay.mkv}
frame=${3-260}
[[ $frame =~ ^[0-9]+$ ]] || die "'$frame' is no number of a frame"
frame=$((10#$frame)) # a zero in front would make it octal
[[ -n $file ]] || file=$("$here/../scripts/find-recording.sh")
[[ -r $file ]] || die "cannot read '$file'"
need_element segmentation gstreamer1.0-opencv
need_element ccloverlay "this project; build it with ./run.sh"

# draw COUNT SINK...: so many frames (-1: all) with their boxes to a sink.
draw() {
  local count=$1
  shift
  gst-launch-1.0 -q \
    filesrc location="$file" ! decodebin ! identity eos-after="$count" ! videoconvert ! tee name=frames \
    frames. ! queue ! merge.video \
    frames. ! queue ! "${mask[@]}" ! cudaccl "${settings[@]#--set=}" ! queue ! merge.components \
    cclmerge name=merge ! ccloverlay draw=boxes+centroids ! videoconvert ! "$@"
}

# The first encoder that is there; gstreamer1.0-plugins-good has two of them.
encoder() {
  local element
  for element in x264enc vp8enc theoraenc; do
    if gst-inspect-1.0 --exists "$element"; then
      case $element in
      x264enc) printf '%s\n' x264enc speed-preset=veryfast pass=quant quantizer=20 ;;
      vp8enc) printf '%s\n' vp8enc deadline=1 cpu-used=4 target-bitrate=2000000 ;;
      *) printf '%s\n' "$element" ;;
      esac
      return
    fi
  done
  printf '%s\n' jpegenc quality=90
}

# Where a video is cut off, the last frames may be missing, or damaged by the decoder that works on: a
# few more are made than are needed. Five bits a channel are a third of the bytes, and hardly to be seen.
picture() {
  local folder
  need_element pngenc gstreamer1.0-plugins-good
  folder=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder is known now
  trap "rm -rf '$folder'" EXIT
  draw $((frame + 10)) pngenc compression-level=1 \
    ! multifilesink max-files=20 location="$folder/%d.png"
  [[ -s $folder/$frame.png ]] || die "'$file' has no frame $frame"
  gst-launch-1.0 -q filesrc location="$folder/$frame.png" ! pngdec \
    ! videoconvert dither=none ! video/x-raw,format=RGB15 \
    ! videoconvert ! video/x-raw,format=RGB ! pngenc compression-level=9 ! filesink location="$output"
}

if [[ $output == *.png ]]; then
  picture
else
  mapfile -t words < <(encoder)
  need_element "${words[0]}" gstreamer1.0-plugins-good
  need_element matroskamux gstreamer1.0-plugins-good
  draw -1 "${words[@]}" ! matroskamux ! filesink location="$output"
fi
