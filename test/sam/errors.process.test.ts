// What a person reads whose machine lacks something that npm run sam needs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { newFolder, startCommand } from "../support/command.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const EVENT = join(ROOT, "events", "payment.json");

/** Runs npm run sam where there is no other program than a `docker` with this body, if any. */
async function npmRunSam(docker: string | undefined, ...args: string[]) {
  const folder = newFolder();
  if (docker) writeFileSync(join(folder, "docker"), `#!/bin/sh\n${docker}\n`, { mode: 0o755 });
  const sam = join(ROOT, "scripts", "sam.ts");
  return startCommand(folder, process.execPath, [sam, ...args], { PATH: folder }).finished;
}

const ENGINE = `case "$1" in version) echo amd64 ;; *) echo '[]' ;; esac`;

test.each([
  ["no Docker", undefined, [EVENT], "There is no `docker` command: install Docker, or use"],
  [
    "no engine",
    "echo away >&2; exit 1",
    [EVENT],
    "The Docker engine does not answer: start it. (away)",
  ],
  ["no SAM CLI", ENGINE, [EVENT], "There is no `sam` command: install the AWS SAM CLI, or use"],
  ["no stack for a sam line", ENGINE, ["--files"], "keep `npm start -- --container` up"],
  ["no event", ENGINE, [], "Name one event file, such as events/payment.json."],
])("with %s, npm run sam ends with a sentence and status 2", async (_name, docker, args, text) => {
  const { code, stderr } = await npmRunSam(docker, ...args);

  expect(stderr).toContain(text);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(code).toBe(2);
});
