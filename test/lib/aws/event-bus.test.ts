import { EventBridgeClient, PutEventsCommand } from "@aws-sdk/client-eventbridge";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, test, vi } from "vitest";

import { eventBus } from "../../../lib/aws/event-bus.ts";
import type { OutcomeEvent } from "../../../lib/outcomes/event.ts";

const client = new EventBridgeClient({ region: "eu-west-1" });
const mock = mockClient(client); // this one alone: other tests share the class
beforeEach(() => void mock.reset());

const EVENT: OutcomeEvent = {
  specversion: "1.0",
  id: "order-1:1",
  source: "urn:payment-worker:test",
  type: "payment.succeeded",
  subject: "order-1",
  time: "2026-11-30T06:00:00.123Z",
  datacontenttype: "application/json",
  revision: 1,
  data: { messageId: "order-1", result: "succeeded", paymentIntentId: "pi_1" },
};
const { time: _, ...UNDATED } = EVENT;

const bus = () => eventBus(client, "payments");

test("an event goes out as the detail, under its type and time", async () => {
  mock.on(PutEventsCommand).resolves({ FailedEntryCount: 0, Entries: [{ EventId: "1" }] });
  expect(await bus().publish([EVENT], 1_000)).toEqual([undefined]);
  expect(mock.commandCalls(PutEventsCommand)[0]?.args[0].input).toEqual({
    Entries: [
      {
        EventBusName: "payments",
        Source: "payment-worker",
        DetailType: "payment.succeeded",
        Detail: JSON.stringify(EVENT),
        Time: new Date("2026-11-30T06:00:00.123Z"),
      },
    ],
  });
});

test("an event without a time goes out without one, which EventBridge then sets", async () => {
  mock.on(PutEventsCommand).resolves({ Entries: [{ EventId: "1" }] });
  await bus().publish([UNDATED], 1_000);
  expect(mock.commandCalls(PutEventsCommand)[0]?.args[0].input.Entries?.[0]).not.toHaveProperty(
    "Time",
  );
});

test("entries that failed in a 200 are distinguished from those that went out", async () => {
  mock.on(PutEventsCommand).resolves({
    FailedEntryCount: 2,
    Entries: [{ EventId: "1" }, { ErrorCode: "ThrottlingException" }, {}],
  });
  expect(await bus().publish([EVENT, UNDATED, EVENT], 1_000)).toEqual([
    undefined,
    "ThrottlingException",
    "NoEventId",
  ]);
});

test.each([
  [1_000.9, 1_000.9],
  [-5, 1],
])("a bus that does not answer is an error, within %d ms", async (timeoutMs, within) => {
  mock.on(PutEventsCommand).rejects(new Error("down"));
  const timeout = vi.spyOn(globalThis, "setTimeout");
  await expect(bus().publish([EVENT], timeoutMs)).rejects.toThrow("down");
  expect(timeout.mock.calls.map(([, ms]) => ms)).toEqual([within]);
  expect(mock.commandCalls(PutEventsCommand)[0]?.args).toEqual([
    expect.anything(),
    { abortSignal: expect.any(AbortSignal) },
  ]);
});
