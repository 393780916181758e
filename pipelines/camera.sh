#!/usr/bin/env bash
# Finds moving objects in front of a V4L2 camera with cclmotion, and prints their boxes. Press Ctrl-C to
# stop.
#
#   pipelines/camera.sh [DEVICE] [OPTION...]
#
# DEVICE   default: /dev/video0
# OPTION   for pipelines/print-boxes, e.g. --summary, --backend=cpu, --frames=100,
#          --set=min-area=100
#
# If the camera is lost, or sends no frame for LIVE_TIMEOUT seconds (default: 10), the script fails and names
# it.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

device=/dev/video0
case ${1-} in
-h | --help) show_help && exit ;;
'' | -*) ;;
*) device=$1 && shift ;;
esac
if [[ ! -c $device ]]; then
  cameras=(/dev/video*)
  [[ -e ${cameras[0]} ]] || die "no camera found: neither $device nor any other /dev/video*"
  die "no camera $device; available: ${cameras[*]}"
fi
[[ -r $device && -w $device ]] ||
  die "no permission to open $device; add this user to the group $(stat -c %G "$device")"
need_element v4l2src gstreamer1.0-plugins-good
need_element cclmotion "this project; build it with ./run.sh"

# decodebin: many cameras send JPEG at larger frame sizes.
print_live "$device" --element=cclmotion "$@" -- \
  v4l2src "$(property device="$device")" ! decodebin
