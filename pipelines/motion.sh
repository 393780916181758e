#!/usr/bin/env bash
# Shows what cclmotion makes of recordings: writes a picture for each of three scenes, with the frame,
# the background, the mask (shadows are grey) and the boxes that remain after cleaning.
#
#   pipelines/motion.sh FOLDER
#
# FOLDER   output folder for street.png, night.png and tree.png; created if missing
#
# The scenes are those of docs/motion.md: vtest.avi, which is downloaded if missing, the same recording
# dark and grey, and tree.avi from Debian's package opencv-doc, which is left out if missing.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

take_folder "$@"
video=$("$here/../scripts/find-recording.sh")
tree=$(dirname "$video")/tree.avi
picture=$build/tests/peers/motion-picture
[[ -r $video ]] || die "cannot read '$video'"
[[ -x $picture ]] || die "missing motion-picture; build it with ./test.sh"
need_element videobalance gstreamer1.0-plugins-good
need_element pngenc gstreamer1.0-plugins-good
need_element rawvideoparse gstreamer1.0-plugins-base

mkdir -p "$folder"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

# show NAME FILE SIZE FRAME DURATION OPERATIONS [ELEMENT...]: DURATION in milliseconds; OPERATIONS as
# in the property morphology; ELEMENT changes the frames.
show() {
  local name=$1 file=$2 size=$3 frame=$4 duration=$5 operations=$6
  local width=${size%x*} height=${size#*x}
  shift 6
  # The decoder may drop or damage the last frames, so send ten more than needed.
  gst-launch-1.0 -q filesrc "$(property location="$file")" ! decodebin ! identity eos-after="$((frame + 10))" \
    ! videoconvert ! video/x-raw,format=I420 "$@" ! videoconvert ! video/x-raw,format=NV12 \
    ! filesink "$(property location="$made/frames")"
  "$picture" "$size" "$frame" "$duration" "$operations" <"$made/frames" >"$made/picture"
  gst-launch-1.0 -q filesrc "$(property location="$made/picture")" \
    ! rawvideoparse format=rgb width="$((4 * width + 24))" height="$height" framerate=1/1 \
    ! videoscale ! video/x-raw,width=1280,height="$((1280 * height / (4 * width + 24)))",pixel-aspect-ratio=1/1 \
    ! videoconvert dither=none ! video/x-raw,format=RGB15 ! videoconvert ! video/x-raw,format=RGB \
    ! pngenc compression-level=9 ! filesink "$(property location="$folder/$name.png")"
  [[ -s $folder/$name.png ]] || die "could not make $folder/$name.png"
  printf '%s\n' "$folder/$name.png"
}

show street "$video" 768x576 260 100 auto
show night "$video" 768x576 260 100 auto \
  ! videobalance saturation=0 contrast=0.5 brightness=-0.15
if [[ -r $tree ]]; then
  show tree "$tree" 320x240 60 67 open5x5,drop200
fi
