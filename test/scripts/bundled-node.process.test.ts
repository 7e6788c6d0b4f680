import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, onTestFinished, test } from "vitest";

import manifest from "../../package.json" with { type: "json" };

const SCRIPT = join(import.meta.dirname, "..", "..", "scripts", "bundled-node.cjs");

/** What npm ci does last, in a project whose bundled Node is this shell script. */
async function postinstall(bundledNode: string, own: string) {
  const project = mkdtempSync(join(tmpdir(), "bundled-node-"));
  onTestFinished(() => rmSync(project, { recursive: true }));
  const bin = join(project, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(project, "scripts"));
  copyFileSync(SCRIPT, join(project, "scripts", "bundled-node.cjs"));
  writeFileSync(join(bin, "node"), `#!/bin/sh\n${bundledNode}\n`, { mode: 0o755 });
  const ownNode = `#!/bin/sh\n${pretend(own, "/usr/bin/node")}\n`;
  writeFileSync(join(project, "own-node"), ownNode, { mode: 0o755 });
  const { stderr } = await promisify(execFile)("sh", ["-c", manifest.scripts.postinstall], {
    cwd: project,
    env: {
      PATH: [bin, process.env["PATH"]].join(":"),
      npm_node_execpath: join(project, "own-node"),
      npm_config_user_agent: `npm/11.6.0 node/v${own} linux x64 workspaces/false`,
    },
  });
  return { stderr, kept: existsSync(join(bin, "node")) };
}

/** A Node that says it is this one; node_modules in its path makes it the bundled one. */
const pretend = (version: string, path: string) =>
  `exec ${process.execPath} -e '
    Object.defineProperty(process, "versions", { value: { node: "${version}" } });
    process.execPath = "${path}";
    require(process.cwd() + "/scripts/bundled-node.cjs");'`;
const bundled = (version: string) => pretend(version, "/project/node_modules/node/bin/node");

test("a bundled Node that is older than npm's Node 24 gives way", async () => {
  const { stderr, kept } = await postinstall(bundled("24.0.0"), "24.12.1");

  expect(stderr).toBe("Your Node 24.12.1 is newer than the bundled 24.0.0 and takes its place.\n");
  expect(kept).toBe(false);
});

test.each([
  ["24.12.1", "takes its place.\n"],
  ["22.4.0", "takes its place, but this project needs Node 24: install it.\n"],
])("a bundled Node that does not start gives way to npm's own %s", async (own, text) => {
  const { stderr, kept } = await postinstall("exit 127", own);

  expect(stderr).toBe(`The bundled Node does not start on this system: your own, ${own}, ${text}`);
  expect(kept).toBe(false);
});

test.each([
  ["older than the bundled one", "24.9.0"],
  ["the same", "24.21.0"],
  ["too old", "20.20.2"],
  ["of another major version", "26.1.0"],
])("the bundled Node stays, in silence, where npm's own is %s", async (_name, own) => {
  expect(await postinstall(bundled("24.21.0"), own)).toEqual({ stderr: "", kept: true });
});
