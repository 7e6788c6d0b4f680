#!/usr/bin/env node
// The bin of the package. Plain old JavaScript, because its first job is to run on a Node that is
// too old for the rest.
if (Number(process.versions.node.split(".")[0]) < 24) {
  process.stderr.write(
    "The payments command needs Node 24, and this is Node " + process.versions.node + ".\n",
  );
  process.exit(2);
}
// What a start compiles, the next one reads: half of the time until a command does something.
require("node:module").enableCompileCache();
void import("./payments.mjs");
