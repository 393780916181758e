# shellcheck shell=bash disable=SC2034
# Shared by the pipelines, which source this file.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Use the built plugin ($CUDACCL_BUILD, ./build, or where ./run.sh builds read-only sources), or else an
# installed one.
build=${CUDACCL_BUILD:-$here/../build}
if [[ -z ${CUDACCL_BUILD-} && ! -d $build ]]; then
  build=${XDG_CACHE_HOME:-${HOME-}/.cache}/cudaccl/build
fi
if [[ -f $build/gst/analysis/libgstcudaccl.so ]]; then
  export GST_PLUGIN_PATH=$build/gst/analysis:$build/gst/tools${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
fi

# Masks of OpenCV's background subtraction, with noise and holes: 255 for moving objects, 127 for their
# shadows, 0 for background.
opencv_mask=(videoconvert ! segmentation test-mode=true method=mog2
  ! videoconvert ! 'video/x-raw,format=GRAY8')

# Finds moving objects in frames of any raw format.
motion=(videoconvert ! cclmotion)

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# property NAME=VALUE: prints it for gst-launch. That reads values as text of the pipeline, where a quote
# or backslash can end them, and what follows adds elements. So all but simple values become strings of
# octal numbers, which must be properties of the type string.
property() {
  local LC_ALL=C value=${1#*=}
  [[ $1 =~ ^[a-zA-Z][a-zA-Z0-9-]*= ]] || die "'$1' is not PROPERTY=VALUE"
  if [[ ! $value =~ ^[a-zA-Z0-9._:,/+-]+$ ]]; then
    value=$(printf '%s' "$value" | od -An -v -to1 | tr -d '\n')
    value='\"'${value// /\\\\}'\"'
  fi
  printf '%s=%s' "${1%%=*}" "$value"
}

# pattern FOLDER PATTERN: the location of files that are numbered with a pattern such as %d.
pattern() {
  property "location=${1//\%/%%}/$2"
}

# number WHAT TEXT: prints a number without leading zeros, which would mean octal.
number() {
  [[ $2 =~ ^[0-9]+$ ]] || die "'$2' is not a $1"
  [[ $2 =~ ^0*([0-9]{1,9})$ ]] || die "'$2' is too large for a $1: the maximum is 999999999"
  printf '%s\n' "$((10#${BASH_REMATCH[1]}))"
}

# Prints the comment at the top of the running script.
show_help() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
}

# take_folder ARGUMENT...: sets folder to the first argument, the folder for output; prints the help if asked.
take_folder() {
  case ${1-} in
  -h | --help) show_help && exit ;;
  '' | -*) die "no output folder given (see --help)" ;;
  esac
  folder=$1
}

# python ARGUMENT...: runs a Python with GStreamer: the first in the PATH, or else /usr/bin/python3.
python() {
  local python=python3
  "$python" -c 'import gi' 2>/dev/null || python=/usr/bin/python3
  "$python" "$@"
}

# print_boxes ARGUMENT...: runs the example application: in C if it was built, else in Python.
print_boxes() {
  if [[ -x $build/pipelines/print-boxes ]]; then
    "$build/pipelines/print-boxes" "$@"
  else
    python "$here/print-boxes.py" "$@"
  fi
}

# need_element ELEMENT PACKAGE: fails if the element is missing, and names its package.
need_element() {
  # By default --exists asks for plugin version 1.0 or newer; cudaccl's is 0.1.
  gst-inspect-1.0 --exists --atleast-version=0.0 "$1" || die "missing GStreamer element '$1' (Debian: $2)"
}

# Prints the first available encoder; gstreamer1.0-plugins-good provides vp8enc and jpegenc.
encoder() {
  local element
  for element in x264enc vp8enc theoraenc; do
    if gst-inspect-1.0 --exists "$element"; then
      case $element in
      x264enc) printf '%s\n' x264enc speed-preset=veryfast pass=quant quantizer=20 ;;
      vp8enc) printf '%s\n' vp8enc deadline=1 cpu-used=4 target-bitrate=2000000 ;;
      *) printf '%s\n' "$element" ;;
      esac
      return
    fi
  done
  printf '%s\n' jpegenc quality=90
}

# source_name [INPUT]: how lines name the video in a file or at a URI: without password.
source_name() {
  case ${1-} in
  "") printf 'ball' ;;
  *://*) printf '%s' "$1" | sed -E 's,^([a-zA-Z0-9+.-]+://)[^/]*@,\1,' ;;
  *) printf '%s' "${1##*/}" ;;
  esac
}

