# shellcheck shell=bash disable=SC2034
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
