#!/usr/bin/env bash
# Finds moving objects in front of a Jetson's CSI camera with cclmotion, and prints their boxes. Frames
# stay in memory:NVMM. Press Ctrl-C to stop.
#
#   pipelines/jetson-camera.sh [SENSOR] [OPTION...]
#
# SENSOR   the camera's number; default: 0
# OPTION   for pipelines/print-boxes, e.g. --summary, --frames=100, --set=scale=2; with
#          --element=cudaccl --set=threshold=230 it finds bright objects (lamps, markers, laser spots)
#
# The environment variables WIDTH, HEIGHT and FRAMERATE select a camera mode; default: 1280, 720 and
# 30/1.
#
# If the camera is lost, or sends no frame for LIVE_TIMEOUT seconds (default: 10), the script fails and names
# it.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

sensor=0
case ${1-} in
-h | --help) show_help && exit ;;
'' | -*) ;;
*) sensor=$1 && shift ;;
esac
sensor=$(number "camera number" "$sensor")
width=$(number WIDTH "${WIDTH:-1280}")
height=$(number HEIGHT "${HEIGHT:-720}")
framerate=${FRAMERATE:-30/1}
[[ $framerate =~ ^[0-9]{1,9}/[0-9]{1,9}$ ]] || die "'$framerate' is not a FRAMERATE such as 30/1"
need_element nvarguscamerasrc "not packaged; it is part of JetPack, NVIDIA's system for Jetson"
need_element cclmotion "this project; build it with ./run.sh"
[[ $(gst-inspect-1.0 cclmotion) == *memory:NVMM* ]] ||
  die "cudaccl was built without the feature 'nvmm', which needs nvcc"

# The camera adapts its exposure in the first second.
print_live "camera $sensor" --element=cclmotion --set=backend=cuda \
  --set=warm-up=1000000000 "$@" -- nvarguscamerasrc sensor-id="$sensor" \
  ! "video/x-raw(memory:NVMM),format=NV12,width=$width,height=$height,framerate=$framerate"
