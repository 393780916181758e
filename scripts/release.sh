#!/usr/bin/env bash
# Makes, tests and lays out everything of a release:
#
#   scripts/release.sh --key KEY [--output FOLDER] [--site URL] [--suites LIST] [--only LIST] [--no-tests] [--cuda]
#                      [--roots FOLDER]
#
# --key       of gpg, which signs; GNUPGHOME says where gpg finds it
# --output    folder, made anew; default: packages/release
# --site      where the release will be: replaces https://example.org/cudaccl in what is built
# --suites    of the Debian packages; default: bookworm,trixie
# --only      of these parts: tests,source,wheels,packages,images,site; sums always come last
# --no-tests  leaves out test.sh --ci
# --cuda      also a wheel with CUDA (needs nvcc)
# --roots     folder of the roots, which are kept; default: ${XDG_CACHE_HOME:-~/.cache}/cudaccl/roots
#
# Builds the commit that is checked out, not what lies about in the working tree. On a machine with Debian, as root: it
# installs what is missing. The folder has:
#
#   source/       archives of the sources, for Debian and for pip
#   wheels/       of Python, for x86_64 and aarch64; simple/ is the index for pip
#   repository/   of Debian packages, for apt
#   images/       archives of the images, for podman and docker, with their bills of materials
#   site/         the documentation
#   cudaccl-VERSION.spdx.json, SHA256SUMS, SHA256SUMS.asc, cudaccl.asc (the public key)
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# shellcheck source=scripts/roots.sh
. "$root/scripts/roots.sh"

key='' output=$root/packages/release site=https://example.org/cudaccl suites=bookworm,trixie cuda=''
only=tests,source,wheels,packages,images,site roots=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/roots
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --no-tests) only=${only/tests,/} ;;
  --cuda) cuda=yes ;;
  --key | --output | --site | --suites | --only | --roots)
    (($# > 1)) || die "$1 needs a value (see --help)"
    declare "${1#--}=$2"
    shift
    ;;
  *) die "no such option: $1 (see --help)" ;;
  esac
  shift
done
[[ -n $key ]] || die "--key is missing (see --help)"
gpg --list-secret-keys "$key" >/dev/null 2>&1 || die "gpg has no secret key '$key'"
for part in ${only//,/ }; do
  [[ " tests source wheels packages images site " == *" $part "* ]] || die "no such part: $part (see --help)"
done
output=$(realpath -m "$output") roots=$(realpath -m "$roots")
[[ ! -e $output || -e $output/SHA256SUMS || -z $(ls -A "$output") ]] || die "'$output' is no release of this script"
"$root/tests/version.py" "$root" >/dev/null || die "files disagree on the version"
git -C "$root" diff --quiet HEAD || die "the working tree has changes; commit them first"
version=$(sed -n "s/^  version: '\(.*\)',/\1/p" "$root/meson.build")
tag=$(git -C "$root" tag --points-at HEAD | grep -x "v$version" || true)
[[ -n $tag ]] || say "the commit has no tag v$version: this is a trial"

work=$(mktemp -d) part=''
finish() {
  rm -rf "$work"
  [[ -z $part ]] || printf '%s: %s failed\n' "${0##*/}" "$part" >&2
}
trap finish EXIT
rm -rf "$output"
mkdir -p "$output"
export SOURCE_DATE_EPOCH
SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct)

# The sources of the commit, with the release's address.
src=$work/cudaccl-$version
git -C "$root" archive --prefix="cudaccl-$version/" HEAD | tar -C "$work" --extract
if [[ $site != https://example.org/cudaccl ]]; then
  grep -rlI 'https://example\.org/cudaccl' "$src" | xargs sed -i "s,https://example\.org/cudaccl,$site,g"
fi
# The package's page on an index has no files beside it.
sed -i "s,](\.\./docs/figures/,]($site/site/figures/," "$src/python/README.md"
# Scripts copy the files that git does not ignore.
git -C "$src" init --quiet
git -C "$src" add --all
git -C "$src" -c user.name=release -c user.email=release@example.org commit --quiet --message "cudaccl $version"

wants() {
  [[ ,$only, == *",$1,"* ]]
}

make_tests() {
  "$src/test.sh" --ci
}

make_source() {
  mkdir -p "$output/source"
  git -C "$src" archive --prefix="cudaccl-$version/" HEAD >"$work/source.tar"
  xz --keep --stdout -9 "$work/source.tar" >"$output/source/cudaccl-$version.tar.xz"
  # pip's archive has what describes the package in front.
  "$tools/bin/python" -m build --sdist --no-isolation --outdir "$output/source" "$src" >"$work/sdist.log" 2>&1 ||
    { cat "$work/sdist.log" && return 1; }
}

make_wheels() {
  local options=(--output "$output/wheels" --tools "$tools") try
  "$src/scripts/wheels.sh" "${options[@]}" --arch aarch64
  try=$(set -e && pip_root)
  "$src/scripts/wheels.sh" "${options[@]}" --try "$try"
  [[ -z $cuda ]] || "$src/scripts/wheels.sh" "${options[@]}" --cuda
  "$src/scripts/index.py" "$output/wheels" "$output/simple"
}

# Prints a root that has pip alone.
pip_root() {
  mirror=$(need_mirror)
  export_proxies
  mkdir -p "$roots"
  make_root "$roots/pip" bookworm >&2
  [[ -e $roots/pip/usr/bin/pip3 ]] ||
    quietly in_root "$roots/pip" env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get -qq update &&
      apt-get -qq install -y --no-install-recommends python3 python3-venv python3-pip'
  echo "$roots/pip"
}

make_packages() {
  local names
  IFS=, read -ra names <<<"$suites"
  "$src/scripts/packages.sh" --output "$work/packages" --folder "$roots" "${names[@]}"
  "$src/scripts/repository.sh" --key "$key" "$work/packages" "$output/repository"
}

make_images() {
  mkdir -p "$output/images"
  install_missing buildah
  "$src/deploy/images/build.sh" --root-of trixie --output "$output/images" --try cpu
  buildah push "cudaccl-watch:$version-cpu" "oci-archive:$output/images/cudaccl-watch-$version-cpu.tar:cudaccl-watch:$version-cpu"
}

make_site() {
  "$src/docs/site.sh" "$output/site"
}

tools=${XDG_CACHE_HOME:-$HOME/.cache}/cudaccl/wheel-tools
if wants source || wants wheels; then
  "$src/scripts/wheels.sh" --only-tools --tools "$tools"
fi
for part in tests source wheels packages images site; do
  wants "$part" || continue
  say "$part"
  "make_$part" # alone: in a condition, what fails in the function would not end it
done

part=sums
say "$part"
"$src/scripts/sbom.py" "$output" "$version" "$site" >"$work/sbom.json"
mv "$work/sbom.json" "$output/cudaccl-$version.spdx.json"
gpg --armor --export "$key" >"$output/cudaccl.asc"
(
  cd "$output"
  find . -type f ! -name 'SHA256SUMS*' -printf '%P\0' | sort -z | xargs -0 sha256sum >SHA256SUMS
  gpg --batch --yes --local-user "$key" --armor --detach-sign SHA256SUMS
  for archive in source/*.tar.*; do
    [[ ! -f $archive || $archive == *.asc ]] || gpg --batch --yes --local-user "$key" --armor --detach-sign "$archive"
  done
  sha256sum --quiet --check SHA256SUMS
  gpg --quiet --verify SHA256SUMS.asc 2>/dev/null
)
part=''
say "$output: $(find "$output" -type f | wc -l) files, $(du -sm "$output" | cut -f1) MB"
