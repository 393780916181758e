#!/usr/bin/env bash
# Makes a signed apt repository of Debian packages: a folder for any web server.
#
#   scripts/repository.sh --key KEY PACKAGES FOLDER
#
# KEY        of gpg, which signs the lists; GNUPGHOME says where gpg finds it
# PACKAGES   what scripts/packages.sh wrote: a folder for each suite, and for a suite and an architecture
#            (bookworm-arm64)
# FOLDER     is made anew; an older repository is replaced when all is done. In it, cudaccl.asc is the public key.
#
# Needs apt-ftparchive (Debian: apt-utils) and gpg.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

key='' arguments=()
while (($#)); do
  case $1 in
  -h | --help) show_help && exit ;;
  --key)
    (($# > 1)) || die "--key needs a name"
    key=$2
    shift
    ;;
  -*) die "no such option: $1 (see --help)" ;;
  *) arguments+=("$1") ;;
  esac
  shift
done
((${#arguments[@]} == 2)) || die "expected two folders (see --help)"
[[ -n $key ]] || die "--key is missing (see --help)"
[[ -d ${arguments[0]} ]] || die "no folder '${arguments[0]}'"
packages=$(realpath "${arguments[0]}") folder=$(realpath -m "${arguments[1]}")
[[ ! -e $folder || -e $folder/cudaccl.asc || -z $(ls -A "$folder") ]] || die "'$folder' is not a repository of this script"
for command in apt-ftparchive gpg; do
  command -v "$command" >/dev/null || die "no $command (Debian: apt-utils, gnupg)"
done
gpg --list-secret-keys "$key" >/dev/null 2>&1 || die "gpg has no secret key '$key'"

mkdir -p "${folder%/*}"
new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$new"' EXIT
for from in "$packages"/*/; do
  compgen -G "$from*.deb" >/dev/null || die "no packages in '${from%/\*/}'; expected '$packages/SUITE/*.deb', from scripts/packages.sh SUITE"
  from=${from%/} suite=$(basename "$from")
  suite=${suite%%-*}
  mkdir -p "$new/pool/$suite" "$new/dists/$suite/main"
  find "$from" -name '*.deb' ! -name '*-dbgsym_*' -exec cp -n {} "$new/pool/$suite/" \;
done
cd "$new"
for dist in dists/*; do
  suite=${dist##*/} architectures=()
  for arch in amd64 arm64; do
    compgen -G "pool/$suite/*_$arch.deb" >/dev/null || continue
    architectures+=("$arch")
    mkdir -p "$dist/main/binary-$arch"
    apt-ftparchive --arch "$arch" packages "pool/$suite" >"$dist/main/binary-$arch/Packages"
    gzip --keep --no-name -9 "$dist/main/binary-$arch/Packages"
  done
  ((${#architectures[@]})) || die "no packages of $suite for amd64 or arm64"
  apt-ftparchive -o APT::FTPArchive::Release::Origin=cudaccl -o APT::FTPArchive::Release::Label=cudaccl \
    -o "APT::FTPArchive::Release::Suite=$suite" -o "APT::FTPArchive::Release::Codename=$suite" \
    -o "APT::FTPArchive::Release::Architectures=${architectures[*]}" \
    -o APT::FTPArchive::Release::Components=main release "$dist" >Release
  mv Release "$dist/"
  gpg --quiet --batch --yes --local-user "$key" --clearsign --output "$dist/InRelease" "$dist/Release"
  gpg --quiet --batch --yes --local-user "$key" --detach-sign --armor --output "$dist/Release.gpg" "$dist/Release"
done
gpg --armor --export "$key" >cudaccl.asc
chmod -R a+rX .
rm -rf "$folder"
mv "$new" "$folder"
say "$folder has $(find "$folder/pool" -name '*.deb' | wc -l) packages, $(du -sh "$folder" | cut -f1)"
