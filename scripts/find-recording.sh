#!/usr/bin/env bash
# Prints the path of the recording vtest.avi (768x576, 10 frames/s, 795 frames of pedestrians), a
# sample file from Debian's package opencv-doc. If it is not on this machine, downloads the package
# with apt-get and keeps that one file in build/recording, or in ~/.cache/cudaccl/build/recording if
# the sources are read-only. Installs nothing.
#
#   scripts/find-recording.sh              search, then download
#   scripts/find-recording.sh --no-fetch   search only; exit status 1 if it is missing
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

case ${1-} in
'' | --no-fetch) ;;
-h | --help) show_help && exit ;;
*) die "no such option: $1 (see --help)" ;;
esac

kept=$builds/build/recording/vtest.avi
for file in "$kept" /usr/share/doc/opencv-doc/examples/data/vtest.avi; do
  if [[ -s $file ]]; then
    printf '%s\n' "$file"
    exit
  fi
done
[[ ${1-} != --no-fetch ]] || exit 1
command -v apt-get >/dev/null ||
  die "vtest.avi not found, and no apt-get to download it; pass a video file instead"

# Container images often configure dpkg to skip documentation, which includes this recording. So
# unpack the package instead of installing it.
say "downloading the recording vtest.avi (package opencv-doc, about 100 MB, keeping 8 MB)"
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cd "$temporary"
if ! apt-get -qq -o APT::Sandbox::User="$(id -un)" download opencv-doc >log 2>&1 </dev/null; then
  quietly apt_get update # no package lists yet
  quietly apt-get -qq -o APT::Sandbox::User="$(id -un)" download opencv-doc
fi
member=$(dpkg-deb --fsys-tarfile opencv-doc_*.deb | tar -t | sed -n '/\/vtest\.avi$/p')
[[ -n $member ]] || die "this version of opencv-doc has no vtest.avi; pass a video file instead"
dpkg-deb --fsys-tarfile opencv-doc_*.deb | tar -xO "$member" >vtest.avi
mkdir -p "${kept%/*}"
mv vtest.avi "$kept"
printf '%s\n' "$kept"
