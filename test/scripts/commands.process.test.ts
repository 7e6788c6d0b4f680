// The commands as a person runs them: in processes of their own.
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { COMMAND_ENV } from "../support/command.ts";

const ROOT = join(import.meta.dirname, "..", "..");

type Finished = { code: number | null; stdout: string; stderr: string };

/** A folder of its own for each test: the commands keep what they know of a running stack there. */
function prepare() {
  const folder = mkdtempSync(join(tmpdir(), "payment-worker-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));

  function start(script: string, ...args: string[]) {
    const child = spawn(process.execPath, [join(ROOT, script), ...args], {
      cwd: folder,
      env: { ...COMMAND_ENV, NO_COLOR: "1" },
    });
    onTestFinished(() => end(child));
    const output = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => void (output.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => void (output.stderr += chunk.toString()));
    const finished = once(child, "close").then(([code]): Finished => ({
      code: code as number | null,
      ...output,
    }));
    return { child, output, finished };
  }

  return { folder, start, run: (...command: [string, ...string[]]) => start(...command).finished };
}

/** A command that a failed test left behind. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "close");
}

function until(condition: () => boolean): Promise<void> {
  return expect.poll(condition, { timeout: 60_000, interval: 20 }).toBe(true);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function isListening(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test.each(["chaos/demo.ts", "scripts/start.ts", "cli/payments.ts", "scripts/invoke.ts"])(
  "%s explains itself on --help and does nothing",
  async (script) => {
    const { code, stdout, stderr } = await prepare().run(script, "--help");

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^npm (run |start)/);
  },
);

test.each<[string, string[], string]>([
  [
    "an option that does not exist",
    ["cli/payments.ts", "send", "--ammount", "5"],
    "Unknown option '--ammount'. See --help.\n",
  ],
  ["no queue to send to", ["cli/payments.ts", "send"], "start one with `npm start`"],
  ["no event", ["scripts/invoke.ts"], "Name one event file, such as events/payment.json"],
  [
    "an event that is not there",
    ["scripts/invoke.ts", "none.json"],
    "none.json cannot be read: ENOENT",
  ],
  ["an argument to the demo", ["chaos/demo.ts", "fast"], '"fast" is not an option of the demo'],
])("%s is an error with the next step, and exit status 2", async (_, command, sentence) => {
  const { code, stdout, stderr } = await prepare().run(...(command as [string]));

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(sentence);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

test("an event that is not from SQS is refused", async () => {
  const { folder, run } = prepare();
  writeFileSync(join(folder, "event.json"), '{"detail":{}}');

  const { code, stderr } = await run("scripts/invoke.ts", "event.json");

  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "event.json is not an SQS event: it has no list of Records.\n",
  });
});

test("invoke runs an event on a stack of its own and prints the worker's line and answer", async () => {
  const { code, stdout } = await prepare().run(
    "scripts/invoke.ts",
    join(ROOT, "events", "payment.json"),
  );

  const lines = stdout.trim().split("\n");
  expect(code).toBe(0);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    message: "charge succeeded",
    messageId: "order-1001",
  });
  expect(lines[1]).toBe('{"batchItemFailures":[]}');
});

test("a stack stays up, is found by send, survives a killed worker and leaves nothing behind", async () => {
  const { folder, start, run } = prepare();
  const { child, output, finished } = start("scripts/start.ts");
  await until(() => output.stdout.includes("Deliveries:"));
  const state = JSON.parse(readFileSync(join(folder, ".local", "stack.json"), "utf8")) as {
    endpoints: Record<string, string>;
  };
  const urls = Object.values(state.endpoints);
  const workers = () => [...output.stdout.matchAll(/process (\d+)/g)].map(([, pid]) => Number(pid));

  const second = await run("scripts/start.ts");
  const sent = await run(
    "cli/payments.ts",
    "send",
    "--id",
    "order-1",
    "--repeat",
    "2",
    "--shape",
    "sns",
  );
  await until(() => /order-1 {2}charge succeeded/.test(output.stdout));
  for (const pid of workers()) process.kill(pid, "SIGKILL");
  await until(() => workers().every((pid) => !isRunning(pid)));
  await run("cli/payments.ts", "send", "--id", "order-2");
  await until(() => /order-2 {2}charge succeeded/.test(output.stdout));
  const invoked = await run("scripts/invoke.ts", join(ROOT, "events", "payment.json"));
  child.kill("SIGINT");
  const { code, stderr } = await finished;

  expect(second).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`running already (process ${child.pid})`) as string,
  });
  expect(sent).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^sent order-1 {2}\(SQS MessageId .+\)\nsent order-1 .+\n1 message, 2 sends, to http/,
    ) as string,
  });
  expect(invoked.stdout).toContain('{"batchItemFailures":[]}');
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(workers().length).toBeGreaterThan(1);
  expect(workers().some(isRunning)).toBe(false);
  expect(await Promise.all(urls.map(isListening))).toEqual([false, false, false]);
  expect(existsSync(join(folder, ".local", "stack.json"))).toBe(false);
});

test("send sends a file's lines as they are", async () => {
  const { folder, start, run } = prepare();
  const { output } = start("scripts/start.ts");
  await until(() => output.stdout.includes("Deliveries:"));
  writeFileSync(join(folder, "bodies.jsonl"), 'not json\n\n{"id":"order-9"}\n');

  const sent = await run("cli/payments.ts", "send", "--file", "bodies.jsonl");

  expect(sent.stdout).toMatch(
    /^sent bodies\.jsonl:1 .+\nsent bodies\.jsonl:3 .+\n2 messages, 2 sends, /,
  );
  await until(() => output.stdout.includes("invalid: body must be one JSON object"));
  await until(() => output.stdout.includes("order-9  invalid: createdAt"));
});

test("after a stack was killed, send says that none is running", async () => {
  const { start, run } = prepare();
  const { child, output, finished } = start("scripts/start.ts");
  await until(() => output.stdout.includes("Deliveries:"));
  child.kill("SIGKILL");
  await finished;

  const { code, stderr } = await run("cli/payments.ts", "send");

  expect(code).toBe(2);
  expect(stderr).toContain("No local stack is running");
});

test("a command whose reader has read enough ends in peace", async () => {
  const { child, finished } = prepare().start("scripts/capacity.ts", "--rate", "15");
  child.stdout.destroy();

  expect(await finished).toMatchObject({ code: 0, stderr: "" });
});
