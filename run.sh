#!/usr/bin/env bash
# Installs missing Debian packages, builds the plugins, and finds moving objects in a recording; prints
# a summary at the end. Works on a fresh Debian 12 or 13, as root or with sudo. Where there is no GPU or
# driver, the CUDA backend is left out. Builds in ./build, or in ~/.cache/cudaccl/build if the sources
# are read-only.
#
#   ./run.sh [FILE]
#
# FILE   a video; default: the sample vtest.avi from Debian's package opencv-doc
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

case ${1-} in
-h | --help) show_help && exit ;;
-*) die "no such option: $1 (see --help)" ;;
esac

install_missing "${build_packages[@]}" "${run_packages[@]}"
build_for_this_machine "$builds/build" plugins || die "the build failed"

recording=${1-}
if [[ -z $recording ]]; then
  recording=$("$root/scripts/find-recording.sh")
fi
say "finding moving objects in $recording"
CUDACCL_BUILD=$builds/build "$root/pipelines/recording.sh" "$recording" --quiet --summary
