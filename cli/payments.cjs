#!/usr/bin/env node
// The `payments` command as a bin: `npx payments dlq`.
require("../scripts/preflight.cjs");
// What a start compiles, the next one reads: half of the time until a command does something.
require("node:module").enableCompileCache(
  require("node:path").join(__dirname, "..", "node_modules", ".cache", "payments"),
);
void import("./payments.ts");
