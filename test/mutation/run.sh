#!/usr/bin/env bash
# Runs StrykerJS, which has an installation of its own.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
stryker="$here/node_modules/@stryker-mutator/core/bin/stryker.js"
[ -f "$stryker" ] || {
  echo 'StrykerJS is not installed: run "npm run mutation:install" first.' >&2
  exit 1
}
exec node "$stryker" run "$here/stryker.config.json" "$@"
