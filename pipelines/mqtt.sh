#!/usr/bin/env bash
# Sends components to an MQTT broker: one JSON message per frame (docs/json.md).
#
#   pipelines/mqtt.sh [BROKER [TOPIC [INPUT [SOURCE]]]]
#
# BROKER   HOST or HOST:PORT; default: localhost:1883
# TOPIC    default: cudaccl
# INPUT    a video with moving objects: a file, or a URI such as rtsp://CAMERA/stream;
#          default: 100 frames of a moving ball
# SOURCE   name of the camera in the lines, and of the client; default: the URI without password, or
#          the file's name
#
# BROKER_USER and BROKER_PASSWORD are read from the environment.
#
# Messages are sent with QoS 1. Lines that the broker has not acknowledged are kept in a file in
# SPOOL_FOLDER (default: ~/.local/state/cudaccl): neither a broker that restarts nor this script
# loses them; they are sent when both run again. The broker keeps what it has acknowledged for
# clients that are away, if it is set up so: for mosquitto, "persistence true" and
# "autosave_on_changes true".
#
# An RTSP camera that is lost, or sends no frame for LIVE_TIMEOUT seconds (default: 10), is started
# again until the script ends.
#
# To read the messages: mosquitto_sub -t cudaccl
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
send_components "mqtt://${1:-localhost}/${2:-cudaccl}" "${3-}" "${4-}"
