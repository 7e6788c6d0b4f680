#!/usr/bin/env bash
# Makes an image that stands for AWS's Node 24 Lambda image, under that image's own name, for an
# engine that cannot pull it: Debian, a Node 24, and AWS's runtime interface client. On top of it
# the SAM CLI builds its runtime emulator, as it does on AWS's image.
#
#   lambda-image.sh NODE      path of a Node 24 for this machine's processor
#
# Needs root, debootstrap, a C++ compiler, CMake, and a Docker engine that runs.
set -euo pipefail
node=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
tag=public.ecr.aws/lambda/nodejs:24-$(uname -m | sed 's/aarch64/arm64/')
image=$(mktemp -d)
trap 'rm -rf "$image"' EXIT

debootstrap --variant=minbase --include=ca-certificates bookworm "$image" >/dev/null
install -D "$node" "$image/usr/bin/node"
install -d "$image/var/task" "$image/var/runtime"
cp -a "$root/.local/ric/node_modules" "$image/var/runtime/"
cat >"$image/var/runtime/bootstrap" <<'SH'
#!/bin/sh
cd /var/task
exec /usr/bin/node /var/runtime/node_modules/aws-lambda-ric/index.mjs "$_HANDLER"
SH
chmod +x "$image/var/runtime/bootstrap"
tar -C "$image" -c . | docker import \
  --change 'ENV LAMBDA_TASK_ROOT=/var/task LAMBDA_RUNTIME_DIR=/var/runtime' \
  --change 'WORKDIR /var/task' - "$tag" >/dev/null
echo "$tag"
