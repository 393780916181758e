#!/usr/bin/env bash
# Builds and tests the project with the oldest and the newest versions of its dependencies, in a root
# folder for each distribution, made by debootstrap:
#
#   ubuntu22   GStreamer 1.20, without CUDA: Ubuntu's 11.5 is too old
#   debian12   GStreamer 1.22, CUDA 11.8
#   debian13   GStreamer 1.26, CUDA 12.4
#   debian14   GStreamer 1.28 and what else is in Debian's testing, without CUDA
#
#   tests/versions.sh [--no-cuda] [--cuda-arch LIST] [--pages] [--folder FOLDER] [ROOT...]
#
# ROOT          one of the four; default: all
# --no-cuda     without CUDA's packages, which are several GB
# --cuda-arch   compute capabilities to compile for, e.g. 75,86; default: all
# --pages       updates docs/elements from debian13, whose build has every feature
# --folder      folder of the roots, which are kept: about 9 GB each, 2 GB without CUDA; default:
#               ${XDG_CACHE_HOME:-~/.cache}/cudaccl/roots
#
# Needs root, debootstrap, and the archive keys of both distributions; Ubuntu's are in the package
# ubuntu-keyring of Debian 13 and Ubuntu. Debian's mirror, proxies and certificates are those of this
# machine's apt; on machines other than Debian, set DEBIAN_MIRROR in the environment.
# The last line counts the roots.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"
# shellcheck source=scripts/roots.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/roots.sh"

declare -A suites=([ubuntu22]=jammy [debian12]=bookworm [debian13]=trixie [debian14]=forky)

cuda=yes cuda_arch=auto pages=no folder=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/roots
names=()
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --no-cuda) cuda= ;;
  --cuda-arch)
    (($# > 1)) || die "--cuda-arch needs a list"
    cuda_arch=$2
    shift
    ;;
  --pages) pages=yes ;;
  --folder)
    (($# > 1)) || die "--folder needs a folder"
    folder=$2
    shift
    ;;
  -*) die "no such option: $1 (see --help)" ;;
  *)
    [[ -n ${suites[$1]-} ]] || die "no such root: $1; use ${!suites[*]}"
    names+=("$1")
    ;;
  esac
  shift
done
((${#names[@]})) || names=(ubuntu22 debian12 debian13 debian14)

# install_in ROOT PACKAGE...: installs what the project's scripts install, and these packages.
install_in() {
  local where=$1
  shift
  # shellcheck disable=SC2016
  in_root "$where" bash -c '
    set -euo pipefail
    . /src/scripts/setup.sh
    dpkg --configure -a
    install_missing "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}" "$@"' setup "$@"
}

# build_and_test ROOT MAKE_PAGES: yes updates the elements' pages before they are tested.
build_and_test() {
  local where=$1 make_pages=$2 options=(-Dwerror=true -Dtests=enabled)
  # The emulated device needs no library, and takes half of the time; CI runs it.
  options+=(-Demulation=disabled)
  [[ -n $cuda ]] && options+=(-Dcuda=enabled "-Dcuda-arch=$cuda_arch") || options+=(-Dcuda=disabled)
  # shellcheck disable=SC2016
  in_root "$where" env CCACHE_DIR=/ccache bash -c '
    set -euo pipefail
    rm -rf /build
    cd /src
    make_pages=$1
    shift
    meson setup /build "$@"
    ninja -C /build
    if [[ $make_pages == yes ]]; then
      rm -f docs/elements/*.md
      meson devenv -C /build /src/docs/elements.py /build/gst
    fi
    meson test -C /build --no-rebuild --print-errorlogs --timeout-multiplier 4' \
    build "$make_pages" "${options[@]}"
}

# version ROOT COMMAND...: prints the first version number in the output of the command.
version() {
  in_root "$@" 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 || true
}

# row FIELD...: prints a line of the table.
row() {
  printf '%-10s %-10s %-8s %-8s %-8s %-8s %-8s %s\n' "$@"
}

# report ROOT RESULT LOG: prints the root's lines.
report() {
  local where=$1 result=$2 log=$3 nvcc=none
  [[ -z $cuda ]] || nvcc=$(version "$where" sh -c 'nvcc --version | grep -i release')
  row "${where##*/}" "$(version "$where" pkg-config --modversion gstreamer-1.0)" \
    "$(version "$where" pkg-config --modversion glib-2.0)" "${nvcc:-none}" \
    "$(version "$where" gcc -dumpfullversion)" "$(version "$where" meson --version)" \
    "$(version "$where" python3 --version)" "$result"
  awk '/^(Ok|Expected Fail|Fail|Unexpected Pass|Skipped|Timeout):/ {
         gsub(/ +/, " "); sub(/ $/, ""); line = line ", " $0 }
       END { if (line) print "  tests: " substr(line, 3) }' "$log"
  awk -F': ' '/^  *(CUDA backend|introspection|analytics|API pages|tests) *:/ {
         gsub(/ +/, " "); line = line "," $0 }
       END { if (line) print "  built:" substr(line, 2) }' "$log"
}

# check_root NAME: prepares, builds, tests, and writes its lines of the table to a file.
check_root() {
  local name=$1 where=$folder/$1 result=passed make_pages=no cuda=$cuda
  local extra=(gi-docgen gir1.2-gst-plugins-bad-1.0 gjs gstreamer1.0-plugins-bad
    libgstreamer-plugins-bad1.0-dev mosquitto mosquitto-clients opencv-doc ccache)
  [[ $name != debian13 ]] || make_pages=$pages
  [[ $name != ubuntu22 && $name != debian14 ]] || cuda=
  [[ -z $cuda ]] || extra+=(nvidia-cuda-toolkit)
  make_root "$where" "${suites[$name]}" || return
  copy_sources "$where" || return
  say "$name: installing"
  install_in "$where" "${extra[@]}" || return
  say "$name: building and testing (the log is $folder/$name.log)"
  build_and_test "$where" "$make_pages" >"$folder/$name.log" 2>&1 </dev/null || result=FAILED
  if [[ $make_pages == yes ]]; then
    cp "$where"/src/docs/elements/*.md "$root/docs/elements/"
  fi
  [[ $result == passed ]] || tail -n 60 "$folder/$name.log" >&2
  report "$where" "$result" "$folder/$name.log" >"$folder/$name.table"
  [[ $result == passed ]]
}

((EUID == 0)) || die "needs root"
install_missing debootstrap git
mirror=$(need_mirror) || exit
export_proxies
# The roots share ccache's files, which tell their compilers apart.
mkdir -p "$folder/ccache"
binds+=("$folder/ccache:/ccache")

passed=0 failed=0
for name in "${names[@]}"; do
  rm -f "$folder/$name.table"
  if check_root "$name"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done

row root GStreamer GLib CUDA gcc Meson Python result
for name in "${names[@]}"; do
  if [[ -e $folder/$name.table ]]; then
    cat "$folder/$name.table"
  else
    row "$name" - - - - - - "FAILED before the build"
  fi
done
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
