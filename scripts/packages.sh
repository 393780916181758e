#!/usr/bin/env bash
# Builds Debian packages of the working tree, and tries them:
#
#   scripts/packages.sh [--output FOLDER] [--folder FOLDER] [--test] [--cuda] [SUITE...]
#
# SUITE      bookworm, trixie, jammy or noble: builds in a clean root of it (needs root and
#            debootstrap), installs the packages in another, tries them there and removes them;
#            default: builds on this machine, which must have what debian/control names, and
#            installs nothing
# --output   folder for the packages; default: packages, in it a folder for each suite
# --folder   folder of the roots, which are kept; default: ${XDG_CACHE_HOME:-~/.cache}/cudaccl/roots
# --test     runs the tests while building
# --cuda     with the CUDA backend; nvcc must be there
#
# Prints the packages with their sizes. Lintian must find no error and no warning.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=scripts/roots.sh
. "$root/scripts/roots.sh"

output=$root/packages folder=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/roots
build_options="nocheck parallel=$(nproc)" suites=()
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --test) build_options=${build_options/nocheck /} ;;
  --cuda) build_options+=" cuda" ;;
  --output | --folder)
    (($# > 1)) || die "$1 needs a folder"
    declare "${1#--}=$(realpath -m "$2")"
    shift
    ;;
  bookworm | trixie | jammy | noble) suites+=("$1") ;;
  *) die "no such option or suite: $1 (see --help)" ;;
  esac
  shift
done

# Builds in the folder of the sources, and checks with lintian; in a root or on this machine.
# shellcheck disable=SC2016
build='set -euo pipefail
  cd "$1"
  export DEB_BUILD_OPTIONS=$2 DEB_BUILD_PROFILES=$3
  dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes
  lintian --fail-on=error,warning --profile=debian --suppress-tags=initial-upload-closes-no-bugs ../*.changes'

# Uses what was installed, of each package.
# shellcheck disable=SC2016
try='set -euo pipefail
  cd "$(mktemp -d)"
  gst-inspect-1.0 cclmotion >/dev/null
  gst-launch-1.0 -q videotestsrc num-buffers=50 pattern=ball ! cclmotion ! ccljson \
    ! filesink location=lines
  (($(wc -l <lines) == 50))
  checkccl --quick >/dev/null
  ccl-bench --size=64x48 --runs=2 >/dev/null
  send-lines --help >/dev/null
  cc -o components /src/docs/components.c $(pkg-config --cflags --libs cudaccl)
  ./components
  python3 -c "import gi; gi.require_version(\"GstCcl\", \"1.0\"); from gi.repository import GstCcl"
  [[ $1 == jammy ]] || python3 -c "import cudaccl"
  cudaccl-watch --version >/dev/null
  printf "[watch]\ndata = data\n[camera ball]\nuri = test://\n" >watch.conf
  cudaccl-watch watch.conf &
  sleep 5
  kill $!
  wait $!
  apt-get -qq purge -y ".*cudaccl.*" ".*gstccl.*" >/dev/null
  if dpkg-query -W | grep -i ccl; then exit 1; fi'

# build_here TO: builds on this machine.
build_here() {
  local work
  work=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  install_missing debhelper dh-python lintian
  copy_sources "$work"
  quietly bash -c "$build" build "$work/src" "$build_options" ""
  mkdir -p "$1"
  cp "$work"/*.deb "$1/"
}

# in_suite SUITE TO: builds in a root, and tries the packages in another.
in_suite() {
  local suite=$1 to=$2 where=$folder/packages-$1 clean=$folder/clean-$1 profiles=
  # The package needs Python 3.11.
  [[ $suite != jammy ]] || profiles=nopython
  make_root "$where" "$suite" && copy_sources "$where" || return
  say "$suite: building"
  quietly in_root "$where" env DEBIAN_FRONTEND=noninteractive DEB_BUILD_PROFILES="$profiles" bash -c '
    set -e
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends build-essential lintian
    apt-get -qq build-dep -y --no-install-recommends /src' || return
  rm -f "$where"/*.deb
  quietly in_root "$where" bash -c "$build" build /src "$build_options" "$profiles" || return
  mkdir -p "$to"
  cp "$where"/*.deb "$to/"

  say "$suite: installing in a clean root"
  make_root "$clean" "$suite" && copy_sources "$clean" || return
  rm -rf "$clean/packages"
  mkdir "$clean/packages"
  cp "$to"/*.deb "$clean/packages/"
  rm -f "$clean"/packages/*-dbgsym_*
  # shellcheck disable=SC2016
  quietly in_root "$clean" env DEBIAN_FRONTEND=noninteractive bash -c '
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends gcc libc6-dev pkg-config gstreamer1.0-tools \
      python3-gi /packages/*.deb' || return
  quietly in_root "$clean" bash -c "$try" try "$suite"
}

((${#suites[@]} == 0)) || {
  ((EUID == 0)) || die "needs root"
  install_missing debootstrap git
  mirror=$(need_mirror) || exit
  export_proxies
}
if ((${#suites[@]} == 0)); then
  build_here "$output"
  (cd "$output" && du -h -- *.deb)
fi
for suite in "${suites[@]}"; do
  in_suite "$suite" "$output/$suite" || die "$suite: FAILED"
  (cd "$output" && du -h -- "$suite"/*.deb)
done
