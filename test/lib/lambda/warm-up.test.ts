import { once } from "node:events";
import { get } from "node:http";
import { connect } from "node:net";

import type { SQSEvent } from "aws-lambda";
import { expect, test, vi } from "vitest";

import { createDynamoDb, createSqs } from "../../../lib/aws/clients.ts";
import { recordsTable } from "../../../lib/aws/records-table.ts";
import type { LogLine } from "../../../lib/lambda/emf.ts";
import { createPaymentHandler } from "../../../lib/lambda/payment-handler.ts";
import { warmUpPayments } from "../../../lib/lambda/payment-warm-up.ts";
import { createWarmUp, runFirstBatch } from "../../../lib/lambda/warm-up.ts";
import type { FirstUse } from "../../../lib/lambda/warm-up.ts";
import { fixedKey } from "../../../lib/stripe/api-key.ts";
import { stripeCharges } from "../../../lib/stripe/charges.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

type Handler = ReturnType<FirstUse["compose"]>;
const firstUse = (compose: FirstUse["compose"]): FirstUse => ({
  compose,
  bodies: ["first", "second"],
  reply: "{}",
});
/** Runs a first batch whose handler is made for the stub. */
const run = (compose: (stub: URL) => Handler, timeoutMs = 5_000) =>
  runFirstBatch(firstUse(compose), timeoutMs);
const acknowledgeAll = async () => ({ batchItemFailures: [] });

test("the payment worker's own handler claims, charges and completes two messages at the stub", async () => {
  vi.stubEnv("AWS_REGION", "us-east-1");
  const lines: LogLine[] = [];
  const aws = {
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    callTimeoutMs: 3_000,
  };
  const compose = (stub: URL) =>
    createPaymentHandler({
      records: recordsTable(createDynamoDb({ ...aws, endpoint: stub.href }), "records"),
      charges: stripeCharges(fixedKey("sk_test_warmup"), stub),
      queue: { client: createSqs({ ...aws, endpoint: stub.href }), url: "http://queue" },
      functionName: "payment-worker",
      timings: WORKER_TIMINGS,
      now: Date.now,
      newOwner: () => "owner",
      random: () => 0.5,
      write: (line) => lines.push(line),
    });

  await runFirstBatch({ ...warmUpPayments(Date.now()), compose }, 5_000);

  const charged = {
    decision: "completed",
    outcome: "succeeded",
    paymentIntentId: "pi_warmup",
    attempt: 1,
    receiveCount: 1,
    requestId: "warm-up",
  };
  expect(lines).toMatchObject([
    { ...charged, messageId: "warm-up-0", sqsMessageId: "0" },
    { ...charged, messageId: "warm-up-1", sqsMessageId: "1" },
  ]);
});

test("what goes wrong is a warning each, and the rest is done", async () => {
  const lines: LogLine[] = [];
  const given: number[] = [];
  const warmUp = createWarmUp(
    512,
    firstUse(() => {
      throw new Error("no stub today");
    }),
    [
      async (timeoutMs) => given.push(timeoutMs),
      () => Promise.reject(new Error("no connection to stripe")),
      () => Promise.reject("a string"), // oxlint-disable-line prefer-promise-reject-errors
    ],
    (line) => lines.push(line),
  );

  await warmUp();

  expect(given).toEqual([3_000]);
  expect(lines).toEqual([
    { level: "WARN", message: "the first batch will be slower: no connection to stripe" },
    { level: "WARN", message: "the first batch will be slower: unknown" },
    { level: "WARN", message: "the first batch will be slower: no stub today" },
  ]);
});

test.each([
  { memoryMb: 128, batches: 1 },
  { memoryMb: 1_023, batches: 1 },
  { memoryMb: 1_024, batches: 0 },
])("with $memoryMb MB $batches batch is run, and every step", async ({ memoryMb, batches }) => {
  const handler = vi.fn(acknowledgeAll);
  const step = vi.fn(async () => {});
  const write = vi.fn();

  await createWarmUp(
    memoryMb,
    firstUse(() => handler),
    [step],
    write,
  )();

  expect(handler).toHaveBeenCalledTimes(batches);
  expect(step).toHaveBeenCalledTimes(1);
  expect(write).not.toHaveBeenCalled();
});

test("the stub cannot be reached from outside", async () => {
  let error: unknown;

  await run(({ port }) => async () => {
    const socket = connect(Number(port), "::1"); // it listens on 127.0.0.1 alone
    [error] = await once(socket, "connect").catch((cause: unknown) => [cause]);
    socket.destroy();
    return { batchItemFailures: [] };
  });

  expect(error).toBeInstanceOf(Error);
});

test("the stub waits for nobody whose request is not complete", async () => {
  const ended = Promise.withResolvers<string>();

  await run(({ port }) => async () => {
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => {}).once("close", () => ended.resolve("closed"));
    await once(socket, "connect");
    socket.write("GET / HTTP/1.1\r\n");
    return { batchItemFailures: [] };
  });

  expect(await ended.promise).toBe("closed");
});

test("no timer is left when the warm-up is over", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

  await run(() => acknowledgeAll);
  const left = vi.getTimerCount();
  vi.useRealTimers();

  expect(left).toBe(0);
});

test("the stub is gone when the warm-up is over", async () => {
  let address = new URL("http://localhost");

  await run((stub) => {
    address = stub;
    return acknowledgeAll;
  });

  expect(address.hostname).toBe("127.0.0.1");
  const error = await new Promise((resolve) => get(address).once("error", resolve));
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
});

test("a warm-up in which a message is not acknowledged is an error", async () => {
  const failAll = async ({ Records }: SQSEvent) => ({
    batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
  });

  await expect(run(() => failAll)).rejects.toThrow("was not acknowledged");
});

test("a warm-up that hangs ends with an error after its time", async () => {
  const hanging = run(() => () => new Promise(() => {}), 20);

  await expect(hanging).rejects.toThrow("not done after 20 ms");
});
