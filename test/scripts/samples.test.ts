import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { SQSEvent } from "aws-lambda";
import { expect, onTestFinished, test } from "vitest";

import { invokeOnce } from "../../local/function-host/invoke-once.ts";
import { paymentWorker } from "../../local/payment-worker.ts";
import { startStack } from "../../local/stack.ts";

const EVENTS = join(import.meta.dirname, "..", "..", "events");

// As npm run invoke raises them for samples that get old; patient calls, for a busy machine.
const VARIABLES = {
  MAX_MESSAGE_AGE_SECONDS: "900000000",
  RECORD_TTL_SECONDS: "999000000",
  CALL_TIMEOUT_SECONDS: "3",
  STRIPE_TIMEOUT_SECONDS: "10",
};

type Expected = { failed: string[]; charged: string[] };

const SAMPLES: Record<string, Expected> = {
  "payment.json": { failed: [], charged: ["order-1001"] },
  "cloudevents.json": { failed: [], charged: ["order-1002"] },
  "babelqueue.json": { failed: [], charged: ["f1e2d3c4-b5a6-4789-90ab-cdef01234567"] },
  "eventbridge.json": { failed: [], charged: ["order-1004"] },
  "sns.json": { failed: [], charged: ["order-1005"] },
  "duplicate.json": { failed: [], charged: ["order-1006"] },
  "malformed.json": {
    failed: ["059f36b4-87a3-44ab-83d2-661975830002"],
    charged: ["order-1007"],
  },
};

function read(sample: string): SQSEvent {
  return JSON.parse(readFileSync(join(EVENTS, sample), "utf8")) as SQSEvent;
}

test.each(Object.entries(SAMPLES))(
  "the worker does with %s what the README says",
  async (...row) => {
    const [sample, { failed, charged }] = row;
    const stack = await startStack();
    onTestFinished(() => stack.stop());

    const result = await invokeOnce(
      { ...paymentWorker(), timeoutMs: 60_000, env: { ...stack.worker.env, ...VARIABLES } },
      read(sample),
    );

    const answer = { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
    expect(result).toMatchObject({ ok: true, payload: JSON.stringify(answer) });
    expect(stack.stripe.ledger.charges().map(({ messageId }) => messageId)).toEqual(charged);
  },
);

test("every sample is tested", () => {
  const samples = readdirSync(EVENTS).filter((name) => name.endsWith(".json"));

  expect(samples.toSorted()).toEqual(Object.keys(SAMPLES).toSorted());
});
