#!/usr/bin/env bash
# Shows what the operations and regions of cudaccl do to the mask of a recording: writes one picture
# for each, with the components before on the left and after on the right.
#
#   pipelines/morphology.sh FOLDER [FILE [FRAME [WINDOW]]]
#
# FOLDER   output folder for median3.png, median5.png, ...; created if missing
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, downloaded if missing
# FRAME    frame number, counting from 0; default: 260
# WINDOW   part of the frame to show for operations, as X,Y,WIDTH,HEIGHT in pixels; default: the whole
#          frame, as for regions
#
# The mask is of OpenCV's background subtraction: needs gstreamer1.0-opencv.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

take_folder "$@"
file=${2-}
frame=${3-260}
window=${4-}
frame=$(number "frame number" "$frame")
[[ $window =~ ^([0-9]{1,9},[0-9]{1,9},[1-9][0-9]{0,8},[1-9][0-9]{0,8})?$ ]] || die "'$window' is not X,Y,WIDTH,HEIGHT"
[[ -n $file ]] || file=$("$here/../scripts/find-recording.sh")
[[ -r $file ]] || die "cannot read '$file'"
need_element segmentation gstreamer1.0-opencv
need_element pngenc gstreamer1.0-plugins-good
need_element compositor gstreamer1.0-plugins-base
need_element cclcolor "this project; build it with ./run.sh"

mkdir -p "$folder"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

# When a video is cut short, the decoder may drop or damage the last frames, so make ten more masks
# than needed.
gst-launch-1.0 -q filesrc "$(property location="$file")" ! decodebin ! "${opencv_mask[@]}" \
  ! identity eos-after="$((frame + 11))" ! pngenc compression-level=1 \
  ! multifilesink max-files=20 "$(pattern "$made" %d.png)"
mask_file=$made/$frame.png
[[ -s $mask_file ]] || die "'$file' has no frame $frame"

# A PNG file has its width and height in bytes 16 to 23, the highest byte first.
read -r width height < <(od -An -tu1 -j 16 -N 8 "$mask_file" |
  awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4, (($5 * 256 + $6) * 256 + $7) * 256 + $8 }')
IFS=, read -r x y shown_width shown_height <<<"${window:-0,0,$width,$height}"
x=$((10#$x)) y=$((10#$y))
((x + shown_width <= width && y + shown_height <= height)) ||
  die "the window $window is not in the frame of ${width}x$height"
crop=(videocrop left="$x" top="$y" right="$((width - x - shown_width))"
  bottom="$((height - y - shown_height))")
second=$((shown_width + 8))

# show NAME PROPERTY...: writes the picture NAME.png of cclcolor without and with these properties.
show() {
  local name=$1
  shift
  gst-launch-1.0 -q multifilesrc "$(pattern "$made" "$frame.png")" num-buffers=1 caps=image/png,framerate=1/1 \
    ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 ! tee name=masks \
    masks. ! queue ! cclcolor max-components=65535 ! video/x-raw,format=RGBA ! "${crop[@]}" ! pictures. \
    masks. ! queue ! cclcolor max-components=65535 "$@" ! video/x-raw,format=RGBA ! "${crop[@]}" ! pictures. \
    compositor name=pictures background=white sink_1::xpos="$second" \
    ! videoconvert ! video/x-raw,format=RGB ! pngenc compression-level=9 \
    ! filesink "$(property location="$folder/$name.png")"
  [[ -s $folder/$name.png ]] || die "could not make $folder/$name.png"
}

for operation in median3 median5 erode3x3 dilate3x3 open5x5 close5x11 fill drop50; do
  show "$operation" morphology="$operation"
done
show chain morphology=median5,close5x11,fill,drop50
show limits min-relative-area=0.0005 min-width=10 min-height=20

crop=(identity)
second=$((width + 8))
show include include='0.4,0.35 0.6,0.25 0.8,0.65 0.4,0.65'
show exclude exclude='0,0 1,0 1,0.34 0.5,0.34 0,0.42; 0,0.62 1,0.62 1,1 0,1'
printf '%s: %s pictures\n' "$folder" 12