# is_live INPUT: whether the video has no end, as that of a camera.
is_live() {
  [[ ${1-} == rtsp*://* ]]
}

# Ends a live pipeline with an error if the source sends no frame for this time.
live_timeout=$(number "number of seconds" "${LIVE_TIMEOUT:-10}")
watchdog=(watchdog timeout="$((live_timeout * 1000))")

# print_live NAME ARGUMENT...: runs print_boxes with a live source; fails and names it if it ends or
# freezes.
print_live() {
  local name=$1
  shift
  need_element watchdog gstreamer1.0-plugins-bad
  print_boxes --live "$@" ! "${watchdog[@]}" ||
    die "failed, or lost the source, or had no frame of it for $live_timeout s: $name"
}

# need_source INPUT: fails if components_as_json lacks something.
need_source() {
  need_element ccljson "this project; build it with ./run.sh"
  if is_live "${1-}"; then
    need_element rtspsrc gstreamer1.0-plugins-good
    need_element watchdog gstreamer1.0-plugins-bad
  elif [[ -n ${1-} && $1 != *://* ]]; then
    [[ -r $1 ]] || die "cannot read '$1'"
  fi
}

# components_as_json INPUT SOURCE: prints one line per frame, with this source: the moving objects in
# a video, which is a file or a URI, or a ball if INPUT is empty.
components_as_json() {
  local source=(videotestsrc pattern=ball num-buffers=100
    ! 'video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1' ! cudaccl)
  if is_live "$1"; then
    # The camera's own time, if it sends it. What is too slow drops frames and does not fall behind.
    source=(rtspsrc "$(property location="$1")")
    [[ $(gst-inspect-1.0 rtspsrc) != *add-reference-timestamp-meta* ]] ||
      source+=(add-reference-timestamp-meta=true)
    source+=(! 'application/x-rtp,media=video' ! decodebin ! "${watchdog[@]}"
      ! queue leaky=downstream max-size-buffers=1 ! "${motion[@]}")
  elif [[ $1 == *://* ]]; then
    source=(uridecodebin "$(property uri="$1")" ! queue ! "${motion[@]}")
  elif [[ -n $1 ]]; then
    source=(filesrc "$(property location="$1")" ! decodebin ! queue ! "${motion[@]}")
  fi
  gst-launch-1.0 -q "${source[@]}" ! ccljson "$(property source="$2")" ! fdsink
}

# components_without_end INPUT SOURCE: the same for a live source. Starts it again, after 1 to 60 seconds,
# whenever it is lost, as long as the script runs.
components_without_end() {
  local pause=1 started
  trap 'exit' INT TERM
  while :; do
    started=$SECONDS
    components_as_json "$1" "$2" || true
    kill -0 "$$" 2>/dev/null || return 0
    ((SECONDS - started < 60)) || pause=1
    printf '%s: lost the source, or had no frame of it for %s s: %s. Starting it again in %s s.\n' \
      "${0##*/}" "$live_timeout" "$2" "$pause" >&2
    sleep "$pause"
    pause=$((pause < 30 ? 2 * pause : 60))
  done
}

# spool_name BROKER_URI SOURCE: the name of the file that keeps lines: another one for each broker, topic
# and source, even if they only differ in what a file name cannot contain.
spool_name() {
  local name sum
  name=$(printf '%s %s' "$1" "$2" | tr -c 'a-zA-Z0-9.\n-' _)
  sum=$(printf '%s %s' "$1" "$2" | cksum)
  printf '%.200s-%s.spool' "$name" "${sum%% *}"
}

# send_components BROKER_URI [INPUT [SOURCE]]: sends them to a broker.
send_components() {
  local source folder=${SPOOL_FOLDER:-${XDG_STATE_HOME:-${HOME:-/tmp}/.local/state}/cudaccl} spool sender
  source=${3:-$(source_name "${2-}")}
  [[ -x $build/apps/send-lines/send-lines ]] ||
    die "missing the program send-lines: build this project with ./run.sh"
  mkdir -p "$folder" || die "cannot create '$folder': set SPOOL_FOLDER"
  spool=$folder/$(spool_name "$1" "$source")
  need_source "${2-}"
  sender=("$build/apps/send-lines/send-lines" --key="$source" --spool="$spool" "$1")
  # A source that is lost does not end the sender. If the sender ends, so does the source.
  ! is_live "${2-}" || exec "${sender[@]}" < <(components_without_end "$2" "$source")
  components_as_json "${2-}" "$source" | "${sender[@]}"
}
