#!/usr/bin/env bash
# Installs what is missing (Debian packages), builds, and finds what moves in a recording: a table of
# what was found stands at the end. Works on a fresh Debian 12 or 13, as root or with sudo.
#
#   ./run.sh [FILE]
#
# FILE   a video; default: the sample vtest.avi of Debian's package opencv-doc
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/scripts/setup.sh"

case ${1-} in
-h | --help) show_help && exit ;;
-*) die "no such option: $1 (see --help)" ;;
esac

install_missing "${build_packages[@]}" "${run_packages[@]}"
build_in "$root/build" || die "the build failed"

recording=${1-}
if [[ -z $recording ]]; then
  recording=$("$root/scripts/find-recording.sh")
fi
say "finding what moves in $recording"
"$root/pipelines/recording.sh" "$recording" --quiet --summary
