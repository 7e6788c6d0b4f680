#!/usr/bin/env bash
# Below .local: an AWS emulator for the deployment suite (Python 3.10 or later), and the linters of
# the workflows (Go).
set -euo pipefail
cd "$(dirname "$0")/../.."

install() {
  python3 -m venv ".local/$1"
  ".local/$1/bin/pip" install --quiet --disable-pip-version-check "$2"
}

install ministack ministack==1.5.33
install workflows zizmor==1.32.0
GOBIN="$PWD/.local/workflows/bin" go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
