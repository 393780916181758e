#!/usr/bin/env bash
# Tests ccl-bench with images from files: all formats give the same, results are written, and
# unreadable files are refused.
set -euo pipefail
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}

mkdir "$folder/masks" "$folder/empty"
# 9x2 pixels: three components with 4-connectivity, two with 8-connectivity.
printf 'P5\n# mask\n9 2\n255\n\377\0\0\0\0\0\0\0\377\0\377\0\0\0\0\0\0\377' >"$folder/masks/a.pgm"
printf 'P4\n9 2\n\x80\x80\x40\x80' >"$folder/masks/b.pbm"
echo 'not an image' >"$folder/masks/notes.txt"

"$bench" --backend=cpu --algorithms=runs --images="$folder/masks" --runs=2 \
  --csv="$folder/out.csv" --json="$folder/out.json" >"$folder/log"
[[ $(wc -l <"$folder/out.csv") == 5 ]] || fail "not one line for each of four results"
for name in a.pgm b.pbm; do
  for components in 4:3 8:2; do
    grep -q "^9,2,${components%:*},cpu,runs,analysis,,22,${components#*:},2,.*$name" "$folder/out.csv" ||
      fail "$name: not ${components#*:} components with ${components%:*}-connectivity"
  done
done
python3 - "$folder/out.json" <<'END'
import json, sys

data = json.load(open(sys.argv[1], encoding='utf-8'))
assert len(data['contenders']) == 2, data
assert sorted(r['components'] for r in data['results']) == [2, 2, 3, 3], data
END
grep -q "runs .* of 2 images" "$folder/log" || fail "no mean over the folder"

printf 'P4\n9 2\n\x80' >"$folder/short.pbm"
for bad in "$folder/short.pbm" "$folder/empty" "$folder/nowhere"; do
  ! "$bench" --backend=cpu --images="$bad" --runs=1 >/dev/null 2>"$folder/log" ||
    fail "$bad was accepted"
  grep -q "$bad" "$folder/log" || fail "$bad: the message does not name it"
done

# Two equal masks make a volume of two objects.
"$bench" volume --images="$folder/masks" --runs=2 --labels >"$folder/log" || fail "ccl-bench volume: $?"
grep -q "runs .* 2 objects, as the reference" "$folder/log" || fail "not two objects: $(<"$folder/log")"
grep -q "0 to 1 " "$folder/log" || fail "no object in both masks: $(<"$folder/log")"
