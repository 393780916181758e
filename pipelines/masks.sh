#!/usr/bin/env bash
# The masks of a recording as PNG files, one a frame, for ccl-bench --images=FOLDER.
#
#   pipelines/masks.sh FOLDER [FILE] [FRAMES]
#
# FOLDER   where to put 00000.png, 00001.png, ...; made if it isn't there
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, fetched if need be
# FRAMES   stop after so many frames; default: all
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in
-h | --help) show_help && exit ;;
'' | -*) die "where to? (see --help)" ;;
esac
folder=$1
file=${2:-$("$here/../scripts/find-recording.sh")}
[[ -r $file ]] || die "cannot read '$file'"
need_element segmentation gstreamer1.0-opencv
need_element pngenc gstreamer1.0-plugins-good
mkdir -p "$folder"

gst-launch-1.0 -q filesrc location="$file" ! decodebin ! "${mask[@]}" ! \
  identity eos-after="${3:--1}" ! pngenc compression-level=1 ! multifilesink location="$folder/%05d.png"
printf '%s: %s masks\n' "$folder" "$(find "$folder" -name '*.png' | wc -l)"
