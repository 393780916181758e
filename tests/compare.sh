#!/usr/bin/env bash
# Compares what the elements of two builds make of recordings: components, masks, label maps, tracks,
# zones and merged frames must be the same, JSON and ONVIF up to the digits of numbers and to what
# identifies a run. Needs no GPU; with one, and CUDA in both builds, --cuda compares that backend.
#
#   tests/compare.sh [--cuda] BUILD BUILD [FILE...]
#
# BUILD   two build folders, e.g. of two worktrees
# FILE    recordings; default: Debian's vtest.avi
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/setup.sh"

backend=cpu
case ${1-} in
-h | --help) show_help && exit ;;
--cuda) backend=cuda && shift ;;
esac
(($# >= 2)) || die "two build folders are missing (see --help)"
folders=("$(realpath "$1")" "$(realpath "$2")")
shift 2
recordings=("$@")
((${#recordings[@]})) || recordings=("$("$root/scripts/find-recording.sh")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Common to all elements.
clean=("morphology=open3x3,close1x15,drop250")
lines=(! ccljson ! filesink "location=OUT")

# pipelines NAME: sets pipeline to what follows the decoder; OUT is the output file.
pipelines=(components masks labels threshold chroma tracks zones onvif merge)
pipeline_of() {
  local motion=(cclmotion "backend=$backend")
  case $1 in
  components) pipeline=("${motion[@]}" "${clean[@]}" "${lines[@]}") ;;
  chroma) pipeline=("${motion[@]}" shadows=keep scale=2 min-area=50 "${lines[@]}") ;;
  masks) pipeline=(cclmask "backend=$backend" shadows=mark "${clean[@]}" ! filesink location=OUT) ;;
  labels) pipeline=(cclcolor "backend=$backend" threshold=150 min-area=20 ! filesink location=OUT) ;;
  threshold) pipeline=(cudaccl "backend=$backend" threshold=150 max-components=200 morphology=median3 "${lines[@]}") ;;
  tracks) pipeline=("${motion[@]}" "${clean[@]}" ! ccltrack "${lines[@]}") ;;
  zones) pipeline=("${motion[@]}" "${clean[@]}" ! ccltrack
    ! cclzones 'tripwires=line: 0.5,0.05 0.35,0.95' 'zones=half: 0,0 0.5,0 0.5,1 0,1' "${lines[@]}") ;;
  onvif) pipeline=("${motion[@]}" "${clean[@]}" ! ccltrack ! cclonvif ! filesink location=OUT) ;;
  merge) pipeline=(tee name=t t. ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! merge.video
    t. ! queue ! videoscale ! 'video/x-raw,width=384,height=288' ! "${motion[@]}" min-area=30 ! merge.components
    cclmerge name=merge "${lines[@]}") ;;
  esac
}

# run BUILD FILE NAME OUTPUT
run() {
  local pipeline libs
  pipeline_of "$3"
  pipeline=("${pipeline[@]//OUT/$4}")
  libs=$(find "$1" -name 'libgstccl-1.0.so.0' -printf '%h')
  LD_LIBRARY_PATH=$libs GST_PLUGIN_PATH=$1/gst GST_REGISTRY=$work/registry-${1//\//-} \
    gst-launch-1.0 -q filesrc "location=$2" ! decodebin ! "${pipeline[@]}"
}

# same FILE FILE: whether they are the same but for what differs from run to run and the last digits
# of numbers, which one of the builds may round.
same() {
  python3 -c '
import re, sys
files = [open(path, "rb").read() for path in sys.argv[1:]]
number = rb"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?"
def read(data):
    data = re.sub(rb"\"session\":\"[^\"]*\",|\"line\":\d+,|\"utc\":\"[^\"]*\",|UtcTime=\"[^\"]*\"",
                  b"", data)
    return re.split(number, data), [float(text) for text in re.findall(number, data)]
if files[0][:1] in (b"{", b"<"):
    tolerance = 1e-3 if files[0][:1] == b"{" else 2e-6
    (texts, numbers), (other_texts, other_numbers) = map(read, files)
    equal = texts == other_texts and all(
        abs(a - b) <= tolerance for a, b in zip(numbers, other_numbers))
else:
    equal = files[0] == files[1]
sys.exit(not equal)' "$1" "$2"
}

failed=0
for file in "${recordings[@]}"; do
  for name in "${pipelines[@]}"; do
    for i in 0 1; do
      run "${folders[i]}" "$file" "$name" "$work/$i"
    done
    size=$(stat -c %s "$work/1")
    if ((size == 0)); then
      echo "EMPTY   ${file##*/} $name"
      failed=1
    elif same "$work/0" "$work/1"; then
      cmp -s "$work/0" "$work/1" && what=bytes || what=values
      echo "same    ${file##*/} $name ($what, $size bytes)"
    else
      echo "DIFFERS ${file##*/} $name: $(cmp "$work/0" "$work/1" || true)"
      failed=1
    fi
  done
done
exit "$failed"
