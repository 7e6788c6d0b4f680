#!/usr/bin/env node
// The `payments` command as a bin: `npx payments dlq`.
require("./preflight.cjs");
void import("./payments.ts");
