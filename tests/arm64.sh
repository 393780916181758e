#!/usr/bin/env bash
# Cross-compiles the project for 64-bit ARM and runs checkccl in an emulator; then cross-compiles the
# CUDA backend for a Jetson Orin (compute capability 8.7), which nothing here can run.
#
#   tests/arm64.sh [--no-cuda] [--folder FOLDER] [OPTION...]
#
# --no-cuda   without the second part
# --folder    folder of the libraries, which are kept: about 1 GB; default:
#             ${XDG_CACHE_HOME:-~/.cache}/cudaccl/arm64
# OPTION      for checkccl; default: --small, since the emulator is slow
#
# Needs root, debootstrap, the cross compiler and qemu-user-static, which it installs on Debian. The
# libraries are those of Debian 12. The second part needs nvcc, and takes NVIDIA's runtime library for
# ARM from nvcc's folder targets/sbsa-linux or else, with pip, from the package nvidia-cuda-runtime.
# The last line counts the parts.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"
# shellcheck source=scripts/roots.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/roots.sh"
# shellcheck source=scripts/results.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/results.sh"

cuda=yes folder=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/arm64 options=()
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --no-cuda) cuda= ;;
  --folder)
    (($# > 1)) || die "--folder needs a folder"
    folder=$2
    shift
    ;;
  *) options+=("$1") ;;
  esac
  shift
done
((${#options[@]})) || options=(--small)

# Unpacks Debian's packages for ARM into $sysroot; none of their programs runs.
make_sysroot() {
  local file packages=libc6-dev,libgcc-12-dev,libstdc++-12-dev,libgstreamer1.0-dev
  [[ ! -e $sysroot/.complete ]] || return 0
  say "unpacking libraries in $sysroot"
  rm -rf "$sysroot"
  quietly debootstrap --foreign --arch=arm64 --variant=minbase --keyring="$keyring" \
    --include="$packages,libgstreamer-plugins-base1.0-dev,libjson-glib-dev" \
    bookworm "$sysroot" "$mirror" || return
  for file in "$sysroot"/var/cache/apt/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$file" | tar -C "$sysroot" --keep-directory-symlink --extract || return
  done
  touch "$sysroot/.complete"
}

# Writes what the cross file of the project leaves open.
write_cross_file() {
  local libraries=$sysroot/usr/lib/aarch64-linux-gnu
  cat <<END
[binaries]
exe_wrapper = ['qemu-aarch64-static', '-L', '$sysroot']
cuda = ['${nvcc[0]:-nvcc}', '--target-directory', 'sbsa-linux', '-ccbin', 'aarch64-linux-gnu-g++',
  '-Xcompiler=--sysroot=$sysroot', '-Xlinker=--sysroot=$sysroot']
[properties]
sys_root = '$sysroot'
pkg_config_libdir = ['$libraries/pkgconfig', '$sysroot/usr/share/pkgconfig']
[built-in options]
c_args = ['--sysroot=$sysroot']
cpp_args = ['--sysroot=$sysroot']
c_link_args = ['--sysroot=$sysroot']
cpp_link_args = ['--sysroot=$sysroot']
END
}

# build_cross FOLDER [OPTION...]: as build_in.
build_cross() {
  build_in "$@" --cross-file "$root/cross/aarch64-linux-gnu.ini" --cross-file "$folder/sysroot.ini" \
    -Dwerror=true
}

emulate() {
  qemu-aarch64-static -L "$sysroot" "$@"
}

check_cpu() {
  build_cross "$folder/build" -Dcuda=disabled || return
  emulate "$folder/build/tests/engine/plan" && emulate "$folder/build/tests/engine/checkccl" "${options[@]}"
}

# Prints the folder of nvcc itself, which may be called through another program.
find_toolkit() {
  local bin
  echo '' >"$folder/empty.cu"
  bin=$(nvcc --dryrun -c "$folder/empty.cu" -o /dev/null 2>&1 | sed -n 's/^#\$ _HERE_=//p')
  [[ -n $bin ]] && dirname "$bin"
}

# Makes a copy of the toolkit with the runtime for ARM, unless the toolkit has it. The compiler finds
# its files beside itself, so it must be a copy, not a link.
make_toolkit() {
  local toolkit=$1 version package file
  if [[ -e $toolkit/targets/sbsa-linux/lib/libcudart_static.a ]]; then
    nvcc=("$toolkit/bin/nvcc")
    return
  fi
  version=$(nvcc --version | sed -nE 's/.*release ([0-9]+\.[0-9]+),.*/\1/p')
  package=nvidia-cuda-runtime
  [[ ${version%%.*} -ge 13 ]] || package+=-cu${version%%.*}
  rm -rf "$folder/cuda" "$folder/runtime"
  mkdir -p "$folder/runtime" "$folder/cuda/bin" "$folder/cuda/targets/sbsa-linux"
  if ! python3 -m pip --quiet download --no-deps --only-binary=:all: --dest "$folder/runtime" \
    --platform manylinux2014_aarch64 "$package==$version.*" >/dev/null 2>&1; then
    echo "no CUDA runtime for ARM: neither $toolkit/targets/sbsa-linux nor $package $version for aarch64"
    return 77
  fi
  python3 -m zipfile -e "$folder"/runtime/*.whl "$folder/runtime"
  file=$(find "$folder/runtime" -name libcudart_static.a)
  [[ -n $file ]] || return
  for file in "$toolkit"/bin/*; do
    ln -s "$file" "$folder/cuda/bin/"
  done
  cp --remove-destination "$toolkit/bin/nvcc" "$toolkit/bin/nvcc.profile" "$folder/cuda/bin/"
  ln -s "$toolkit/nvvm" "$toolkit/include" "$folder/cuda/"
  ln -s "$toolkit/include" "$folder/cuda/targets/sbsa-linux/include"
  ln -s "$(dirname "$(find "$folder/runtime" -name libcudart_static.a)")" "$folder/cuda/targets/sbsa-linux/lib"
  nvcc=("$folder/cuda/bin/nvcc")
}

check_cuda() {
  local toolkit
  if ! command -v nvcc >/dev/null; then
    echo "no nvcc"
    return 77
  fi
  toolkit=$(find_toolkit) || return
  make_toolkit "$toolkit" || return
  write_cross_file >"$folder/sysroot.ini"
  build_cross "$folder/build-cuda" -Dcuda=enabled -Dcuda-arch=87 || return
  # The CPU backend of that program runs.
  emulate "$folder/build-cuda/tests/engine/checkccl" --small --backend=cpu --test=cpu-rows
}

# part NAME FUNCTION: runs a part and shows the end of its output.
part() {
  local status=0
  say "$1 (the log is $folder/$2.log)"
  "$2" >"$folder/$2.log" 2>&1 </dev/null || status=$?
  tail -n 5 "$folder/$2.log"
  result_of "$status" "$1"
}

((EUID == 0)) || die "needs root"
install_missing debootstrap g++-aarch64-linux-gnu gcc-aarch64-linux-gnu qemu-user-static
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
sysroot=$folder/root nvcc=()
mirror=$(need_mirror) || exit
export_proxies
make_sysroot || die "could not make $sysroot"
write_cross_file >"$folder/sysroot.ini"

part "checkccl on ARM" check_cpu
[[ -z $cuda ]] || part "CUDA for compute capability 8.7" check_cuda
summarize
