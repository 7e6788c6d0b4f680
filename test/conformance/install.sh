#!/usr/bin/env bash
# Installs the servers of `npm run conformance` into .local/conformance, in pinned versions: moto,
# ministack and BabelQueue (Python 3.10 or later), ElasticMQ (Java 11 or later and Maven), stripe-mock
# with Stripe's OpenAPI description (Go).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
target=$(cd "$here/../.." && pwd)/.local/conformance
stripe_mock=github.com/stripe/stripe-mock@v0.203.0

for tool in python3 go mvn java; do
  command -v "$tool" >/dev/null || {
    echo "The conformance suite needs $tool: install it and run this again." >&2
    exit 1
  }
done
mkdir -p "$target"

python3 -m venv "$target/python"
"$target/python/bin/pip" install --quiet --disable-pip-version-check --no-deps \
  --requirement "$here/servers/python.txt"

mvn --quiet --batch-mode --file "$here/servers/elasticmq.pom.xml" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
  -DoutputDirectory="$target/elasticmq"

GOBIN="$target/go" go install "$stripe_mock"
module=$(cd "$target" && go mod download -json "$stripe_mock" | python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
cp "$module/embedded/openapi/spec3.json" "$target/stripe-openapi.json"
chmod u+w "$target/stripe-openapi.json"

echo "Installed: now npm run conformance."
