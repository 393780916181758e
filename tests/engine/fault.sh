#!/bin/sh
# cudaccl - tests how checkccl reports a wrong result
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# checkccl --inject-fault makes every component of at least 2 x 2 pixels wrong. It must fail, write
# the image, and shrink it to 2 x 2: two diagonal pixels (8-connectivity) or three pixels (4).

set -eu
checkccl=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

fail ()
{
  echo "FAILED: $1"
  cat "$dir/out"
  exit 1
}

for connectivity in 4 8; do
  status=0
  "$checkccl" --inject-fault --backend=cpu --small --test=noise --seed=1 \
    --connectivity=$connectivity --dump="$dir" >"$dir/out" || status=$?
  [ $status -eq 1 ] || fail "exit status $status instead of 1"
  grep -q 'seed 1' "$dir/out" || fail "no seed"
  grep -q 'first difference at index' "$dir/out" || fail "no difference"
  grep -q 'shrunk to 2 x 2' "$dir/out" || fail "not shrunk to 2 x 2"
  tail -n 1 "$dir/out" | grep -Eq '^checkccl: [0-9]+ tests, [0-9]+ passed, [1-9][0-9]* failed$' \
    || fail "no summary in the last line"

  image=$(find "$dir" -name "*-$connectivity-smallest.pgm" | sort | head -n 1)
  [ "$(head -c 7 "$image" | tr '\n' ' ')" = "P5 2 2 " ] || fail "$image is not a 2 x 2 PGM"
  pixels=$(tail -c 4 "$image" | tr -dc '\377' | wc -c)
  [ "$pixels" -eq $((4 - connectivity / 4)) ] || fail "$image has $pixels foreground pixels"

  # The image replays: wrong with the fault, right without.
  if "$checkccl" --inject-fault --backend=cpu --connectivity=$connectivity --image="$image" \
    --dump="$dir" >"$dir/out"; then
    fail "the replay of $image passes"
  fi
  "$checkccl" --backend=cpu --connectivity=$connectivity --image="$image" >"$dir/out" \
    || fail "the replay of $image fails without the fault"
done
echo "the injected fault was found, reported, shrunk and replayed"
