#!/usr/bin/env bash
# Sends components to an MQTT broker with mosquitto_pub: one JSON message per frame (docs/json.md).
#
#   pipelines/mqtt.sh [BROKER [TOPIC [FILE]]]
#
# BROKER   HOST or HOST:PORT; default: localhost:1883
# TOPIC    default: cudaccl
# FILE     a video with moving objects; default: 100 frames of a moving ball
#
# To read the messages: mosquitto_sub -t cudaccl
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
broker=${1-localhost}
topic=${2-cudaccl}
port=1883
[[ $broker != *:* ]] || port=${broker##*:}
command -v mosquitto_pub >/dev/null || die "missing command mosquitto_pub (Debian: mosquitto-clients)"

# -q 1 delivers at least once, so a slow broker loses no message.
components_as_json "${3-}" | mosquitto_pub -h "${broker%:*}" -p "$port" -t "$topic" -q 1 -l
