#!/usr/bin/env bash
# Finds moving objects in a network camera's stream with cclmotion, and prints their boxes. Press Ctrl-C
# to stop.
#
#   pipelines/rtsp.sh URI [OPTION...]
#
# URI      such as rtsp://camera/stream
# OPTION   for pipelines/print-boxes, e.g. --summary, --backend=cpu, --frames=100,
#          --set=min-area=100
#
# If the camera is lost, or sends no frame for LIVE_TIMEOUT seconds (default: 10), the script fails and names
# it.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in
-h | --help) show_help && exit ;;
rtsp*://*) uri=$1 && shift ;;
*) die "expected an RTSP URI (see --help)" ;;
esac
need_element rtspsrc gstreamer1.0-plugins-good
need_element cclmotion "this project; build it with ./run.sh"

# decodebin takes a decoder on the GPU if there is one; its frames then stay there.
print_live "$(source_name "$uri")" --element=cclmotion "$@" -- \
  rtspsrc "$(property location="$uri")" latency=200 ! decodebin
