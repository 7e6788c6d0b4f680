#!/usr/bin/env bash
# The Python tools of the deployment suites, each in a folder of its own: their dependencies conflict.
set -euo pipefail
cd "$(dirname "$0")/../.."

install() {
  local folder=".local/$1"
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}

install ministack ministack==1.5.33
install sam aws-sam-cli==1.170.0 cfn-lint==1.58.0
