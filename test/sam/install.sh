#!/usr/bin/env bash
# The SAM CLI (Python 3.10 or later), AWS's runtime interface client for Node (a C++ compiler, CMake)
# and, as root on a Debian where no Docker engine answers, an engine and debootstrap. All but the last
# is below .local.
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 -m venv .local/sam
.local/sam/bin/pip install --quiet --disable-pip-version-check aws-sam-cli==1.170.0 cfn-lint==1.58.0
npm install --silent --no-audit --prefix .local/ric aws-lambda-ric@4.0.2

if docker version >/dev/null 2>&1; then exit; fi
if ! command -v dockerd >/dev/null || ! command -v debootstrap >/dev/null; then
  apt-get update -qq
  # The engine is started when it is needed, and not by the installation.
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d
  trap 'rm /usr/sbin/policy-rc.d' EXIT
  DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends \
    docker.io debootstrap iptables >/dev/null
fi
