// The commands as a person runs them: in processes of their own.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { GetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";

import { queueClient } from "../local/aws-fixture.ts";
import { isListening, isRunning, newFolder, startCommand } from "../support/command.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** A folder of its own for each test: the commands keep what they know of a running stack there. */
function prepare() {
  const folder = newFolder();

  function start(script: string, ...args: string[]) {
    const started = startCommand(folder, process.execPath, [join(ROOT, script), ...args]);
    onTestFinished(() => end(started.child));
    return started;
  }

  return {
    folder,
    start,
    run: (script: string, ...args: string[]) => start(script, ...args).finished,
    /** Starts a stack, and reads where it is once it is up. */
    startStack: async (...args: string[]) => {
      const started = start("scripts/start.ts", ...args);
      await until(() => started.output.stdout.includes("Deliveries:"));
      return { ...started, ...readState(folder) };
    },
  };
}

const readState = (folder: string) =>
  JSON.parse(readFileSync(join(folder, ".local", "stack.json"), "utf8")) as {
    pid: number;
    endpoints: Record<string, string>;
    queueUrl: string;
  };

/** A command that a failed test left behind. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "close");
}

function until(condition: () => boolean): Promise<void> {
  return expect.poll(condition, { timeout: 60_000, interval: 20 }).toBe(true);
}

test.each([
  "chaos/demo.ts",
  "scripts/start.ts",
  "cli/payments.ts",
  "scripts/invoke.ts",
  "bench/run.ts",
])("%s explains itself on --help and does nothing", async (script) => {
  const { code, stdout, stderr } = await prepare().run(script, "--help");

  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^npm (run |start)/);
});

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
  [
    "an event that is not from SQS",
    ["scripts/invoke.ts", join(ROOT, "package.json")],
    "package.json is not an SQS event: it has no list of Records.\n",
  ],
  ["an argument to the demo", ["chaos/demo.ts", "fast"], '"fast" is not an option of the demo'],
  ["no port", ["scripts/start.ts", "--port", "80"], "--port must be an integer from 1024 to 65529"],
  ["an argument to start", ["scripts/start.ts", "now"], '"now" is not an option of start'],
])("%s is an error with the next step, and exit status 2", async (_, command, sentence) => {
  const [script = "", ...args] = command;

  const { code, stdout, stderr } = await prepare().run(script, ...args);

  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(sentence);
  expect(stderr.trim().split("\n")).toHaveLength(1);
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
  const { folder, startStack, run } = prepare();
  const { child, output, finished, endpoints, queueUrl } = await startStack();
  const queue = queueClient(endpoints["queue"] ?? "");
  const urls = Object.values(endpoints);
  const workers = () =>
    [...output.stdout.matchAll(/worker started, process (\d+)/g)].map(([, pid]) => Number(pid));

  const second = await run("scripts/start.ts");
  const twice = ["--id", "order-1", "--repeat", "2", "--shape", "sns"];
  const sent = await run("cli/payments.ts", "send", ...twice);
  await until(() => /order-1 {2}charge succeeded/.test(output.stdout));
  // The messages are deleted when the worker has answered: it is idle then.
  const counts = new GetQueueAttributesCommand({
    QueueUrl: queueUrl,
    AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
  });
  await expect
    .poll(async () => (await queue.send(counts)).Attributes, { timeout: 60_000 })
    .toEqual({ ApproximateNumberOfMessages: "0", ApproximateNumberOfMessagesNotVisible: "0" });
  const [first = 0] = workers();
  process.kill(first, "SIGKILL");
  await until(() =>
    output.stdout.includes(`process ${first}, idle, exited with error: signal: SIGKILL`),
  );
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
  // The last line; what was invoked past the queue is not in it.
  expect(output.stdout.trim().split("\n").at(-1)).toBe(
    "2 messages, 3 deliveries, 2 charges, 0 double charges, 0 lost, 0 open",
  );
  expect(output.stdout).toMatch(/^The payment worker runs on this machine, in process \d+\./m);
  expect(new Set(workers()).size).toBeGreaterThan(1);
  expect(workers().some(isRunning)).toBe(false);
  expect(await Promise.all(urls.map(isListening))).toEqual([false, false, false]);
  expect(existsSync(join(folder, ".local", "stack.json"))).toBe(false);
});

test.each([
  ["", ""],
  [" that a killed one has left", '{"pid":999999999}'],
])(
  "of two starts at once one has the folder%s, and the other exits and leaves its file alone",
  async (_, left) => {
    const { folder, start } = prepare();
    mkdirSync(join(folder, ".local"));
    if (left) writeFileSync(join(folder, ".local", "stack.json"), left);
    const starts = [start("scripts/start.ts"), start("scripts/start.ts")];

    const loser = await Promise.race(
      starts.map(async (each) => ({ each, ...(await each.finished) })),
    );
    const winner = starts.find((each) => each !== loser.each);
    await until(() => winner?.output.stdout.includes("Deliveries:") === true);

    expect(readState(folder).pid).toBe(winner?.child.pid);
    expect(loser).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`running already (process ${winner?.child.pid})`) as string,
    });
    expect(readdirSync(join(folder, ".local")).toSorted()).toEqual(["stack.json", "worker.log"]);
  },
);

test("--port pins the addresses, a taken port is a sentence, send sends a file's lines as they are, and finds no stack that was killed", async () => {
  const { folder, startStack, run } = prepare();
  const base = 20_000 + Math.floor(Math.random() * 20_000);
  const { child, output, finished, endpoints } = await startStack("--port", String(base));

  const second = await prepare().run("scripts/start.ts", "--port", String(base));
  const paid = await fetch(`http://127.0.0.1:${base + 5}/payments`, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": "order-7" },
    body: '{"amount":1250,"currency":"eur","customer":"cus_local","paymentMethod":"pm_card_visa"}',
  });
  await until(() => output.stdout.includes("the order is shipped"));
  writeFileSync(join(folder, "bodies.jsonl"), 'not json\n\n{"id":"order-9"}\n');
  const sent = await run("cli/payments.ts", "send", "--file", "bodies.jsonl");
  await until(() => output.stdout.includes("invalid: body must be one JSON object"));
  await until(() => output.stdout.includes("order-9  invalid: createdAt"));
  child.kill("SIGKILL");
  await finished;
  const unsent = await run("cli/payments.ts", "send");

  expect(paid.status).toBe(202);
  expect(output.stdout).toContain(`curl -i http://127.0.0.1:${base + 5}/payments `);
  expect(endpoints).toEqual({
    queue: `http://127.0.0.1:${base + 1}`,
    table: `http://127.0.0.1:${base + 2}`,
    stripe: `http://127.0.0.1:${base + 3}`,
  });
  expect(second).toEqual({
    code: 2,
    stdout: "",
    stderr: `Port ${base + 3} is taken: try another --port.\n`,
  });
  expect(sent.stdout).toMatch(
    /^sent bodies\.jsonl:1 .+\nsent bodies\.jsonl:3 .+\n2 messages, 2 sends, /,
  );
  expect(unsent.code).toBe(2);
  expect(unsent.stderr).toContain("No local stack is running");
});

test("start in a folder where it cannot write says so in a sentence", async () => {
  const { folder, run } = prepare();
  writeFileSync(join(folder, ".local"), "");

  const { code, stderr } = await run("scripts/start.ts");

  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `${join(folder, ".local")} cannot be written (EEXIST): npm start builds into dist/ and keeps .local/ in the project's folder.\n`,
  });
});

test("a command whose reader has read enough ends in peace", async () => {
  const { child, finished } = prepare().start("scripts/capacity.ts", "--rate", "15");
  child.stdout.destroy();

  expect(await finished).toMatchObject({ code: 0, stderr: "" });
});
