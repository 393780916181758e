#!/usr/bin/env bash
# Components to a Kafka broker: a message a frame, as JSON (docs/json.md), sent by kcat.
#
#   pipelines/kafka.sh [BROKERS [TOPIC [FILE]]]
#
# BROKERS   as HOST or HOST:PORT, separated by commas; default: localhost:9092
# TOPIC     default: cudaccl
# FILE      a video in which to find what moves; default: 100 frames of a ball
#
# To see them: kcat -C -b localhost -t cudaccl
set -euo pipefail
# shellcheck source=pipelines/environment.sh
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

case ${1-} in -h | --help) show_help && exit ;; esac
command -v kcat >/dev/null || die "there is no kcat here (Debian: kcat)"

components_as_json "${3-}" | kcat -P -b "${1-localhost:9092}" -t "${2-cudaccl}"
