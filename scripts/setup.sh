# shellcheck shell=bash disable=SC2034
# Shared by run.sh, test.sh and the test scripts, which source this file.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Build folders are beside the sources, unless those are read-only.
builds=$root
[[ -w $root ]] || builds=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl

# CUDA's installers do not add nvcc to the PATH.
if ! command -v nvcc >/dev/null && [[ -x /usr/local/cuda/bin/nvcc ]]; then
  PATH=$PATH:/usr/local/cuda/bin
fi

# To build: the compiler, Meson, GStreamer's headers, introspection for libgstccl's bindings, and
# Python's headers for the package.
build_packages=(gcc g++ libc6-dev meson ninja-build pkgconf python3-dev libgirepository1.0-dev
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libgstrtspserver-1.0-dev libjson-glib-dev
  libpango1.0-dev libmosquitto-dev libpng-dev libpq-dev librdkafka-dev libsoup-3.0-dev
  libsqlite3-dev)
# memory:CUDAMemory needs CUDA.
if command -v nvcc >/dev/null; then
  build_packages+=(libgstreamer-plugins-bad1.0-dev)
fi
# To run most example pipelines and cudaccl-watch: the tools, a decoder for the recording (libav), parsers
# for cameras' video (bad), and GStreamer's Python bindings.
run_packages=(gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good
  gstreamer1.0-plugins-bad gstreamer1.0-libav
  python3 python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0)
# For masks.sh, morphology.sh and the tests that use OpenCV's background subtraction, for those of the
# Python package, for those of clips (x264enc), of drawn text, of TLS and of documents.
test_packages=(gstreamer1.0-opencv python3-numpy gstreamer1.0-plugins-ugly fontconfig fonts-dejavu-core
  glib-networking openssl python3-yaml libxml2-utils)
# The page's tests, where there is a browser.
if command -v chromium >/dev/null; then
  test_packages+=(chromium-driver python3-selenium)
fi
# Large packages, those that start a service, and those that check the sources.
ci_packages=(chromium chromium-driver python3-selenium mosquitto mosquitto-clients postgresql prometheus
  python3-matplotlib python3-opencv python3-scipy python3-skimage locales gjs gi-docgen
  clang clang-format libclang-rt-dev llvm shellcheck mkdocs codespell mypy)
# Packages of other sources have kubectl, too, and conflict with Debian's.
command -v kubectl >/dev/null || ci_packages+=(kubernetes-client)

say() {
  printf '== %s\n' "$*" >&2
}

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Prints the comment at the top of the running script.
show_help() {
  sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
}

# quietly COMMAND...: shows the command's output only if it fails.
quietly() {
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  ((status == 0)) || cat "$log" >&2
  rm -f "$log"
  return "$status"
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# install_missing PACKAGE...: installs the packages that are missing.
install_missing() {
  local package missing=()
  if ! command -v apt-get >/dev/null; then
    say "no apt-get: install the equivalents of these Debian packages if they are missing: $*"
    return
  fi
  for package; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      die "not root, and no sudo; ask an administrator to install: ${missing[*]}"
    sudo -v || die "sudo failed; ask an administrator to install: ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  quietly apt_get update || die "apt-get update failed"
  quietly apt_get install --yes --no-install-recommends "${missing[@]}" ||
    die "apt-get install failed"
}

# Whether a driver has made device nodes for a GPU of NVIDIA: as a card, on a Jetson, in WSL.
has_gpu() {
  compgen -G '/dev/nvidia[0-9]*' >/dev/null || [[ -e /dev/nvhost-gpu || -e /dev/nvgpu || -e /dev/dxg ]]
}

# configure_in FOLDER [OPTION...]: configures, unless the folder is configured.
configure_in() {
  local folder=$1
  shift
  mkdir -p "${folder%/*}" || return
  [[ -f $folder/build.ninja ]] || quietly meson setup "$@" "$folder" "$root"
}

# build_in FOLDER [OPTION...]: configures (once) and compiles everything, with the tests.
build_in() {
  say "building in ${1#"$builds/"}"
  configure_in "$@" -Dtests=enabled && quietly ninja -C "$1"
}

# build_for_this_machine FOLDER [-DOPTION...] [TARGET...]: what is installed, or the targets, by default without
# kernels that no GPU here would run: compiling them for all architectures takes minutes.
build_for_this_machine() {
  local folder=$1 options=() given=()
  shift
  while [[ ${1-} == -D* ]]; do
    given+=("$1")
    shift
  done
  if command -v nvcc >/dev/null && ! has_gpu; then
    options=(-Dcuda=disabled)
  fi
  say "building ${*:-everything} in ${folder#"$builds/"}"
  configure_in "$folder" "${options[@]}" "${given[@]}" && quietly ninja -C "$folder" "$@" || return
  if ((${#options[@]})) && ! grep -q HAVE_CUDA "$folder/build.ninja"; then
    say "left out: the CUDA backend, since there is no GPU or driver here; to build it:" \
      "meson configure ${folder#"$root/"} -Dcuda=enabled && ninja -C ${folder#"$root/"}"
  fi
}
