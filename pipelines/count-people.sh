#!/usr/bin/env bash
# Counts the people who cross a line in a recording, and draws them, in one gst-launch: cclmotion finds
# what moves, ccltrack gives each person an id, cclzones counts, and ccloverlay draws.
#
#   pipelines/count-people.sh [FILE [OUTPUT [LINE]]]
#
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, downloaded if missing
# OUTPUT   a Matroska video; default: count-people.mkv
# LINE     two points x,y x,y as fractions of the frame; default: 0.5,0.05 0.35,0.95. "in" is towards
#          the right, seen from the first point to the second
#
# Prints each crossing and the counts.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
file=${1-}
output=${2-count-people.mkv}
line=${3-0.5,0.05 0.35,0.95}
[[ -n $file ]] || file=$("$here/../scripts/find-recording.sh")
[[ -r $file ]] || die "cannot read '$file'"
need_element cclzones "this project; build it with ./run.sh"
need_element matroskamux gstreamer1.0-plugins-good
mapfile -t words < <(encoder)
need_element "${words[0]}" gstreamer1.0-plugins-good

# -m prints the messages of cclzones.
gst-launch-1.0 -m filesrc "$(property location="$file")" ! decodebin \
  ! cclmotion ! ccltrack ! cclzones "$(property tripwires="line: $line")" \
  ! ccloverlay draw=boxes+tracks+trails+zones+events+time \
  ! videoconvert ! "${words[@]}" ! matroskamux ! filesink "$(property location="$output")" |
  sed -nE 's/.*cclzones, .*stream-time=\(guint64\)([0-9]+).*event=\(string\)(in|out),.*track=\(uint\)([0-9]+).* in=\(guint64\)([0-9]+), out=\(guint64\)([0-9]+).*/\1 \2 \3 \4 \5/p' |
  awk '{ printf "%.1f s: person %d goes %s\n", $1 / 1e9, $3, $2; fflush(); inwards = $4; outwards = $5 }
    END { printf "in %d, out %d\n", inwards, outwards }'
