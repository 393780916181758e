#!/usr/bin/env bash
# Finds moving objects in a recording with cclmotion, and prints their boxes with print-boxes.
#
#   pipelines/recording.sh [FILE] [OPTION...]
#
# FILE     a video that GStreamer can decode; default: the sample vtest.avi, downloaded if missing
# OPTION   for pipelines/print-boxes, e.g. --summary, --quiet, --backend=cpu, --frames=100,
#          --set=min-area=100 (print-boxes --help lists all)
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
need_element cclmotion "this project; build it with ./run.sh"

print_boxes --element=cclmotion "$@" -- filesrc "$(property location="$file")" ! decodebin \
  ! queue
