#!/usr/bin/env bash
# Installs a build into an empty folder and uses it like a program that finds it with pkg-config.
# Run by meson test.
#
#   MESON=COMMAND CC=COMPILER tests/install.sh BUILD PREFIX LIBDIR
#
# Exit status 77: skipped.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$1
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
prefix=$stage$2
case $3 in
/*) libdir=$stage$3 ;;
*) libdir=$prefix/$3 ;;
esac
read -ra meson <<<"${MESON:-meson}"
read -ra cc <<<"${CC:-cc}"

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

for command in pkg-config gst-inspect-1.0; do
  command -v "$command" >/dev/null || {
    echo "skipped: no $command"
    exit 77
  }
done

DESTDIR=$stage "${meson[@]}" install -C "$build" --no-rebuild --quiet

# The .pc files must name the staging folder.
sed -i "s,^prefix=.*,prefix=$prefix," "$libdir/pkgconfig/"{gstccl-1.0,cudaccl}.pc
export PKG_CONFIG_PATH=$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
read -ra flags < <(pkg-config --cflags --libs gstccl-1.0)
[[ " ${flags[*]} " != *" -I$root"* ]] || die "pkg-config names the sources: ${flags[*]}"
(cd "$stage" && "${cc[@]}" -Wall -Werror -o boxes "$root/pipelines/print-boxes.c" "${flags[@]}")
read -ra flags < <(pkg-config --cflags --libs cudaccl)
# The headers and the examples are C++, too.
for example in components labels motion volumes; do
  (cd "$stage" && "${cc[@]}" -Wall -Wextra -Werror -o "$example" "$root/docs/$example.c" "${flags[@]}")
  "${cc[@]}" -x c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only "$root/docs/$example.c" "${flags[@]}"
done
(cd "$stage" && "${cc[@]}" -x c++ -std=c++20 -Wall -Wextra -Werror -o spans "$root/docs/spans.cpp" "${flags[@]}" -lstdc++)

# From here on, only the installed files are used.
export LD_LIBRARY_PATH=$libdir GST_PLUGIN_PATH=$libdir/gstreamer-1.0 GST_REGISTRY=$stage/registry
unset GST_PLUGIN_PATH_1_0 GST_REGISTRY_1_0
for example in components labels motion volumes spans; do
  echo "$example:"
  "$stage/$example"
done >"$stage/output"
diff - "$stage/output" <<'END' || die "an example of docs/ has another result"
components:
1: 2x2 at (0, 0), area 4
2: 3x3 at (5, 1), area 4
3: 1x1 at (0, 3), area 1
labels:
11000000
11000220
00000020
00000000
motion:
frame 49: at (95, 99)
frame 74: at (195, 99)
volumes:
1: 3 voxels from (0, 0, 0)
2: 3 voxels from (2, 1, 1)
spans:
1: area 4, euler 1
2: area 3, euler 1
3: area 1, euler 1
1 in a volume
3 in a frame of a batch
3 in a frame of a batch
END
if command -v cmake >/dev/null; then
  mkdir "$stage/cmake"
  cat >"$stage/cmake/CMakeLists.txt" <<END
cmake_minimum_required (VERSION 3.16)
project (example C)
find_package (cudaccl $(pkg-config --modversion cudaccl) CONFIG REQUIRED)
add_executable (example "$root/docs/components.c")
target_link_libraries (example PRIVATE cudaccl::cudaccl)
END
  if ! (cd "$stage/cmake" && cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="${cc[-1]}" . && cmake --build .) \
    >"$stage/output" 2>&1; then
    cat "$stage/output"
    die "CMake does not find the package"
  fi
  "$stage/cmake/example" | diff - <("$stage/components") || die "the program of CMake has another result"
fi
for element in cudaccl cclmerge; do
  gst-inspect-1.0 "$element" >"$stage/output"
  page=$(sed -nE 's,^ *Doc-uri +(file://)?,,p' "$stage/output")
  [[ $page == http* || -f $stage$page ]] || die "$element has no page at '$page'"
  grep -qE "^ *Version *$(pkg-config --modversion cudaccl)\$" "$stage/output" || die "$element has another version"
  grep -q "^ *Filename *$libdir/gstreamer-1.0/" "$stage/output" ||
    die "$element does not come from $libdir/gstreamer-1.0"
done
"$stage/boxes" --set=backend=cpu --summary -- videotestsrc pattern=ball num-buffers=20 \
  ! 'video/x-raw,format=GRAY8,width=321,height=243,framerate=30/1' >"$stage/output"
grep -qE '^frames with components +20$' "$stage/output" || {
  cat "$stage/output"
  die "the installed plugin did not find the ball"
}

version=$(sed -nE '1s/.*\((.*)\).*/\1/p' "$root/debian/changelog")
[[ $version == "$(pkg-config --modversion cudaccl)" ]] || die "debian/changelog has version $version"

if [[ -n $(find "$build/gst/meta" -name '*.typelib') ]]; then
  for file in "$libdir/girepository-1.0/GstCcl-1.0.typelib" "$prefix/share/gir-1.0/GstCcl-1.0.gir"; do
    [[ -e $file ]] || die "${file#"$stage"} was not installed"
  done
fi
