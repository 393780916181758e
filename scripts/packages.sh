#!/usr/bin/env bash
# Builds Debian packages of the working tree, and tries them:
#
#   scripts/packages.sh [--output FOLDER] [--folder FOLDER] [--arch ARCH] [--test] [--cuda]
#                      [--no-build] [SUITE...]
#
# SUITE      bookworm, trixie, jammy or noble: builds in a root of it (needs root and debootstrap), runs
#            debian/tests in a clean root with the packages installed, measures the time to the page, tries
#            the upgrade from the version before and a signed repository, and looks for what a purge leaves;
#            default: builds on this machine, which must have what debian/control names, and installs nothing
# --output   folder for the packages; default: packages, in it a folder for each suite
# --folder   folder of the roots, which are kept, 4 GB for each suite; default:
#            ${XDG_CACHE_HOME:-~/.cache}/cudaccl/roots
# --arch     cross-compiles, for example for arm64; the packages are not tried
# --test     runs the tests while building
# --no-build tries the packages of the run before
# --cuda     with the CUDA backend; nvcc must be there
#
# Prints the packages with their sizes. Lintian must find no error and no warning. The version before is that
# of the newest tag below this version; without a tag, these packages with a lower version.
# UBUNTU_MIRROR in the environment names a mirror of Ubuntu, CCACHE_DIR a folder of ccache.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=scripts/roots.sh
. "$root/scripts/roots.sh"

