#!/usr/bin/env bash
# The masks of a recording as PNG files, one a frame, for ccl-bench --images=FOLDER.
#
#   pipelines/masks.sh FOLDER [FILE] [FRAMES]
#
# FOLDER   where to put 00000.png, 00001.png, ...; made if it isn't there
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, fetched if need be
# FRAMES   stop after so many frames; default: all
#
# A folder that has such files already is refused: they may be the masks of another recording.
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
frames=${3-}
if [[ -n $frames ]]; then
  [[ $frames =~ ^[0-9]+$ ]] || die "'$frames' is no number of frames"
  frames=$((10#$frames)) # a zero in front would make it octal
fi
! compgen -G "$folder/[0-9][0-9][0-9][0-9][0-9]*.png" >/dev/null ||
  die "there are masks in '$folder' already: name another folder, or delete them"
mkdir -p "$folder"
made=$(mktemp -d "$folder/.masks.XXXXXX")
trap 'rm -rf "$made"' EXIT

# Where a video is cut off, the last frames may be missing, or damaged by the decoder that works on: a
# few more are made than are kept.
gst-launch-1.0 -q filesrc location="$file" ! decodebin ! "${mask[@]}" ! \
  identity eos-after="$((${frames:--11} + 10))" ! pngenc compression-level=1 ! multifilesink location="$made/%05d.png"
mapfile -t masks < <(find "$made" -name '*.png' | sort | head -n "${frames:--0}")
((${#masks[@]})) || die "no mask could be made of '$file'"
printf '%s\0' "${masks[@]}" | xargs -0 mv -t "$folder" --
printf '%s: %s masks\n' "$folder" "${#masks[@]}"
