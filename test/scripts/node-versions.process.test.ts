// What scripts/bundled-node.cjs and scripts/preflight.cjs make of the Node that runs them.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "vitest";

import manifest from "../../package.json" with { type: "json" };
import { newFolder } from "../support/command.ts";

const SCRIPTS = join(import.meta.dirname, "..", "..", "scripts");

/** A project with our scripts, and with this shell script as its bundled Node. */
function newProject(bundledNode?: string) {
  const project = newFolder();
  const bin = join(project, "node_modules", ".bin");
  for (const script of ["bundled-node.cjs", "preflight.cjs"]) {
    cpSync(join(SCRIPTS, script), join(project, "scripts", script));
  }
  mkdirSync(bin, { recursive: true });
  const node = join(bin, "node");
  if (bundledNode) writeFileSync(node, `#!/bin/sh\n${bundledNode}\n`, { mode: 0o755 });
  const run = (command: string, env: NodeJS.ProcessEnv = {}) =>
    promisify(execFile)("sh", ["-c", command], { cwd: project, env }).then(
      ({ stderr }) => ({ code: 0, stderr, kept: existsSync(node) }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
    );
  return { project, bin, run };
}

/** Runs a script on a Node that says it is this one; node_modules in its path makes it the bundled one. */
const pretend = (version: string, path: string, script: string) =>
  `exec ${process.execPath} -e '
    Object.defineProperty(process, "versions", { value: { node: "${version}" } });
    process.execPath = "${path}";
    require(process.cwd() + "/scripts/${script}");'`;
const bundled = (version: string) =>
  pretend(version, "/project/node_modules/node/bin/node", "bundled-node.cjs");

/** What npm ci does last, in a project whose bundled Node is this shell script. */
async function postinstall(bundledNode: string, own: string) {
  const { project, bin, run } = newProject(bundledNode);
  const ownNode = `#!/bin/sh\n${pretend(own, "/usr/bin/node", "bundled-node.cjs")}\n`;
  writeFileSync(join(project, "own-node"), ownNode, { mode: 0o755 });
  return run(manifest.scripts.postinstall, {
    PATH: [bin, process.env["PATH"]].join(":"),
    npm_node_execpath: join(project, "own-node"),
    npm_config_user_agent: `npm/11.6.0 node/v${own} linux x64 workspaces/false`,
  });
}

test.each([
  [
    "that is older than npm's Node 24",
    bundled("24.0.0"),
    "24.12.1",
    "Your Node 24.12.1 is newer than the bundled 24.0.0 and takes its place.\n",
  ],
  [
    "that does not start",
    "exit 127",
    "24.12.1",
    "The bundled Node does not start on this system: your own, 24.12.1, takes its place.\n",
  ],
  [
    "that does not start, where npm's own is older,",
    "exit 127",
    "22.4.0",
    "The bundled Node does not start on this system: your own, 22.4.0, takes its place, but this project needs Node 24: install it.\n",
  ],
])("a bundled Node %s gives way", async (_what, bundledNode, own, stderr) => {
  expect(await postinstall(bundledNode, own)).toEqual({ code: 0, stderr, kept: false });
});

test.each([
  ["older than the bundled one", "24.9.0"],
  ["the same", "24.21.0"],
  ["too old", "20.20.2"],
  ["of another major version", "26.1.0"],
])("the bundled Node stays, in silence, where npm's own is %s", async (_what, own) => {
  expect(await postinstall(bundled("24.21.0"), own)).toEqual({ code: 0, stderr: "", kept: true });
});

test.each([
  ["24.0.0", undefined, 0, ""],
  ["26.10.0", undefined, 0, ""],
  [
    "20.20.2",
    undefined,
    1,
    "This project needs Node 24, and this is Node 20.20.2: run `npx npm@11 ci`, which brings Node 24 along (npm 10 leaves it out), or install Node 24 yourself.\n",
  ],
  [
    "20.20.2",
    "exit",
    1,
    "This project needs Node 24, and this is Node 20.20.2: start it through npm (`npm run …`, `npx …`), which uses the Node 24 that is installed beside it.\n",
  ],
])("on Node %s, with the bundled one %j, the first line of a command", async (own, node, ...is) => {
  const [code, stderr] = is;
  const command = pretend(own, "/usr/bin/node", "preflight.cjs");

  expect(await newProject(node).run(command)).toMatchObject({ code, stderr });
});
