#!/usr/bin/env bash
# Finds a moving ball with gst-launch alone: no file, no camera, no application. cudaccl posts one
# message per frame, gst-launch prints it, and sed keeps the fields.
#
#   pipelines/testsource.sh [FRAMES] [PROPERTY=VALUE...]
#
# FRAMES           number of frames; default: 30
# PROPERTY=VALUE   property of cudaccl, e.g. backend=cpu or connectivity=4
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

frames=30
case ${1-} in
-h | --help) show_help && exit ;;
'' | *=*) ;;
*)
  frames=$(number "number of frames" "$1")
  shift
  ;;
esac
settings=()
for setting; do
  setting=$(property "$setting")
  settings+=("$setting")
done
need_element cudaccl "this project; build it with ./run.sh"

# gst-launch translates what it prints.
LC_ALL=C gst-launch-1.0 --messages \
  videotestsrc pattern=ball num-buffers="$frames" \
  ! video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1 \
  ! cudaccl post-messages=true "${settings[@]}" \
  ! fakesink |
  sed -n 's/^Got message #[0-9]* from element "cudaccl[0-9]*" (element): //; T; s/\\//g; p'
