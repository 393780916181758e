#!/usr/bin/env bash
# Moving things in front of a camera: as recording.sh, with a V4L2 camera as the source. Ctrl-C ends
# it.
#
#   pipelines/camera.sh [DEVICE] [OPTION...]
#
# DEVICE   default: /dev/video0
# OPTION   of pipelines/print-boxes, as --summary, --backend=cpu, --frames=100, --set=min-area=100
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
  [[ -e ${cameras[0]} ]] || die "no camera: there is no $device, nor any other /dev/video*"
  die "there is no camera $device; there is: ${cameras[*]}"
fi
[[ -r $device && -w $device ]] ||
  die "no permission to use $device; is this user in its group, $(stat -c %G "$device")?"
need_element v4l2src gstreamer1.0-plugins-good
need_element segmentation gstreamer1.0-opencv
need_element cudaccl "this project; build it with ./run.sh"

# decodebin: many cameras send JPEG frames at their larger sizes.
print_boxes "${settings[@]}" "$@" -- v4l2src device="$device" ! decodebin ! "${mask[@]}"
