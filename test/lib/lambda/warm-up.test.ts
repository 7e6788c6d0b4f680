import { once } from "node:events";
import { get } from "node:http";
import { connect } from "node:net";

import type { SQSEvent } from "aws-lambda";
import { expect, test, vi } from "vitest";

import { dynamoDb, sqs } from "../../../lib/aws/clients.ts";
import { recordsTable } from "../../../lib/aws/records-table.ts";
import type { LogLine } from "../../../lib/lambda/payment-log.ts";
import { rehearse } from "../../../lib/lambda/warm-up.ts";
import { sqsHandler } from "../../../lib/sqs/handler.ts";
import { fixedKey } from "../../../lib/stripe/api-key.ts";
import { stripeCharges } from "../../../lib/stripe/charges.ts";
import { WORKER_TIMINGS } from "../../support/timings.ts";

test("the worker's own handler claims, charges and completes two messages at the stand-in", async () => {
  vi.stubEnv("AWS_REGION", "us-east-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "local");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "local");
  const lines: LogLine[] = [];

  await rehearse((standIn) => {
    const endpoint = standIn.href;
    const timings = WORKER_TIMINGS;
    return sqsHandler({
      records: recordsTable(dynamoDb(timings, { endpoint }), "records"),
      charges: stripeCharges(fixedKey("sk_test_rehearsal"), standIn),
      queue: { client: sqs(timings, { endpoint }), url: "http://queue" },
      functionName: "payment-worker",
      timings,
      now: Date.now,
      newOwner: () => "owner",
      random: () => 0.5,
      write: (line) => lines.push(line),
    });
  }, 5_000);

  const charged = {
    decision: "completed",
    outcome: "succeeded",
    paymentIntentId: "pi_rehearsal",
    attempt: 1,
    receiveCount: 1,
    requestId: "rehearsal",
  };
  expect(lines).toMatchObject([
    { ...charged, messageId: "rehearsal-0", sqsMessageId: "0" },
    { ...charged, messageId: "rehearsal-1", sqsMessageId: "1" },
  ]);
});

test("the stand-in cannot be reached from outside", async () => {
  let error: unknown;

  await rehearse(
    ({ port }) =>
      async () => {
        const socket = connect(Number(port), "::1"); // it listens on 127.0.0.1 alone
        [error] = await once(socket, "connect").catch((cause: unknown) => [cause]);
        socket.destroy();
        return { batchItemFailures: [] };
      },
    5_000,
  );

  expect(error).toBeInstanceOf(Error);
});

test("the stand-in waits for nobody whose request is not complete", async () => {
  const ended = Promise.withResolvers<string>();

  await rehearse(
    ({ port }) =>
      async () => {
        const socket = connect(Number(port), "127.0.0.1");
        socket.on("error", () => {}).once("close", () => ended.resolve("closed"));
        await once(socket, "connect");
        socket.write("GET / HTTP/1.1\r\n");
        return { batchItemFailures: [] };
      },
    5_000,
  );

  expect(await ended.promise).toBe("closed");
});

test("no timer is left when the rehearsal is over", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

  await rehearse(() => async () => ({ batchItemFailures: [] }), 1_000);
  const left = vi.getTimerCount();
  vi.useRealTimers();

  expect(left).toBe(0);
});

test("the stand-in is gone when the rehearsal is over", async () => {
  let address = new URL("http://localhost");

  await rehearse((standIn) => {
    address = standIn;
    return async () => ({ batchItemFailures: [] });
  }, 1_000);

  expect(address.hostname).toBe("127.0.0.1");
  const error = await new Promise((resolve) => get(address).once("error", resolve));
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
});

test("a rehearsal in which a message is not acknowledged is an error", async () => {
  const refuseAll = async ({ Records }: SQSEvent) => ({
    batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
  });

  await expect(rehearse(() => refuseAll, 1_000)).rejects.toThrow("was not acknowledged");
});

test("a rehearsal that hangs ends with an error after its time", async () => {
  await expect(rehearse(() => () => new Promise(() => {}), 20)).rejects.toThrow(
    "not done after 20 ms",
  );
});
