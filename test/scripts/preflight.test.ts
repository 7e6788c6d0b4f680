import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, onTestFinished, test } from "vitest";

const PREFLIGHT = join(import.meta.dirname, "..", "..", "scripts", "preflight.cjs");

/** Runs the preflight in an empty project on a Node that says it is this one. */
async function preflight(version: string, bundled: boolean) {
  const project = await mkdtemp(join(tmpdir(), "preflight-"));
  onTestFinished(() => rm(project, { recursive: true }));
  await mkdir(join(project, "scripts"));
  await cp(PREFLIGHT, join(project, "scripts", "preflight.cjs"));
  if (bundled) {
    await mkdir(join(project, "node_modules", ".bin"), { recursive: true });
    await writeFile(join(project, "node_modules", ".bin", "node"), "");
  }
  const pretend = `Object.defineProperty(process, "versions", { value: { node: "${version}" } });`;
  await writeFile(join(project, "pretend.cjs"), pretend);
  const args = [
    "--require",
    join(project, "pretend.cjs"),
    join(project, "scripts", "preflight.cjs"),
  ];
  return promisify(execFile)(process.execPath, args).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

test.each(["24.0.0", "26.10.0"])("Node %s is welcome in silence", async (version) => {
  expect(await preflight(version, false)).toMatchObject({ code: 0, stdout: "", stderr: "" });
});

test("on an old Node without a bundled one the first line says what to do", async () => {
  expect(await preflight("20.20.2", false)).toMatchObject({
    code: 1,
    stderr:
      "This project needs Node 24, and this is Node 20.20.2: run `npx npm@11 ci`, which brings Node 24 along (npm 10 leaves it out), or install Node 24 yourself.\n",
  });
});

test("on an old Node beside a bundled one the first line says how to use it", async () => {
  expect(await preflight("20.20.2", true)).toMatchObject({
    code: 1,
    stderr:
      "This project needs Node 24, and this is Node 20.20.2: start it through npm (`npm run …`, `npx …`), which uses the Node 24 that is installed beside it.\n",
  });
});