no_build='' output=$root/packages folder=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/roots arch=
build_options="nocheck parallel=$(nproc)" suites=()
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --test) build_options=${build_options/nocheck /} ;;
  --no-build) no_build=yes ;;
  --cuda) build_options+=" cuda" ;;
  --output | --folder)
    (($# > 1)) || die "$1 needs a folder"
    declare "${1#--}=$(realpath -m "$2")"
    shift
    ;;
  --arch)
    (($# > 1)) || die "--arch needs a name"
    arch=$2
    shift
    ;;
  bookworm | trixie | jammy | noble) suites+=("$1") ;;
  *) die "no such option or suite: $1 (see --help)" ;;
  esac
  shift
done
[[ -z $arch || ${#suites[@]} -gt 0 ]] || die "--arch needs a suite"

# Builds in the folder of the sources, and checks with lintian; in a root or on this machine.
# shellcheck disable=SC2016
build='set -euo pipefail
  cd "$1"
  export DEB_BUILD_OPTIONS=$2 DEB_BUILD_PROFILES=$3
  shift 3
  [[ ! -d /ccache ]] || export CCACHE_DIR=/ccache PATH=/usr/lib/ccache:$PATH
  dpkg-buildpackage --build=binary --unsigned-source --unsigned-changes "$@"
  lintian --allow-root --fail-on=error,warning --profile=debian --suppress-tags=initial-upload-closes-no-bugs \
    ../*.changes'

# apt_in ROOT COMMAND...: apt-get in the root.
apt_in() {
  local where=$1
  shift
  quietly in_root "$where" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o APT::Install-Recommends=false "$@"
}

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

# fresh_root SUITE NAME: a copy of the clean root of the suite, NAME-SUITE, which it prints.
fresh_root() {
  local base=$folder/base-$1 where=$folder/$2-$1
  make_root "$base" "$1" || return
  rm -rf "$where"
  cp -a "$base" "$where"
  echo 'APT::Keep-Downloaded-Packages "true";' >"$where/etc/apt/apt.conf.d/91keep"
  apt_in "$where" update || return
  echo "$where"
}

# profiles_for SUITE: build profiles.
profiles_for() {
  local profiles=()
  # The package needs Python 3.11.
  [[ $1 != jammy ]] || profiles+=(nopython)
  # The scanner of introspection, and Python's headers, are for the machine that builds.
  [[ -z $arch ]] || profiles+=(cross nocheck nogir nopython)
  echo "${profiles[*]}"
}

# stand_in ROOT: installs an empty package. In Debian 12, libsoup-3.0-dev wants gobject-introspection of the other
# architecture, which wants a Python that cannot be installed beside this machine's.
stand_in() {
  local version
  version=$(in_root "$1" apt-cache show "gobject-introspection:$arch" | sed -n 's/^Version: //p;T;q')
  mkdir -p "$1/tmp/stand-in/DEBIAN"
  printf '%s\n' 'Package: gobject-introspection' "Version: $version" "Architecture: $arch" 'Maintainer: none <none@example.org>' \
    'Description: stands in' >"$1/tmp/stand-in/DEBIAN/control"
  quietly in_root "$1" sh -c 'dpkg-deb -b /tmp/stand-in /tmp/stand-in.deb && dpkg -i /tmp/stand-in.deb'
}

# build_in_suite SUITE TO: builds in a root.
build_in_suite() {
  local suite=$1 to=$2 where=$folder/build${arch:+-$arch}-$1 profiles options=()
  profiles=$(profiles_for "$suite")
  if [[ ! -e $where/.complete ]]; then
    where=$(fresh_root "$suite" "build${arch:+-$arch}") || return
  fi
  if [[ -n $arch ]]; then
    options=(--host-arch "$arch")
    in_root "$where" dpkg --add-architecture "$arch"
    apt_in "$where" update && stand_in "$where" || return
  fi
  copy_sources "$where" || return
  say "$suite: installing what the build needs"
  apt_in "$where" install build-essential ccache lintian ${arch:+"crossbuild-essential-$arch"} || return
  apt_in "$where" build-dep ${arch:+--host-architecture "$arch"} ${profiles:+-P "${profiles// /,}"} /src || return
  say "$suite: building"
  rm -f "$where"/*.deb "$where"/*.changes
  quietly in_root "$where" bash -c "$build" build /src "$build_options" "$profiles" "${options[@]}" || return
  rm -rf "$to"
  mkdir -p "$to"
  mv "$where"/*.deb "$to/"
}

# make_previous SUITE PACKAGES TO: the version before.
make_previous() {
  local suite=$1 built=$2 to=$3 file work version tag
  version=$(dpkg-parsechangelog -l "$root/debian/changelog" -S version)
  rm -rf "$to"
  mkdir -p "$to"
  for tag in $(git -c safe.directory="$root" -C "$root" tag --list 'v*' --sort=-version:refname); do
    if dpkg --compare-versions "${tag#v}" lt "$version"; then
      say "$suite: building $tag"
      local where=$folder/build-$suite
      rm -rf "$where/previous"
      mkdir -p "$where/previous/src"
      git -c safe.directory="$root" -C "$root" archive "$tag" | tar -C "$where/previous/src" -x
      quietly in_root "$where" bash -c "$build" build /previous/src "$build_options" "$(profiles_for "$suite")" || return
      mv "$where"/previous/*.deb "$to/"
      return
    fi
  done
  for file in "$built"/*.deb; do
    work=$(mktemp -d)
    dpkg-deb -R "$file" "$work"
    sed -i "s/$version/0.0.1/g" "$work/DEBIAN/control"
    quietly dpkg-deb -b --root-owner-group "$work" "$to/" || return
    rm -rf "$work"
  done
}

# Files of a root, without those that any installation changes.
# shellcheck disable=SC2016
list_files='find / -xdev \( -path /proc -o -path /dev -o -path /sys -o -path /tmp -o -path /packages -o -path /previous \
    -o -path /repository -o -path /src -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \
    -o -name __pycache__ \) -prune -o -print | sort'

# Installs the version before, upgrades, removes and purges.
# shellcheck disable=SC2016
upgrade='set -euo pipefail
  export DEBIAN_FRONTEND=noninteractive
  state=/var/lib/private/cudaccl-watch/cudaccl-watch.conf
  version() { dpkg-query -W -f "\${Version}" cudaccl-watch; }
  apt-get -qq install -y --no-install-recommends /previous/*.deb
  before=$(version)
  mkdir -p "${state%/*}" && echo "# mine" >"$state"
  apt-get -qq install -y --no-install-recommends /packages/*.deb
  dpkg --compare-versions "$before" lt "$(version)"
  grep -q mine "$state"
  [[ -z $(dpkg --audit) ]]
  packages=()
  for file in /packages/*.deb; do packages+=("$(dpkg-deb --field "$file" Package)"); done
  apt-get -qq remove -y "${packages[@]}"
  grep -q mine "$state"
  if command -v cudaccl-watch; then exit 1; fi
  dpkg --purge "${packages[@]}"
  [[ ! -e $state ]]
  apt-get -qq autoremove -y --purge
  if dpkg-query -W | grep -E "cudaccl|gstccl"; then exit 1; fi'

# Installs what a user would, with what it recommends, and waits for the page. Downloads do not count.
# shellcheck disable=SC2016
page='set -euo pipefail
  export DEBIAN_FRONTEND=noninteractive HOME=/root
  packages=(/packages/{cudaccl-watch,gstreamer1.0-cudaccl,libcudaccl0,libgstccl-1.0-0}_*.deb)
  apt-get -qq install -y --download-only "${packages[@]}"
  TIMEFORMAT="%R s (%U + %S s of CPU time)"
  installed=$({ time apt-get -qq install -y "${packages[@]}" >/dev/null 2>&1; } 2>&1)
  begin=$(date +%s%N)
  cudaccl-watch >/tmp/watch.log 2>&1 &
  for ((i = 0; i < 600; i++)); do
    if (exec 3<>/dev/tcp/127.0.0.1/8480 && printf "GET /healthz HTTP/1.0\r\n\r\n" >&3 && grep -q ok <&3) 2>/dev/null; then
      echo "$(grep -c "^Package:" /var/lib/dpkg/status) packages in $installed, page after $((($(date +%s%N) - begin) / 1000000)) ms"
      kill $!
      wait $!
      exit
    fi
    sleep 0.1
  done
  cat /tmp/watch.log
  exit 1'

# take_packages ROOT FOLDER NAME: copies the packages into the root.
take_packages() {
  rm -rf "${1:?}/$3"
  mkdir "$1/$3"
  cp "$2"/*.deb "$1/$3/"
  rm -f "$1/$3"/*-dbgsym_*
}

# try_in_suite SUITE PACKAGES: see the top.
try_in_suite() {
  local suite=$1 to=$2 where time
  say "$suite: the page in a clean root"
  where=$(fresh_root "$suite" clean) && take_packages "$where" "$to" packages || return
  time=$(in_root "$where" bash -c "$page" 2>"$folder/page.log" | tail -n 1) || {
    cat "$folder/page.log" >&2
    return 1
  }
  say "$suite: $time"

  say "$suite: debian/tests/installed"
  # shellcheck disable=SC2046
  apt_in "$where" install gcc libc6-dev pkg-config gstreamer1.0-tools python3 python3-gi \
    $(cd "$where" && printf '/%s\n' packages/*.deb) || return
  cp -r "$root/debian/tests" "$where/tmp/"
  quietly in_root "$where" /tmp/tests/installed || return

  say "$suite: debian/tests/elements"
  take_packages "$folder/build-$suite" "$to" packages
  # shellcheck disable=SC2046
  apt_in "$folder/build-$suite" install --reinstall --allow-downgrades \
    $(cd "$where" && printf '/%s\n' packages/*.deb) || return
  quietly in_root "$folder/build-$suite" bash -c 'cd /src && debian/tests/elements' || return
  apt_in "$folder/build-$suite" purge '.*cudaccl.*' '.*gstccl.*' || return

  say "$suite: upgrade, removal and purge"
  where=$(fresh_root "$suite" clean) && take_packages "$where" "$to" packages || return
  make_previous "$suite" "$where/packages" "$folder/previous-$suite" || return
  take_packages "$where" "$folder/previous-$suite" previous
  in_root "$where" bash -c "$list_files" >"$folder/before"
  quietly in_root "$where" bash -c "$upgrade" || return
  in_root "$where" bash -c "$list_files" >"$folder/after"
  # Files that other packages leave are theirs.
  if comm -13 "$folder/before" "$folder/after" | grep -iE 'ccl'; then
    say "$suite: the packages above leave files"
    return 1
  fi

  say "$suite: from a signed repository"
  try_repository "$suite" "$to"
}

# try_repository SUITE PACKAGES: makes one with a key for this test, and installs from it; a changed package, and
# an unsigned list, must not install.
try_repository() {
  local suite=$1 to=$2 where keys place
  keys=$(mktemp -d)
  chmod 700 "$keys"
  quietly gpg --homedir "$keys" --batch --passphrase '' --quick-generate-key "test <test@example.org>" rsa3072 sign never
  mkdir -p "$keys/packages/$suite"
  cp "$to"/*.deb "$keys/packages/$suite/"
  where=$(fresh_root "$suite" clean) || return
  for place in "$where/repository" "$where/repository" "$where/etc"; do
    GNUPGHOME=$keys quietly "$root/scripts/repository.sh" --key test@example.org "$keys/packages" "$place" ||
      break
  done 2>"$folder/repository.log"
  if [[ $place != */etc || ! -e $where/etc/passwd ]]; then
    cat "$folder/repository.log"
    say "$suite: expected a repository, one that replaces it, and no other folder to be replaced"
    return 1
  fi
  GNUPGHOME=$keys gpgconf --kill gpg-agent
  rm -rf "$keys"
  # shellcheck disable=SC2016
  quietly in_root "$where" bash -c 'set -euo pipefail
    export DEBIAN_FRONTEND=noninteractive
    echo "deb [signed-by=/repository/cudaccl.asc] file:///repository $1 main" >/etc/apt/sources.list.d/cudaccl.list
    apt-get -qq update
    apt-get -qq install -y --no-install-recommends cudaccl-watch
    cudaccl-watch --version
    apt-get -qq purge -y "cudaccl-watch" "libcudaccl0"
    package=$(echo /repository/pool/"$1"/libcudaccl0_*.deb)
    echo >>"$package"
    rm -f /var/cache/apt/archives/libcudaccl0_*
    if apt-get -qq install -y --no-install-recommends cudaccl-watch; then
      echo "a changed package was installed"
      exit 1
    fi
    sed -i "s/^Suite: .*/Suite: other/" /repository/dists/"$1"/InRelease
    if apt-get update --error-on=any; then
      echo "a changed list was taken"
      exit 1
    fi' try "$suite"
}

if ((${#suites[@]} == 0)); then
  build_here "$output"
  (cd "$output" && du -h -- *.deb)
  exit
fi
((EUID == 0)) || die "needs root"
install_missing debootstrap git gnupg apt-utils dpkg-dev
mirror=$(need_mirror) || exit
export_proxies
mkdir -p "$folder"
for suite in "${suites[@]}"; do
  mkdir -p "$folder/archives-$suite/partial"
  binds=("$folder/archives-$suite:/var/cache/apt/archives")
  [[ -z ${CCACHE_DIR-} ]] || binds+=("$CCACHE_DIR:/ccache")
  to=$output/$suite${arch:+-$arch}
  [[ -n $no_build ]] || build_in_suite "$suite" "$to" || die "$suite: FAILED"
  [[ -n $arch ]] || try_in_suite "$suite" "$to" || die "$suite: FAILED"
  (cd "$output" && du -h -- "${to##*/}"/*.deb)
done
