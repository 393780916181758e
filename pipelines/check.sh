#!/usr/bin/env bash
# Tests of the scripts and applications beside this file; meson test runs it.
#
#   pipelines/check.sh testsource|apps|c-app|camera|live|recording|sinks|names|quotes|mqtt|kafka|merged|
#                      overlay|overlay-recording|morphology|motion|count-people|detect
#
# Exit status 77: skipped because something is missing.
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

output=$(mktemp -d)
servers=()
# The broker writes its file when it ends.
clean_up() {
  ((${#servers[@]} == 0)) || kill "${servers[@]}" 2>/dev/null || true
  ((${#servers[@]} == 0)) || wait "${servers[@]}" 2>/dev/null || true
  rm -rf "$output"
}
trap clean_up EXIT

skip() {
  printf 'skipped: %s\n' "$*"
  exit 77
}

# expect COUNT PATTERN FILE: fails unless exactly COUNT lines match.
expect() {
  local count
  count=$(grep -c -E "$2" "$3" || true)
  if [[ $count != "$1" ]]; then
    cat "$3"
    die "expected $1 lines to match '$2', got $count"
  fi
}

balls=(videotestsrc pattern=ball num-buffers=20
  ! 'video/x-raw,format=GRAY8,width=321,height=243,framerate=30/1')
# A folder whose name is hostile to shells, gst-launch and patterns of numbered files.
odd=$output/$'it\'s "a\\b" 5%d ü! \n ! filesink location=evil \\'
# Thousands of small components per frame, in the luma plane of a colour format.
noise=(videotestsrc pattern=snow num-buffers=5
  ! 'video/x-raw,format=NV12,width=162,height=122,framerate=30000/1001')

check_c_app() {
  print_boxes --summary -- "${balls[@]}" >"$output/balls"
  expect 20 '^frame [0-9]+, [0-9.]+ s, components: 1$' "$output/balls"
  expect 20 '^  1: [0-9]+x[0-9]+ at \([0-9]+, [0-9]+\), area [0-9]+, centroid ' "$output/balls"
  expect 1 '^frames with components +20$' "$output/balls"
  expect 1 '^backend ' "$output/balls"

  print_boxes --frames=3 --set=max-components=7 --set=connectivity=4 --summary \
    -- "${noise[@]}" >"$output/noise"
  expect 3 ', components: 7$' "$output/noise"
  expect 1 '^frames truncated +3$' "$output/noise"

  for setting in no-such-property=1 'no-such-property=1 ! identity' min-area='1 ! identity' min-area; do
    ! print_boxes --set="$setting" -- "${balls[@]}" 2>"$output/error" ||
      die "print-boxes accepted --set=$setting"
    expect 1 "${setting%%=*}" "$output/error"
  done
  ! print_boxes --element='cudaccl ! identity' -- "${balls[@]}" 2>"$output/error" ||
    die "print-boxes took text of a pipeline for an element"

  # A live source has no end but that which was asked for.
  ! print_boxes --live -- "${balls[@]}" >"$output/balls" 2>"$output/error" ||
    die "the end of a live source was no error"
  expect 1 'has ended' "$output/error"
  print_boxes --live --frames=3 -- "${balls[@]}" >"$output/balls"
  expect 3 '^frame ' "$output/balls"
}

# need_commands COMMAND...: skips the test if one of them, or ccljson, is missing.
need_commands() {
  local command
  for command; do
    command -v "$command" >/dev/null || skip "missing command $command"
  done
}

# wait_for PATTERN FILE: waits until a line matches.
wait_for() {
  local i
  for ((i = 0; i < 300; i++)); do
    ! grep -q -E "$1" "$2" 2>/dev/null || return 0
    sleep 0.1
  done
  cat "$2" || true
  die "no line matches '$1'"
}

# Reads lines of JSON, and removes the session, which every run has its own of.
without_session() {
  sed 's/"session":"[^"]*",//'
}

# Fails unless all lines of the first file are in the second, in the same order; those may repeat.
expect_all() {
  awk '!seen[$0]++' "$2" | diff "$1" - >"$output/diff" ||
    die "received lines differ from those sent: $(head -n 20 "$output/diff")"
}

# start_mosquitto PORT: starts the broker, which keeps sessions and messages in a file.
start_mosquitto() {
  mkdir -p "$output/mosquitto"
  printf '%s\n' "listener $1 127.0.0.1" 'allow_anonymous true' 'persistence true' \
    "persistence_location $output/mosquitto/" 'max_queued_messages 0' "user $(id -un)" \
    >"$output/mosquitto.conf"
  mosquitto -c "$output/mosquitto.conf" >>"$output/broker" 2>&1 &
  servers=($!)
}

stop_server() {
  kill "${servers[0]}"
  wait "${servers[0]}" || true
  servers=()
}

# wait_for_progress FILE: waits until send-lines has noted that the broker confirmed something.
wait_for_progress() {
  local i
  for ((i = 0; i < 300; i++)); do
    ! grep -q '[1-9]' "$1" 2>/dev/null || return 0
    sleep 0.1
  done
  die "no line was confirmed"
}

# The client has a persistent session, so the broker keeps messages that are sent while it is
# disconnected. The broker is down when the script starts, then when many lines are under way; then the
# sender is killed. No line may be missing, and the order must hold.
check_mqtt() {
  local client=(-i reader -c -q 1) port=0 i sender n=30000
  if "$send_lines" --ca-file=/nonexistent mqtt://localhost/x </dev/null 2>"$output/error"; then
    die "--ca-file with mqtt:// works"
  fi
  expect 1 'write mqtts:// instead' "$output/error"
  for ((i = 0; i < 20; i++)); do
    port=$((RANDOM % 20000 + 20000))
    start_mosquitto "$port"
    until mosquitto_sub -p "$port" "${client[@]}" -t things/ball -E 2>/dev/null; do
      kill -0 "${servers[0]}" 2>/dev/null || continue 2
      sleep 0.1
    done
    break
  done
  stop_server
  "$here/mqtt.sh" "localhost:$port" things/ball &
  sender=$!
  servers=("$sender")
  wait_for '"frame":99' "$output/$(spool_name "mqtt://localhost:$port/things/ball" ball)"
  start_mosquitto "$port"
  wait "$sender"
  mosquitto_sub -p "$port" "${client[@]}" -t things/ball -C 100 -W 60 | without_session >"$output/received"
  expect_all "$output/sent" "$output/received"

  seq "$n" >"$output/numbers"
  "$send_lines" --spool="$output/spool" "mqtt://localhost:$port/things/ball" <"$output/numbers" &
  sender=$!
  wait_for_progress "$output/spool.sent"
  stop_server
  start_mosquitto "$port"
  until [[ ! -e $output/spool ]] || ((10#$(cat "$output/spool.sent") > 80000)); do sleep 0.05; done
  kill -KILL "$sender" 2>/dev/null || true
  wait "$sender" 2>/dev/null || true
  "$send_lines" --spool="$output/spool" "mqtt://localhost:$port/things/ball" </dev/null
  [[ ! -e $output/spool && ! -e $output/spool.sent ]] || die "the spool was not removed"
  "$send_lines" "mqtt://localhost:$port/things/ball" <<<end
  mosquitto_sub -p "$port" "${client[@]}" -t things/ball >"$output/received" &
  servers+=($!)
  wait_for '^end$' "$output/received"
  sed -i '/^end$/d' "$output/received"
  expect_all "$output/numbers" "$output/received"
}

# start_kafka COUNT: starts the mock broker, which writes to the file "unsorted", and gets its $address.
start_kafka() {
  rm -f "$output/unsorted" # that of the last broker
  "$build/pipelines/kafka-mock" things "$1" >"$output/unsorted" 2>"$output/broker" &
  servers=($!)
  wait_for '^127' "$output/unsorted"
  address=$(head -n 1 "$output/unsorted")
}

# kafka_messages FIELDS: these fields of the messages. The mock broker appends a batch again if it goes
# down before it answers: unlike a broker, it does not know the numbers of an idempotent producer.
kafka_messages() {
  tail -n +2 "$output/unsorted" | cut -d ' ' -f "$1" | awk '!seen[$0]++'
}

# stop_kafka COUNT: waits until it has printed that many different messages, and stops it.
stop_kafka() {
  local i
  for ((i = 0; i < 300; i++)); do
    (($(kafka_messages 3- | wc -l) < $1)) || break
    sleep 0.1
  done
  stop_server
}

# The broker goes down and comes back. All lines of a key are in one partition and in order.
check_kafka() {
  local address
  start_kafka 100
  "$here/kafka.sh" "$address" things
  stop_kafka 100
  kafka_messages 3- | without_session | diff "$output/sent" - || die "lines differ"
  [[ $(kafka_messages 2) == ball ]] || die "wrong key"

  start_kafka 20000
  seq 20000 | tee "$output/numbers" | "$send_lines" --key=gate "kafka://$address/things"
  stop_kafka 20000
  kafka_messages 3 >"$output/received"
  [[ $(kafka_messages 1,2 | wc -l) == 1 ]] ||
    die "lines of one key are in several partitions"
  diff "$output/numbers" "$output/received" >"$output/diff" ||
    die "received lines differ from those sent: $(head -n 20 "$output/diff")"
}

# Names of sources have no passwords, no two topics share a spool, and cameras are asked for
# their own time, however much gst-inspect prints after it.
check_names() {
  local name
  expect_text() {
    [[ $1 == "$2" ]] || die "expected '$2', got '$1'"
  }
  expect_text "$(source_name rtsp://user:p@ss@camera/a@b)" rtsp://camera/a@b
  expect_text "$(source_name rtsp://camera/a@b)" rtsp://camera/a@b
  [[ $(spool_name mqtt://host/a/b gate) != "$(spool_name mqtt://host/a_b gate)" ]] ||
    die "two topics have the same spool"
  name=$(spool_name "mqtt://host/$(printf '%0300d' 0)" gate)
  ((${#name} + 5 < 255)) || die "the spool's name is too long: $name"

  mkdir "$output/bin"
  # shellcheck disable=SC2016
  printf '%s\n' '#!/bin/sh' '[ "$1" != --exists ] || exit 0' 'echo add-reference-timestamp-meta' \
    'seq 20000 2>/dev/null' >"$output/bin/gst-inspect-1.0"
  chmod +x "$output/bin/gst-inspect-1.0"
  # shellcheck disable=SC2016
  fake_launch 'echo "$@"'
  components_as_json rtsp://camera/stream gate >"$output/launch"
  expect 1 'location=rtsp://camera/stream add-reference-timestamp-meta=true ' "$output/launch"
}

# fake_launch COMMAND...: puts a gst-launch-1.0 in front of the path that runs these lines.
fake_launch() {
  mkdir -p "$output/bin"
  printf '%s\n' '#!/usr/bin/env bash' "$@" >"$output/bin/gst-launch-1.0"
  chmod +x "$output/bin/gst-launch-1.0"
  PATH=$output/bin:$PATH
}

# Values of properties are what they were, whatever is in them, and add no elements.
check_quotes() {
  local text
  mkdir "$odd"
  # shellcheck disable=SC1003,SC2016
  for text in 'a" ! filesink location=evil "' "a' ! filesink location=evil '" 'a ! filesink location=evil' \
    $'line\n ! filesink location=evil' '\' '\\' 'trailing\' '"quoted"' "'" '"' '$(touch evil)' -n ' ' ü a; do
    (
      cd "$odd"
      gst-launch-1.0 -q "${balls[@]}" ! filesink "$(property location="$text")"
      [[ -s $text ]] || die "missing: $text"
      gst-launch-1.0 -q filesrc "$(property location="$text")" ! identity "$(property name="\"")" \
        ! filesink location=copy
      cmp -- "$text" copy || die "$text was not read"
      gst-launch-1.0 -q "${balls[@]}" ! cudaccl ! ccljson "$(property source="$text")" ! fdsink >lines
      python -c 'import json, sys
for line in open("lines"):
    assert json.loads(line)["source"] == sys.argv[1], line' "$text"
      rm "./$text" copy lines
    )
  done
  [[ -z $(ls -A "$odd") ]] || die "files were made: $(ls -A "$odd")"
  ! (property 'location ! identity=1') 2>/dev/null || die "a name of a property was not checked"

  # Arguments of scripts are never text of a pipeline.
  # shellcheck disable=SC1003
  (
    cd "$odd"
    ! "$here/rtsp.sh" 'rtsp://127.0.0.1:1/" ! filesink location=evil "' 2>../error || die "there is no camera"
    ! "$here/rtsp.sh" 'rtsp://127.0.0.1:1/\' 2>../error2 || die "there is no camera"
    ! "$here/testsource.sh" 5 'backend=cpu ! filesink location=evil' 2>/dev/null || die "accepted"
    ! "$here/testsource.sh" 5 'filesink location=evil' 2>/dev/null || die "accepted"
    ! "$here/camera.sh" '/dev/null" ! filesink location=evil "' 2>/dev/null || die "accepted"
    ! FRAMERATE='30/1 ! filesink location=evil' "$here/jetson-camera.sh" 2>/dev/null || die "accepted"
    ! "$here/recording.sh" "$output/none" 2>/dev/null || die "there is no recording"
  )
  expect 1 'rtsp://127.0.0.1:1/" ! filesink' "$output/error"
  expect 1 'rtsp://127.0.0.1:1/.$' "$output/error2"
  [[ -z $(ls -A "$odd") ]] || die "files were made: $(ls -A "$odd")"
}

# A camera that cannot be reached, or sends nothing, is named, without its password.
check_live() {
  local status=0
  "$here/rtsp.sh" rtsp://user:secret@127.0.0.1:1/gate 2>"$output/error" || status=$?
  ((status == 1)) || die "exit status $status without a camera"
  expect 1 '^rtsp.sh: .*: rtsp://127.0.0.1:1/gate$' "$output/error"
  expect 0 secret "$output/error"

  status=0
  (
    live_timeout=1 watchdog=(watchdog timeout=1000)
    print_live gate -- videotestsrc is-live=true ! video/x-raw,format=GRAY8 ! valve drop=true
  ) 2>"$output/error" || status=$?
  ((status == 1)) || die "exit status $status of a frozen source"
  expect 1 'had no frame of it for 1 s: gate$' "$output/error"

  status=0
  (print_live gate -- "${balls[@]}") >"$output/boxes" 2>"$output/error" || status=$?
  ((status == 1)) || die "exit status $status of a source that was lost"
  expect 20 '^frame ' "$output/boxes"
  expect 1 'lost the source.*: gate$' "$output/error"
}

# check_again SCHEME SCRIPT: a camera that is lost is started again, and its lines go to the same spool. When
# the sender ends, so does all else.
check_again() (
  local spool sender uri=rtsp://user:secret@camera/stream
  gst-inspect-1.0 --exists rtspsrc && gst-inspect-1.0 --exists watchdog || return 0
  spool=$output/$(spool_name "$1://localhost:1/again" rtsp://camera/stream)
  # shellcheck disable=SC2016
  fake_launch 'n=$(($(cat "$0.runs" 2>/dev/null) + 1))' 'echo "$n" >"$0.runs"' 'echo $$ >"$0.pid"' \
    'echo "line $n"' '((n < 3)) || while sleep 0.1; do echo more; done' 'exit $((n - 1))'
  "$here/$2" localhost:1 again "$uri" 2>"$output/error" &
  sender=$!
  wait_for '^line 3$' "$spool"
  expect 2 "^$2: .*: rtsp://camera/stream. Starting it again in [12] s.\$" "$output/error"
  kill "$sender"
  ! wait "$sender" || die "an interrupted program said that all was sent"
  for _ in {1..100}; do
    kill -0 "$(cat "$output/bin/gst-launch-1.0.pid")" 2>/dev/null || return 0
    sleep 0.1
  done
  die "the source still runs"
)

# A host that is switched off answers nothing: lines go to the spool all the same, and the program can be
# interrupted.
check_silent_host() {
  local port
  command -v python3 >/dev/null || return 0
  # The second connection waits, and further ones get no answer.
  python3 -c 'import select, socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(0)
first = [socket.socket() for i in range(4)]
for client in first:
    client.setblocking(False)
    client.connect_ex(server.getsockname())
print(server.getsockname()[1], flush=True)
select.select([], [], [])' >"$output/port" &
  servers=($!)
  wait_for '^[0-9]+$' "$output/port"
  port=$(cat "$output/port")
  "$send_lines" --spool="$output/silent" "$1://127.0.0.1:$port/x" \
    < <(seq 100000; exec sleep 30 2>/dev/null) 2>"$output/error" &
  servers+=($!)
  wait_for '^100000$' "$output/silent"
  kill "${servers[1]}"
  wait "${servers[1]}" && die "an interrupted program said that all was sent"
  stop_server
}

# Mistakes of users are reported, and bad lines do not get lost.
check_brokers() {
  local target option
  for target in localhost http://localhost/x mqtt://localhost mqtt://localhost/; do
    ! "$send_lines" "$target" </dev/null 2>"$output/error" || die "'$target' was accepted"
    expect 1 "mqtt://" "$output/error"
  done
  "$send_lines" --help >"$output/help"
  for option in --key --spool --max-spool --ca-file; do
    grep -q -e "$option=" "$output/help" || die "no help for $option"
  done
  # Interrupted while no broker is there: the spool has the lines.
  "$send_lines" --spool="$output/lost" "$1://localhost:1/x" < <(seq 10; exec sleep 30 2>/dev/null) 2>"$output/error" &
  servers=($!)
  wait_for '^10$' "$output/lost"
  ! "$send_lines" --spool="$output/lost" "$1://localhost:1/x" </dev/null 2>"$output/error2" ||
    die "two programs share a spool"
  expect 1 'in use' "$output/error2"
  kill "${servers[0]}"
  wait "${servers[0]}" && die "an interrupted program said that all was sent"
  servers=()
  seq 10 | diff - "$output/lost" || die "the spool lost lines"

  # Killed after the spool was emptied and before that was noted, and once more with new lines.
  : >"$output/emptied"
  printf '%020d\n' 500 >"$output/emptied.sent"
  "$send_lines" --spool="$output/emptied" "$1://localhost:1/x" < <(seq 300; exec sleep 30 2>/dev/null) 2>"$output/error" &
  servers=($!)
  wait_for '^300$' "$output/emptied"
  kill -KILL "${servers[0]}"
  wait "${servers[0]}" || true
  servers=()
  expect 1 '^0+$' "$output/emptied.sent"
}

# json SINK...: sends the JSON lines of a live source to a sink for some seconds. Run it in a subshell.
json() {
  exec gst-launch-1.0 -q videotestsrc is-live=true num-buffers=300 "${balls[@]:1:1}" "${balls[@]:3}" \
    ! cudaccl ! ccljson ! "$@"
}

check_sinks() {
  local port=$((RANDOM % 20000 + 20000)) line='^\{"session":"[0-9a-f-]{36}","line":[0-9]+,"frame":[0-9]+,"utc":.*,"count":1,"components":\[\{.*\}\]\}$'
  gst-launch-1.0 -q "${balls[@]}" ! cudaccl ! ccljson ! filesink location="$output/file"
  expect 20 "$line" "$output/file"
  gst-launch-1.0 -q "${balls[@]}" ! cudaccl ! ccljson ! fdsink |
    without_session | diff <(without_session <"$output/file") -

  # Clients receive whole lines.
  json tcpserversink host=127.0.0.1 port="$port" &
  servers=($!)
  until head -n 5 </dev/tcp/127.0.0.1/"$port" >"$output/tcp"; do
    kill -0 "${servers[0]}" || die "the server is not running"
    sleep 0.1
  done 2>/dev/null
  kill "${servers[0]}"
  expect 5 "$line" "$output/tcp"

  # One line per datagram.
  gst-launch-1.0 -q udpsrc address=127.0.0.1 port="$port" num-buffers=5 \
    ! filesink location="$output/udp" &
  servers=($!)
  json udpsink host=127.0.0.1 port="$port" &
  wait "${servers[0]}"
  servers=($!)
  expect 5 "$line" "$output/udp"
}

check_overlay() {
  mkdir "$odd"
  # Not Y444: jpegdec of GStreamer 1.20 does not decode it to RGB.
  gst-launch-1.0 -q "${balls[@]:0:3}" ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 \
    ! jpegenc ! avimux ! filesink location="$output/ball.avi"
  cp "$output/ball.avi" "$odd/ball.avi"
  cp "$output/ball.avi" "$odd/ball\\"
  "$here/overlay.sh" "$odd/ball\\" "$odd/ball.mkv"
  mv "$odd/ball.mkv" "$output/ball.mkv"
  gst-launch-1.0 -q filesrc location="$output/ball.mkv" ! decodebin ! videoconvert \
    ! video/x-raw,format=RGB ! multifilesink location="$output/frame%d"
  [[ -e $output/frame19 && ! -e $output/frame20 ]] || die "the video does not have 20 frames"

  # Leading zeros do not mean octal, and masks of two runs are never mixed.
  "$here/masks.sh" "$odd" "$odd/ball.avi" 08 >"$output/masks.log"
  expect 1 ': 8 masks$' "$output/masks.log"
  [[ -e $odd/00007.png && ! -e $odd/00008.png ]] || die "expected 8 masks"
  ! "$here/masks.sh" "$odd" "$odd/ball.avi" 3 2>"$output/error" || die "masks of two runs were mixed"
  expect 1 'choose another folder' "$output/error"

  # The first component's box is red, and the source is black and white.
  TMPDIR=$odd "$here/overlay.sh" "$odd/ball.avi" "$odd/ball.png" 08
  mv "$odd/ball.png" "$output/ball.png"
  gst-launch-1.0 -q filesrc location="$output/ball.png" ! pngdec ! videoconvert \
    ! video/x-raw,format=RGB ! filesink location="$output/picture"
  [[ $(stat -c %s "$output/picture") == $((320 * 240 * 3)) ]] || die "the picture has the wrong size"
  LC_ALL=C grep -q -a -P '(\xff\x00\x00){20}' "$output/picture" || die "no box was drawn"

  if "$here/overlay.sh" "$output/ball.avi" "$output/none.png" 20 2>"$output/error"; then
    die "overlay.sh found a frame that does not exist"
  fi
  expect 1 'no frame 20' "$output/error"
  if "$here/overlay.sh" "$output/ball.avi" "$output/none.png" 18446744073709551624 2>"$output/error"; then
    die "overlay.sh took a number of more than 64 bits"
  fi
  expect 1 'too large' "$output/error"
}

# need_recording ELEMENT...: sets $file; skips the test if the recording or an element is missing.
need_recording() {
  file=$("$here/../scripts/find-recording.sh" --no-fetch) ||
    skip "vtest.avi not found (scripts/find-recording.sh downloads it)"
  need_elements avdec_msmpeg4 "$@"
}

need_elements() {
  local element
  for element; do
    gst-inspect-1.0 --exists "$element" || skip "missing GStreamer element '$element'"
  done
}

# check_red FRAME X Y: fails unless this pixel of an RGB frame of the recording is red, within the
# accuracy of the codec.
check_red() {
  local red green blue
  read -r red green blue < <(od -An -tu1 -j "$((($3 * 768 + $2) * 3))" -N 3 "$1")
  ((red > 200 && green < 60 && blue < 60)) ||
    die "$1: pixel ($2, $3) is not red but $red, $green, $blue"
}

# Draws the beginning of the recording as a video and one frame as a picture: the first box must be
# where print-boxes reports it. Lines are two pixels wide, and with subsampled chroma a pixel at an odd
# position may have the colour of the one before it.
check_overlay_recording() {
  local part=$output/part.avi frame=30 frames width height x y
  head -c 700000 "$file" >"$part"
  print_boxes --element=cclmotion --summary -- filesrc location="$part" ! decodebin \
    >"$output/boxes"
  frames=$(sed -nE 's/^frames +([0-9]+)$/\1/p' "$output/boxes")
  ((frames > frame)) || die "the part has $frames frames"
  read -r width height x y < <(sed -nE "/^frame $frame,/,/^frame /s/^  1: ([0-9]+)x([0-9]+) at .([0-9]+), ([0-9]+).*/\1 \2 \3 \4/p" \
    "$output/boxes")

  "$here/overlay.sh" "$part" "$output/part.mkv"
  gst-launch-1.0 -q filesrc location="$output/part.mkv" ! decodebin ! videoconvert \
    ! video/x-raw,format=RGB ! multifilesink location="$output/frame%d"
  [[ -e $output/frame$((frames - 1)) && ! -e $output/frame$frames ]] ||
    die "the video does not have $frames frames"
  "$here/overlay.sh" "$part" "$output/part.png" "$frame"
  gst-launch-1.0 -q filesrc location="$output/part.png" ! pngdec ! videoconvert \
    ! video/x-raw,format=RGB ! filesink location="$output/picture"

  for picture in "$output/frame$frame" "$output/picture"; do
    check_red "$picture" $((x + x % 2)) $((y + y % 2))
    check_red "$picture" $(((x + width - 1) / 2 * 2)) $(((y + height - 1) / 2 * 2))
  done
}

# count_foreground FILE LEFT WIDTH: the number of pixels in these columns of a PNG file that are not
# black.
count_foreground() {
  gst-launch-1.0 -q filesrc location="$1" ! pngdec ! videoconvert \
    ! video/x-raw,format=RGBA ! filesink location="$output/pixels"
  od -An -v -tx4 -w4 "$output/pixels" | awk -v width="$(od -An -tu1 -j 18 -N 2 "$1" |
    awk '{ print $1 * 256 + $2 }')" -v left="$2" -v end="$(($2 + $3))" \
    '(NR - 1) % width >= left && (NR - 1) % width < end && $1 != "ff000000" { n++ } END { print n + 0 }'
}

# The ball moves, so it is foreground; its picture has 8 white columns between before and after.
check_morphology() {
  local name before after
  gst-launch-1.0 -q "${balls[@]:0:3}" ! video/x-raw,width=320,height=240,framerate=30/1 ! jpegenc \
    ! avimux ! filesink location="$output/ball.avi"
  "$here/morphology.sh" "$output/pictures" "$output/ball.avi" 08 20,40,280,200 >"$output/log"
  expect 1 ': 12 pictures$' "$output/log"
  for name in median3 median5 erode3x3 dilate3x3 open5x5 close5x11 fill drop50 chain limits; do
    [[ $(od -An -tu1 -j 16 -N 8 "$output/pictures/$name.png") =~ ^\ *0\ +0\ +2\ +56\ +0\ +0\ +0\ +200$ ]] ||
      die "$name.png is not 568x200"
  done
  for name in include exclude; do
    [[ $(od -An -tu1 -j 16 -N 8 "$output/pictures/$name.png") =~ ^\ *0\ +0\ +2\ +136\ +0\ +0\ +0\ +240$ ]] ||
      die "$name.png is not 648x240"
  done
  for name in erode3x3 dilate3x3; do
    before=$(count_foreground "$output/pictures/$name.png" 0 280)
    after=$(count_foreground "$output/pictures/$name.png" 288 280)
    ((before > 0)) || die "the ball is not in $name.png"
    if [[ $name == erode3x3 ]]; then
      ((after < before)) || die "erode3x3: $before pixels before, $after after"
    else
      ((after > before)) || die "dilate3x3: $before pixels before, $after after"
    fi
  done

  ! "$here/morphology.sh" "$output/none" "$output/ball.avi" 30 2>"$output/error" ||
    die "morphology.sh found a frame that does not exist"
  expect 1 'no frame 30' "$output/error"
  ! "$here/morphology.sh" "$output/none" "$output/ball.avi" 8 300,0,40,40 2>"$output/error" ||
    die "morphology.sh accepted a window outside of the frame"
  expect 1 'window 300,0,40,40' "$output/error"
}

# The ball crosses the line; what is printed, counted and drawn says the same.
# Without a model or ONNX Runtime the script says how to get them; with both it draws.
check_detect() {
  ! "$here/detect.sh" 2>"$output/error" || die "detect.sh ran without a model"
  expect 1 'docs/detection.md' "$output/error"
  gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=20 \
    ! video/x-raw,width=320,height=240,framerate=10/1 ! jpegenc ! avimux ! filesink location="$output/ball.avi"
  : >"$output/empty.onnx"
  ! "$here/detect.sh" "$output/empty.onnx" "$output/ball.avi" "$output/ball.mkv" 2>"$output/error" ||
    die "detect.sh ran with an empty model"
  expect 1 'ERROR.*ccldetect' "$output/error"
  [[ -n ${CUDACCL_TEST_MODEL-} ]] || return 0
  "$here/detect.sh" "$CUDACCL_TEST_MODEL" "$output/ball.avi" "$output/ball.mkv"
  [[ -s $output/ball.mkv ]] || die "no video was written"
}

check_count_people() {
  mkdir "$odd"
  gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=200 \
    ! video/x-raw,width=320,height=240,framerate=30/1 ! jpegenc ! avimux ! filesink location="$output/ball.avi"
  cp "$output/ball.avi" "$odd"
  "$here/count-people.sh" "$odd/ball.avi" "$odd/counted.mkv" >"$output/counts"
  mv "$odd/counted.mkv" "$output"
  cat "$output/counts"
  inwards=$(grep -c ' goes in$' "$output/counts" || true)
  outwards=$(grep -c ' goes out$' "$output/counts" || true)
  ((inwards + outwards > 0)) || die "the ball does not cross the line"
  expect 1 "^in $inwards, out $outwards\$" "$output/counts"
  gst-launch-1.0 -q filesrc location="$output/counted.mkv" ! decodebin ! videoconvert \
    ! video/x-raw,format=RGB ! multifilesink location="$output/frame%d"
  [[ -e $output/frame199 && ! -e $output/frame200 ]] || die "the video does not have 200 frames"
  LC_ALL=C grep -q -a -P '[\xd0-\xff][\xa0-\xe0][\x00-\x50]' "$output/frame100" || die "no line was drawn"

  python -c 'import gi' 2>/dev/null || return 0
  expect 1 "^$(python "$here/count-people.py" "$output/ball.avi" fakesink)\$" "$output/counts"
  ! python "$here/count-people.py" /nonexistent fakesink 2>"$output/error" || die "a missing file was accepted"
  expect 1 'nonexistent|not found|exist' "$output/error"
}

case ${1-} in
testsource)
  "$here/testsource.sh" 10 include='0,0 1,0 1,1 0,1' connectivity=4 >"$output/messages"
  expect 10 '^cudaccl, timestamp=.* found=\(uint\)1, components=' "$output/messages"
  if "$here/testsource.sh" ten >"$output/messages" 2>"$output/error"; then
    die "testsource.sh accepted a wrong number"
  fi
  [[ ! -s $output/messages ]] || die "testsource.sh went on after a wrong number"
  expect 1 "'ten' is not a number of frames" "$output/error"
  # gst-launch speaks the user's language.
  # shellcheck disable=SC2016
  (
    fake_launch '[[ $LC_ALL != C ]] || echo '"'"'Got message #1 from element "cudaccl0" (element): cudaccl'"'"
    LC_ALL=C.UTF-8 "$here/testsource.sh" 1 >"$output/messages"
  )
  expect 1 '^cudaccl$' "$output/messages"
  ;;
c-app)
  check_c_app
  ;;
apps)
  check_c_app
  python -c 'import gi; gi.require_version("GstVideo", "1.0")' 2>/dev/null ||
    skip "no GStreamer for Python (Debian: python3-gi, gir1.2-gst-plugins-base-1.0)"
  for source in balls noise; do
    declare -n words=$source
    print_boxes -- "${words[@]}" >"$output/c"
    python "$here/print-boxes.py" -- "${words[@]}" >"$output/python"
    diff "$output/c" "$output/python" >"$output/diff" ||
      die "C and Python print different boxes: $(head -n 20 "$output/diff")"
    (($(wc -l <"$output/c") >= 25)) || die "too few boxes: $(cat "$output/c")"
  done
  ;;
camera)
  if "$here/camera.sh" /dev/no-such-camera 2>"$output/error"; then
    die "camera.sh accepted a camera that does not exist"
  fi
  expect 1 '/dev/no-such-camera' "$output/error"
  if "$here/jetson-camera.sh" front 2>"$output/error"; then
    die "jetson-camera.sh accepted a camera that is not a number"
  fi
  expect 1 "'front'" "$output/error"
  if ! gst-inspect-1.0 --exists --atleast-version=0.0 nvarguscamerasrc; then
    ! "$here/jetson-camera.sh" 2>"$output/error" || die "jetson-camera.sh ran without JetPack"
    expect 1 'nvarguscamerasrc.*JetPack' "$output/error"
  fi
  ;;
live)
  need_elements rtspsrc watchdog
  check_live
  ;;
quotes)
  need_commands python3
  need_elements rtspsrc watchdog
  check_quotes
  ;;
recording)
  need_recording
  "$here/recording.sh" "$file" --frames=100 --quiet --summary >"$output/summary"
  cat "$output/summary"
  expect 1 '^frames +100$' "$output/summary"
  # The first frame is all background; somebody walks in every other one.
  expect 1 '^frames with components +99$' "$output/summary"
  if gst-inspect-1.0 --exists pngenc && gst-inspect-1.0 --exists segmentation; then
    "$here/masks.sh" "$output/masks" "$file" 3 >"$output/masks.log"
    expect 1 ': 3 masks$' "$output/masks.log"
  fi
  ;;
sinks)
  need_commands
  check_sinks
  ;;
names)
  check_names
  ;;
mqtt | kafka)
  send_lines=$build/apps/send-lines/send-lines
  "$send_lines" "$1://localhost/x" </dev/null 2>"$output/error" || skip "$(cat "$output/error")"
  if [[ $1 == mqtt ]]; then
    need_commands mosquitto mosquitto_sub
  else
    need_commands "$build/pipelines/kafka-mock"
  fi
  components_as_json "" ball | without_session >"$output/sent"
  expect 100 '"source":"ball",.*"found":1,"count":1,' "$output/sent"
  export SPOOL_FOLDER=$output
  check_brokers "$1"
  check_silent_host "$1"
  check_again "$1" "$1.sh"
  "check_$1"
  ;;
merged)
  need_recording
  need_commands
  "$here/merged.sh" "$file" | cat >"$output/lines"
  expect 795 '"width":768,"height":576,' "$output/lines"
  # The first frame is all background; somebody walks in every other one.
  expect 794 '"found":[1-9]' "$output/lines"
  ;;
overlay)
  need_elements segmentation jpegenc avimux pngenc
  check_overlay
  ;;
overlay-recording)
  need_recording pngenc
  check_overlay_recording
  ;;
morphology)
  need_elements segmentation jpegenc avimux pngenc compositor
  check_morphology
  ;;
motion)
  need_elements avdec_msmpeg4 videobalance rawvideoparse pngenc
  "$here/../scripts/find-recording.sh" --no-fetch >/dev/null ||
    skip "vtest.avi not found (scripts/find-recording.sh downloads it)"
  [[ -x $build/tests/peers/motion-picture ]] || skip "motion-picture was not built"
  "$here/motion.sh" "$output/pictures" >"$output/log"
  expect 2 '/(street|night).png$' "$output/log"
  ;;
detect)
  need_elements jpegenc avimux matroskamux
  check_detect
  ;;
count-people)
  need_elements jpegenc avimux matroskamux matroskademux
  check_count_people
  ;;
*)
  show_help
  exit 2
  ;;
esac
