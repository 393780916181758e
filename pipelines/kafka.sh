#!/usr/bin/env bash
# Sends components to Kafka: one JSON message per frame (docs/json.md).
#
#   pipelines/kafka.sh [BROKERS [TOPIC [INPUT [SOURCE]]]]
#
# BROKERS   comma-separated HOST or HOST:PORT; default: localhost:9092
# TOPIC     default: cudaccl
# INPUT     a video with moving objects: a file, or a URI such as rtsp://CAMERA/stream;
#           default: 100 frames of a moving ball
# SOURCE    name of the camera in the lines; also the messages' key, so that its lines stay in one
#           partition and keep their order; default: the URI without password, or the file's name
#
# BROKER_USER and BROKER_PASSWORD are read from the environment (SASL PLAIN over TLS).
#
# The producer is idempotent and waits for all replicas. Lines that are not acknowledged are kept in
# a file in SPOOL_FOLDER (default: ~/.local/state/cudaccl): neither a broker that restarts nor this
# script loses them; they are sent when both run again.
#
# An RTSP camera that is lost, or sends no frame for LIVE_TIMEOUT seconds (default: 10), is started
# again until the script ends.
#
# To read the messages: kcat -C -b localhost -t cudaccl
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
send_components "kafka://${1:-localhost:9092}/${2:-cudaccl}" "${3-}" "${4-}"
