#!/usr/bin/env bash
# Runs a command with a Docker engine: the one that answers, or, as root, one that is started for it
# and stopped after it. An engine of ours gets the image of lambda-image.sh; to another, SAM's own
# image is pulled.
#
#   with-docker.sh npm run sam-suite
set -euo pipefail
cd "$(dirname "$0")/../.."
image=public.ecr.aws/lambda/nodejs:24-$(uname -m | sed 's/aarch64/arm64/')

if docker version >/dev/null 2>&1; then
  docker image inspect "$image" >/dev/null 2>&1 || docker pull "$image"
  exec "$@"
fi

run=$(mktemp -d)
export DOCKER_HOST=unix://$run/docker.sock
had_bridge=$([ -e /sys/class/net/docker0 ] && echo yes || true)
# Images stay in .local, for the next run.
dockerd --host "$DOCKER_HOST" --pidfile "$run/pid" --exec-root "$run/exec" \
  --data-root "$PWD/.local/docker" >"$run/log" 2>&1 &
engine=$!
stop() {
  kill "$engine" 2>/dev/null && wait "$engine" || true
  [ -n "$had_bridge" ] || ip link delete docker0 2>/dev/null || true
  rm -rf "$run"
}
trap stop EXIT

until docker version >/dev/null 2>&1; do
  kill -0 "$engine" 2>/dev/null || { cat "$run/log"; exit 1; }
  sleep 0.2
done
docker image inspect "$image" >/dev/null 2>&1 || bash test/sam/lambda-image.sh "$(npx node -p process.execPath)"
"$@"
