#!/usr/bin/env bash
# Finds moving objects in downscaled frames and reports them on the full-size ones: cclmotion runs at
# half the width, and cclmerge puts the boxes on the original frames.
#
#   pipelines/merged.sh [FILE]
#
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, downloaded if missing
#
# Prints the components as JSON; overlay.sh draws them.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
file=${1-}
[[ -n $file ]] || file=$("$here/../scripts/find-recording.sh")
[[ -r $file ]] || die "cannot read '$file'"
need_element cclmerge "this project; build it with ./run.sh"
need_element ccljson "this project; build it with ./run.sh"

# Borders would shift the boxes. The height follows from the width.
gst-launch-1.0 -q \
  filesrc "$(property location="$file")" ! decodebin ! videoconvert ! tee name=frames \
  frames. ! queue ! merge.video \
  frames. ! queue ! videoscale add-borders=false \
  ! video/x-raw,width=384,pixel-aspect-ratio=1/1 ! cclmotion ! queue ! merge.components \
  cclmerge name=merge ! ccljson ! fdsink
