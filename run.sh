#!/usr/bin/env bash
# Installs missing Debian packages, builds, and shows a recording as a camera: a page with live boxes, counts
# and events, at an address that is printed at the end. Works on a fresh Debian 12 or 13, as root or with
# sudo. Where there is no GPU or driver, the CUDA backend is left out. Builds in ./build, or in
# ~/.cache/cudaccl/build if the sources are read-only.
#
#   ./run.sh [--summary] [FILE]
#
# FILE        a video; default: the sample vtest.avi from Debian's package opencv-doc
# --summary   print a summary of the moving objects instead, and exit; the default where the output is
#             no terminal, and in CI
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

summary=
[[ -t 1 && -z ${CI-} ]] || summary=yes
recording=
for argument; do
  case $argument in
  -h | --help) show_help && exit ;;
  --summary) summary=yes ;;
  -*) die "no such option: $argument (see --help)" ;;
  *)
    [[ -z $recording ]] || die "expected one file (see --help)"
    recording=$argument
    ;;
  esac
done

install_missing "${build_packages[@]}" "${run_packages[@]}"
build_for_this_machine "$builds/build" plugins || die "the build failed"

watch=$builds/build/apps/watch/cudaccl-watch
settings=$builds/build/watch/cudaccl-watch.conf
if [[ -z $summary && ! -x $watch ]]; then
  say "no page: cudaccl-watch was left out, see build/meson-logs/meson-log.txt"
  summary=yes
fi
if [[ -n $summary || -n $recording || ! -f $settings ]]; then
  [[ -n $recording ]] || recording=$("$root/scripts/find-recording.sh")
  [[ -r $recording ]] || die "cannot read '$recording'"
fi

if [[ -n $summary ]]; then
  say "finding moving objects in $recording"
  CUDACCL_BUILD=$builds/build "$root/pipelines/recording.sh" "$recording" --quiet --summary
  exit
fi

# Changes on the page stay until another file is given.
if [[ -n $recording ]]; then
  mkdir -p "${settings%/*}"
  recording=$(realpath "$recording")
  recording=${recording//\\/\\\\} # as key files want it
  cat >"$settings" <<END
# Made by run.sh. docs/watch.md describes the settings.
[watch]
data = data

[camera sample]
uri = $recording
loop = true
tripwires = path: 0.5,0.05 0.35,0.95
END
  chmod 600 "$settings"
fi
say "open the page in a browser; Ctrl-C ends the program. Its settings: $settings"
export GST_PLUGIN_PATH=$builds/build/gst/analysis:$builds/build/gst/tools${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
exec "$watch" "$settings"
