#!/usr/bin/env bash
# Builds an image with buildah, prints its size, and writes a bill of materials (SPDX).
#
#   deploy/images/build.sh [OPTION...] cpu|cuda|l4t      (l4t: experimental)
#
# --base ROOT         the folder of a root (debootstrap) as base, instead of an image of a registry; also for
# --build-base ROOT   the base of the stage that builds; default: --base
# --root-of SUITE     makes such a root of Debian, bookworm or trixie, and takes it for both
# --volume FROM:TO    a folder that steps see, such as that of nvcc
# --arg NAME=VALUE    an argument of the Containerfile, such as CUDA_ARCH=87
# --output FOLDER     for the bill of materials; default: packages
# --try               runs it as user 10001 with a root that is read only, and checks its health (needs root)
#
# Debian: buildah. As root, or as a user with subordinate ids and a registry's images. Where runtimes of containers
# may not set limits, BUILDAH_ISOLATION=chroot.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/setup.sh"
# shellcheck source=scripts/roots.sh
. "$root/scripts/roots.sh"

base='' build_base='' suite='' output=$root/packages kind='' try='' options=()
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  cpu | cuda | l4t) kind=$1 ;;
  --try) try=yes ;;
  --*)
    (($# > 1)) || die "$1 needs a value (see --help)"
    case $1 in
    --base) base=$2 ;;
    --build-base) build_base=$2 ;;
    --root-of) suite=$2 ;;
    --volume) options+=(--volume "$2") ;;
    --arg) options+=(--build-arg "$2") ;;
    --output) output=$(realpath -m "$2") ;;
    *) die "no such option: $1 (see --help)" ;;
    esac
    shift
    ;;
  *) die "no such image: $1 (see --help)" ;;
  esac
  shift
done
[[ -n $kind ]] || die "expected cpu, cuda or l4t (see --help)"
command -v buildah >/dev/null || die "no buildah (Debian: buildah)"

# import ROOT NAME: makes an image of the files of a root.
import() {
  local container
  [[ -d $1/etc ]] || die "$1 is no root"
  say "importing $1"
  container=$(buildah from scratch)
  quietly buildah copy "$container" "$1" / || die "cannot import $1"
  quietly buildah commit --rm "$container" "$2" || die "cannot import $1"
}

# try_image FOLDER: runs the program in the mounted image, without an engine of containers.
# shellcheck disable=SC2016
try_image() {
  local data status=0
  data=$(mktemp -d)
  chown 10001:10001 "$data"
  chmod 700 "$data"
  unshare --mount --propagation private bash -c '
    set -euo pipefail
    place=$2.root
    mkdir "$place"
    mount --bind "$1" "$place"
    mount --bind "$2" "$place/data"
    mount -t proc proc "$place/proc"
    mount --bind /dev "$place/dev"
    mount -t tmpfs tmpfs "$place/tmp"
    mount -o remount,ro,bind "$place"
    # For a subshell, which becomes the program.
    in_image() {
      exec env -i PATH=/usr/bin:/bin HOME=/data XDG_CONFIG_HOME=/data XDG_DATA_HOME=/data XDG_CACHE_HOME=/tmp \
        GST_REGISTRY=/tmp/registry.bin /usr/sbin/chroot --userspec=10001:10001 --groups= "$place" "$@"
    }
    printf "[server]\nlisten = 127.0.0.1:8498\n[camera ball]\nuri = test://\n" >"$2/cudaccl-watch.conf"
    chown 10001:10001 "$2/cudaccl-watch.conf"
    if (in_image touch /etc/x) 2>/dev/null; then
      echo "the root can be written"
      exit 1
    fi
    begin=$(date +%s%N)
    in_image cudaccl-watch &
    for ((i = 0; i < 300; i++)); do
      ! (in_image cudaccl-watch --healthy) 2>/dev/null || break
      sleep 0.1
    done
    (in_image cudaccl-watch --healthy)
    echo "healthy after $((($(date +%s%N) - begin) / 1000000)) ms"
    kill $!
    wait $!
    if (in_image cudaccl-watch --healthy); then
      echo "healthy, but ended"
      exit 1
    fi' try "$1" "$data" || status=$?
  rm -rf "$data" "$data.root"
  return "$status"
}

if [[ -n $suite ]]; then
  base=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/roots/base-$suite
  install_missing debootstrap
  mirror=$(need_mirror) || exit
  export_proxies
  mkdir -p "${base%/*}"
  make_root "$base" "$suite" || die "cannot make $base"
fi
if [[ -n $base ]]; then
  import "$base" localhost/cudaccl-base
  options+=(--build-arg BASE=localhost/cudaccl-base --pull-never)
  if [[ -n $build_base ]]; then
    import "$build_base" localhost/cudaccl-build-base
    options+=(--build-arg BUILD_BASE=localhost/cudaccl-build-base)
  elif [[ $kind != cpu ]]; then
    options+=(--build-arg BUILD_BASE=localhost/cudaccl-base)
  fi
fi
version=$(dpkg-parsechangelog -l "$root/debian/changelog" -S version)
say "building cudaccl-watch:$kind"
# Docker's format has health checks.
buildah build --format docker --network host --layers=false --tag "cudaccl-watch:$kind" --tag "cudaccl-watch:$version-$kind" \
  --label "org.opencontainers.image.title=cudaccl-watch" --label "org.opencontainers.image.version=$version" \
  --label org.opencontainers.image.licenses=LGPL-2.1-or-later \
  "${options[@]}" --file "$root/deploy/images/Containerfile.$kind" "$root"

container=$(buildah from --pull-never "cudaccl-watch:$kind")
trap 'buildah rm "$container" >/dev/null' EXIT
mounted=$(buildah mount "$container")
mkdir -p "$output"
"$root/deploy/images/sbom.py" "$mounted" "cudaccl-watch:$version-$kind" >"$output/cudaccl-watch-$kind.spdx.json"
say "cudaccl-watch:$kind: $(du -sm "$mounted" | cut -f1) MB, $(
  grep -c '"SPDXID": "SPDXRef-Package' "$output/cudaccl-watch-$kind.spdx.json") packages ($output/cudaccl-watch-$kind.spdx.json)"
[[ -z $try ]] || try_image "$mounted" || die "cudaccl-watch:$kind does not run"
