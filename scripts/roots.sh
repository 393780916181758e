# shellcheck shell=bash disable=SC2034,SC2154
# Makes root file systems of other distributions and architectures with debootstrap; sourced after setup.sh.

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
ubuntu_keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg

# Prints the mirror that this machine's apt uses, however it is configured.
find_mirror() {
  if [[ -n ${DEBIAN_MIRROR-} ]]; then
    echo "$DEBIAN_MIRROR"
    return
  fi
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN)/$(LABEL)/$(COMPONENT) $(REPO_URI)' \
    'Created-By: Packages' | awk '$1 == "Debian/Debian/main" { print $2; exit }'
}

# Prints apt's settings for proxies, certificates and validity dates.
apt_settings() {
  apt-config dump | grep -v Proxy-Auto-Detect | grep -iE \
    '^Acquire::(Check-|Retries|ForceIPv|[a-z]*::?(Proxy|CaInfo|CaPath|Verify-|SslCert|SslKey|.*::Proxy))'
}

# debootstrap does not read apt's settings.
export_proxies() {
  local proxy
  for scheme in http https; do
    proxy=$(apt-config dump --no-empty --format '%v%n' "Acquire::$scheme::Proxy")
    [[ -z $proxy || $proxy == DIRECT ]] || export "${scheme}_proxy=$proxy"
  done
}

# Prints the mirror, after an update if apt has no lists yet.
need_mirror() {
  local mirror
  mirror=$(find_mirror)
  if [[ -z $mirror ]]; then
    quietly apt_get update || die "apt-get update failed"
    mirror=$(find_mirror)
  fi
  [[ -n $mirror ]] || die "apt has no Debian mirror; set DEBIAN_MIRROR"
  echo "$mirror"
}

# Folders that in_root mounts, too: FOLDER:PLACE, without spaces.
binds=()

# in_root ROOT COMMAND...: runs the command in the root, with temporary mounts.
in_root() {
  local where=$1
  shift
  # shellcheck disable=SC2016
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb BINDS="${binds[*]}" \
    unshare --mount --propagation private bash -c '
      mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" || exit
      for bind in $BINDS; do
        mkdir -p "$1${bind#*:}" && mount --bind "${bind%%:*}" "$1${bind#*:}" || exit
      done
      unset BINDS
      exec chroot "$@"' \
    bash "$where" "$@"
}

# use_settings ROOT: configures apt in the root like apt here.
use_settings() {
  local where=$1 file
  cp -L /etc/resolv.conf /etc/hosts "$where/etc/"
  mkdir -p "$where/etc/ssl/certs"
  [[ ! -e /etc/ssl/certs/ca-certificates.crt ]] ||
    cp -L /etc/ssl/certs/ca-certificates.crt "$where/etc/ssl/certs/"
  {
    echo 'APT::Keep-Downloaded-Packages "false";'
    apt_settings || true
  } >"$where/etc/apt/apt.conf.d/90host"
  while read -r file; do
    [[ ! -f $file ]] || install -D "$file" "$where$file"
  done < <(sed -nE 's/.*(CaInfo|SslCert|SslKey) "(.*)";/\2/p' "$where/etc/apt/apt.conf.d/90host")
  # As in Debian's images of containers, dpkg does not wait for the disk.
  printf 'force-unsafe-io\npath-exclude=/usr/share/doc/*\npath-include=/usr/share/doc/opencv-doc/*\n' \
    >"$where/etc/dpkg/dpkg.cfg.d/small"
  printf '#!/bin/sh\nexit 101\n' >"$where/usr/sbin/policy-rc.d"
  chmod +x "$where/usr/sbin/policy-rc.d"
}

# make_root ROOT SUITE: debootstrap knows a mirror of Ubuntu, and configures apt to use it; Debian's is
# $mirror.
make_root() {
  local where=$1 suite=$2 keys=$keyring from=("$mirror") components=main,contrib,non-free
  if [[ ! -e $where/.complete ]]; then
    if [[ $suite == jammy || $suite == noble ]]; then
      keys=$ubuntu_keyring from=(${UBUNTU_MIRROR:+"$UBUNTU_MIRROR"}) components=main,universe
      [[ -e $keys ]] || { say "no $keys (package ubuntu-keyring)" && return 1; }
    fi
    # An older debootstrap does not know the next release, which is made as all are.
    [[ -e /usr/share/debootstrap/scripts/$suite ]] || from+=(/usr/share/debootstrap/scripts/sid)
    say "making $where from $suite"
    quietly debootstrap --variant=minbase --keyring="$keys" --components="$components" \
      "$suite" "$where" "${from[@]}" || return
    touch "$where/.complete"
  fi
  use_settings "$where"
}

# Copies the files of the working tree that git does not ignore.
copy_sources() {
  local where=$1/src file
  rm -rf "$where"
  mkdir -p "$where"
  git -c safe.directory="$root" -C "$root" ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do
      [[ ! -e $root/$file ]] || printf '%s\0' "$file"
    done | tar -C "$root" --null --files-from=- --create | tar -C "$where" --extract
}
