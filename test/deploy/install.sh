#!/usr/bin/env bash
# The tools of the deployment suites, below .local: an AWS emulator and the SAM CLI (Python 3.10 or
# later; each apart, for their dependencies conflict), AWS's runtime interface client for Node (a C++
# compiler, CMake) and AWS's emulator of the runtime interface (Go).
set -euo pipefail
cd "$(dirname "$0")/../.."

install() {
  local folder=".local/$1"
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
}

install ministack ministack==1.5.33
install sam aws-sam-cli==1.170.0 cfn-lint==1.58.0

npm install --silent --no-audit --prefix .local/ric aws-lambda-ric@4.0.2
GOBIN="$PWD/.local/rie" go install \
  github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@v0.0.0-20261030222936-bef5c4ba774d
