#!/bin/sh
# Makes the settings of the first start, and becomes the program as its user.
set -eu
data=${DATA:-/data}
if [ ! -e "$data/cudaccl-watch.conf" ]; then
  umask 077
  head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$data/token.txt"
  printf '[server]\nlisten = 0.0.0.0:8480\ntoken-file = token.txt\n' >"$data/cudaccl-watch.conf"
  # Only now: logs are kept, and shown to others.
  echo "The token of the page: $(cat "$data/token.txt")"
fi
chown -R 10001:10001 "$data"
exec setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs cudaccl-watch "$@"
