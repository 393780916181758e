#!/usr/bin/env bash
# Makes the pictures of the elements' pages, docs/figures/elements, from the recording.
#
#   scripts/pictures.sh BUILD [RECORDING]
#
# BUILD       a build folder
# RECORDING   default: that of find-recording.sh. Some versions of libav decode it with faults: look at the pictures, and
#             convert it by another decoder, to y4m for example, if need be
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
case ${1--h} in
-h | --help) show_help && exit ;;
esac
build=$(realpath "$1")
recording=${2:-$("$root/scripts/find-recording.sh" --no-fetch)} || die "no recording"
folder=$root/docs/figures/elements
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
export GST_PLUGIN_PATH_1_0=$build/gst GST_REGISTRY_1_0=$work/registry

# picture NAME FRAME ELEMENTS: the frame, at two thirds of its size.
picture() {
  local name=$1 frame=$2 elements=$3
  say "$name"
  # The elements are words.
  # shellcheck disable=SC2086
  quietly gst-launch-1.0 filesrc location="$recording" ! decodebin ! $elements ! videoconvert ! videoscale ! \
    video/x-raw,width=512,height=384 ! identity eos-after="$((frame + 1))" ! jpegenc quality=80 ! \
    multifilesink location="$work/%d.jpg" max-files=1
  mv "$work/$((frame - 1)).jpg" "$folder/$name.jpg" 2>/dev/null || mv "$work/$frame.jpg" "$folder/$name.jpg"
}

masks="videoconvert ! cclmask"
picture cudaccl 290 "$masks ! cudaccl min-area=60 ! ccloverlay draw=boxes+centroids color=0xffff3030"
picture cclmotion 290 "cclmotion ! ccloverlay"
picture cclmask 290 "cclmask shadows=mark"
picture cclcolor 290 "$masks ! cclcolor min-area=60"
picture ccltrack 290 "cclmotion ! ccltrack ! ccloverlay draw=boxes+tracks+trails"
cat >"$work/zones.json" <<'END'
{"tripwires": [{"id": "gate", "points": [[0.35, 0.3], [0.75, 0.75]]}],
 "zones": [{"id": "grass", "points": [[0.02, 0.5], [0.3, 0.5], [0.3, 0.98], [0.02, 0.98]]}]}
END
picture cclzones 290 "cclmotion ! ccltrack ! cclzones config=$work/zones.json ! ccloverlay draw=boxes+zones+events"
picture ccloverlay 290 "cclmotion ! ccltrack ! ccloverlay draw=boxes+tracks+trails+areas+velocities"
