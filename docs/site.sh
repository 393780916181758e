#!/usr/bin/env bash
# Builds the documentation as a site: open index.html, or serve the folder by any web server, which the
# search needs. Installs mkdocs, codespell and Pygments (Debian) if they are missing. Fails if a link leads nowhere
# or a word is misspelt.
#
#   docs/site.sh [FOLDER]
#
# FOLDER   default: build/site
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"

case ${1-} in
-h | --help) show_help && exit ;;
-*) die "no such option: $1 (see --help)" ;;
esac
folder=$(realpath -m "${1:-$builds/build/site}")

install_missing mkdocs codespell python3-pygments
cd "$root"
codespell ./*.md docs python/README.md || die "misspelt words"
quietly mkdocs build --quiet --strict --site-dir "$folder" || die "mkdocs failed"
say "open $folder/index.html"
