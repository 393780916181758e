#!/usr/bin/env bash
# Writes the masks of a recording as PNG files, one per frame, for ccl-bench --images=FOLDER.
#
#   pipelines/masks.sh FOLDER [FILE] [FRAMES]
#
# FOLDER   output folder for 00000.png, 00001.png, ...; created if missing
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, downloaded if missing
# FRAMES   stop after this many frames; default: all
#
# Refuses a folder that already contains such files: they may be the masks of another recording.
# The masks are of OpenCV's background subtraction: needs gstreamer1.0-opencv.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

take_folder "$@"
file=${2:-$("$here/../scripts/find-recording.sh")}
[[ -r $file ]] || die "cannot read '$file'"
need_element segmentation gstreamer1.0-opencv
need_element pngenc gstreamer1.0-plugins-good
frames=${3-}
if [[ -n $frames ]]; then
  frames=$(number "number of frames" "$frames")
fi
[[ -z $(find "$folder" -maxdepth 1 -name '[0-9][0-9][0-9][0-9][0-9]*.png' -print -quit 2>/dev/null || true) ]] ||
  die "'$folder' already contains masks: choose another folder, or delete them"
mkdir -p "$folder"
made=$(mktemp -d "$folder/.masks.XXXXXX")
trap 'rm -rf "$made"' EXIT

# When a video is cut short, the decoder may drop or damage the last frames, so make ten more masks
# than are kept.
gst-launch-1.0 -q filesrc "$(property location="$file")" ! decodebin ! "${opencv_mask[@]}" ! \
  identity eos-after="$((${frames:--11} + 10))" ! pngenc compression-level=1 ! multifilesink \
  "$(pattern "$made" %05d.png)"
mapfile -d '' -t masks < <(find "$made" -name '*.png' -print0 | sort -z | head -z -n "${frames:--0}")
((${#masks[@]})) || die "could not make any mask from '$file'"
printf '%s\0' "${masks[@]}" | xargs -0 mv -t "$folder" --
printf '%s: %s masks\n' "$folder" "${#masks[@]}"
