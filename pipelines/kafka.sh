#!/usr/bin/env bash
# Sends components to a Kafka broker with kcat: one JSON message per frame (docs/json.md).
#
#   pipelines/kafka.sh [BROKERS [TOPIC [FILE]]]
#
# BROKERS   comma-separated HOST or HOST:PORT; default: localhost:9092
# TOPIC     default: cudaccl
# FILE      a video with moving objects; default: 100 frames of a moving ball
#
# To read the messages: kcat -C -b localhost -t cudaccl
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
command -v kcat >/dev/null || die "missing command kcat (Debian: kcat)"

components_as_json "${3-}" | kcat -P -b "${1-localhost:9092}" -t "${2-cudaccl}"
