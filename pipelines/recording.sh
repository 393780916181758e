#!/usr/bin/env bash
# Moving things in a recording: background subtraction makes a mask of every frame, cudaccl finds
# the mask's components, and their boxes are printed.
#
#   pipelines/recording.sh [FILE] [OPTION...]
#
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, fetched if need be
# OPTION   of pipelines/print-boxes, as --summary, --quiet, --backend=cpu, --frames=100,
#          --set=min-area=100 (print-boxes --help lists them)
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

file=
case ${1-} in
-h | --help) show_help && exit ;;
'' | -*) ;;
*) file=$1 && shift ;;
esac
[[ -n $file ]] || file=$("$here/../scripts/find-recording.sh")
[[ -r $file ]] || die "cannot read '$file'"
need_element segmentation gstreamer1.0-opencv
need_element cudaccl "this project; build it with ./run.sh"

print_boxes "${settings[@]}" "$@" -- filesrc location="$file" ! decodebin ! "${mask[@]}"
