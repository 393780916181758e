# shellcheck shell=bash disable=SC2034
# What the pipelines share; sourced by them, of no use alone.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# The plugin: the one that was built (./build, or $CUDACCL_BUILD), else an installed one.
build=${CUDACCL_BUILD:-$here/../build}
if [[ -f $build/gst/cudaccl/libgstcudaccl.so ]]; then
  export GST_PLUGIN_PATH=$build/gst/cudaccl:$build/gst/ccltools${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
fi

# From colour frames to a mask: 255 where something moves, 127 in its shadow, 0 elsewhere.
mask=(videoconvert ! segmentation test-mode=true method=mog2
  ! videoconvert ! 'video/x-raw,format=GRAY8')

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Smaller components are the mask's noise.
settings=(--set=min-area=100)

# Prints the comment at the head of the running script.
show_help() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
}

# python ARGUMENT...: a Python that has GStreamer; the one in /usr/bin, where another comes first.
python() {
  local python=python3
  "$python" -c 'import gi' 2>/dev/null || python=/usr/bin/python3
  "$python" "$@"
}

# print_boxes ARGUMENT...: runs the example application, C's if it was built, else Python's.
print_boxes() {
  if [[ -x $build/pipelines/print-boxes ]]; then
    "$build/pipelines/print-boxes" "$@"
  else
    python "$here/print-boxes.py" "$@"
  fi
}

# need_element ELEMENT PACKAGE: fails, and says where to find it, if the element is not there.
need_element() {
  # The version is the plugin's: without it, 1.0 or newer would be asked for.
  gst-inspect-1.0 --exists --atleast-version=0.0 "$1" || die "GStreamer has no element '$1' here (Debian: $2)"
}

# components_as_json [FILE]: a line a frame, of what moves in a video, or of a ball that does.
components_as_json() {
  local source=(videotestsrc pattern=ball num-buffers=100
    ! 'video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1')
  need_element ccljson "this project; build it with ./run.sh (needs libjson-glib-dev)"
  if [[ -n ${1-} ]]; then
    [[ -r $1 ]] || die "cannot read '$1'"
    need_element segmentation gstreamer1.0-opencv
    source=(filesrc location="$1" ! decodebin ! "${mask[@]}")
  fi
  gst-launch-1.0 -q "${source[@]}" ! cudaccl min-area=100 ! ccljson ! fdsink
}
