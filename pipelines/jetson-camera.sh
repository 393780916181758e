#!/usr/bin/env bash
# What is bright in front of a Jetson's CSI camera, such as lamps, markers and laser spots: the
# camera's frames stay in its video memory (memory:NVMM), where cudaccl reads their luma. Ctrl-C ends
# it.
#
#   pipelines/jetson-camera.sh [SENSOR] [OPTION...]
#
# SENSOR   the camera's number; default: 0
# OPTION   of pipelines/print-boxes, as --summary, --frames=100, --set=threshold=230
#
# WIDTH, HEIGHT and FRAMERATE in the environment name one of the camera's modes; default: 1280, 720
# and 30/1.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

sensor=0
case ${1-} in
-h | --help) show_help && exit ;;
'' | -*) ;;
*) sensor=$1 && shift ;;
esac
[[ $sensor =~ ^[0-9]+$ ]] || die "'$sensor' is no camera's number (see --help)"
need_element nvarguscamerasrc "none has it: it comes with JetPack, NVIDIA's system for Jetsons"
need_element cudaccl "this project; build it with ./run.sh"
[[ $(gst-inspect-1.0 cudaccl) == *memory:NVMM* ]] ||
  die "cudaccl was built without the feature nvmm, which needs nvcc"

print_boxes "${settings[@]}" --set=backend=cuda --set=threshold=200 "$@" -- \
  nvarguscamerasrc sensor-id="$sensor" ! \
  "video/x-raw(memory:NVMM),format=NV12,width=${WIDTH:-1280},height=${HEIGHT:-720},framerate=${FRAMERATE:-30/1}"
