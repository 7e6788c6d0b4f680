// What the outcome publisher, and those who consume its events, rely on in an event bus.

import { PutEventsCommand } from "@aws-sdk/client-eventbridge";
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { expect } from "vitest";

import { documentedBy } from "../conform.ts";
import type { Scenario } from "../conform.ts";

export type BusSubject = {
  client: EventBridgeClient;
  /** Makes a bus of its own with one rule, whose target is a queue of its own. */
  rule: (pattern: object) => Promise<{
    bus: string;
    /** The bodies that have reached the queue once `count` of them are there. */
    received: (count: number) => Promise<string[]>;
  }>;
};

const GUIDE = "https://docs.aws.amazon.com/eventbridge/latest/userguide";
const OPERATORS = `${GUIDE}/eb-create-pattern-operators.html`;
const PUT_EVENTS = "https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html";

const entry = (EventBusName: string, detail: object, DetailType = "payment.succeeded") => ({
  EventBusName,
  Source: "payment-worker",
  DetailType,
  Detail: JSON.stringify(detail),
});

/** Which of these events, by number, the pattern lets through. */
function matching(
  name: string,
  pattern: object,
  events: readonly [detail: object, type?: string][],
  expected: readonly number[],
): Scenario<BusSubject> {
  return {
    name,
    source: OPERATORS,
    async run({ client, rule }) {
      const { bus, received } = await rule(pattern);
      const Entries = events.map(([detail, type], n) => entry(bus, { n, ...detail }, type));
      await client.send(new PutEventsCommand({ Entries }));

      const bodies = await received(expected.length);

      const numbers = bodies.map(
        (body) => (JSON.parse(body) as { detail: { n: number } }).detail.n,
      );
      expect(new Set(numbers)).toEqual(new Set(expected));
    },
  };
}

export const busScenarios: readonly Scenario<BusSubject>[] = [
  ...documentedBy<BusSubject>(`${GUIDE}/eb-events-structure.html`, {
    async "an event reaches the queue in EventBridge's envelope, under the id that PutEvents answered"({
      client,
      rule,
    }) {
      const { bus, received } = await rule({ source: ["payment-worker"] });
      const { Entries } = await client.send(
        new PutEventsCommand({ Entries: [entry(bus, { subject: "order-1" })] }),
      );

      const [body = "{}"] = await received(1);

      expect(JSON.parse(body)).toEqual({
        version: "0",
        id: Entries?.[0]?.EventId,
        "detail-type": "payment.succeeded",
        source: "payment-worker",
        account: expect.stringMatching(/^\d{12}$/),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        region: "us-east-1",
        resources: [],
        detail: { subject: "order-1" },
      });
    },
  }),
  ...documentedBy<BusSubject>(PUT_EVENTS, {
    async "entries fail one by one, each at its place in the answer"({ client, rule }) {
      const { bus, received } = await rule({ source: ["payment-worker"] });
      const good = entry(bus, { n: 1 });
      const Entries = [{ ...good, Detail: "not JSON" }, good, { ...good, Source: "" }];

      const answer = await client.send(new PutEventsCommand({ Entries }));

      expect(answer.FailedEntryCount).toBe(2);
      expect(answer.Entries?.map(({ ErrorCode }) => ErrorCode)).toEqual([
        "MalformedDetail",
        undefined,
        "InvalidArgument",
      ]);
      expect(await received(1)).toHaveLength(1);
    },

    async "more than ten entries are refused together"({ client, rule }) {
      const { bus } = await rule({ source: ["payment-worker"] });
      const Entries = Array.from({ length: 11 }, (_, n) => entry(bus, { n }));

      await expect(client.send(new PutEventsCommand({ Entries }))).rejects.toMatchObject({
        $metadata: { httpStatusCode: 400 },
      });
    },
  }),
  matching(
    "a value matches exactly, in its type and its case",
    { detail: { result: ["succeeded"], revision: [1] } },
    [
      [{ result: "succeeded", revision: 1 }],
      [{ result: "Succeeded", revision: 1 }],
      [{ result: "succeeded", revision: "1" }],
      [{ result: "succeeded" }],
    ],
    [0],
  ),
  matching(
    "prefix matches the start of a string",
    { "detail-type": [{ prefix: "payment." }] },
    [
      [{}, "payment.failed"],
      [{}, "a.payment.failed"],
      [{}, "Payment.failed"],
    ],
    [0],
  ),
  matching(
    "anything-but matches every other value, and not an absent one",
    { detail: { result: [{ "anything-but": ["declined", "failed"] }] } },
    [[{ result: "succeeded" }], [{ result: "declined" }], [{ result: "failed" }], [{}]],
    [0],
  ),
  matching(
    "exists tells a field that is there, a null too, from one that is not",
    { detail: { code: [{ exists: false }], note: [{ exists: true }] } },
    [[{ note: "x" }], [{ note: null }], [{ note: "x", code: "y" }], [{}]],
    [0, 1],
  ),
  matching(
    "numeric compares numbers only, with every bound",
    { detail: { amount: [{ numeric: [">=", 1000, "<", 2000] }] } },
    [[{ amount: 1000 }], [{ amount: 999 }], [{ amount: 2000 }], [{ amount: "1500" }], [{}]],
    [0],
  ),
];
