#!/usr/bin/env bash
# Chromium, for the browser suite: Debian's own package, as root, where there is no browser that will do.
set -euo pipefail

for one in chromium chromium-browser google-chrome; do
  if command -v "$one" >/dev/null; then exit; fi
done
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium fonts-liberation >/dev/null
