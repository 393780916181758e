#!/usr/bin/env bash
# Components to an MQTT broker: a message a frame, as JSON (docs/json.md), sent by mosquitto_pub.
#
#   pipelines/mqtt.sh [BROKER [TOPIC [FILE]]]
#
# BROKER   as HOST or HOST:PORT; default: localhost:1883
# TOPIC    default: cudaccl
# FILE     a video in which to find what moves; default: 100 frames of a ball
#
# To see them: mosquitto_sub -t cudaccl
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
broker=${1-localhost}
topic=${2-cudaccl}
port=1883
[[ $broker != *:* ]] || port=${broker##*:}
command -v mosquitto_pub >/dev/null || die "there is no mosquitto_pub here (Debian: mosquitto-clients)"

# At least once (-q 1): a broker that is slow for a moment loses nothing.
components_as_json "${3-}" | mosquitto_pub -h "${broker%:*}" -p "$port" -t "$topic" -q 1 -l
