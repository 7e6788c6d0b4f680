#!/usr/bin/env bash
# The tool of the deployment suite, below .local: an AWS emulator (Python 3.10 or later).
set -euo pipefail
cd "$(dirname "$0")/../.."

python3 -m venv .local/ministack
.local/ministack/bin/pip install --quiet --disable-pip-version-check ministack==1.5.33
