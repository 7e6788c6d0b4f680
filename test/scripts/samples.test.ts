import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { SQSEvent } from "aws-lambda";
import { expect, onTestFinished, test } from "vitest";

import { invokeOnce } from "../../local/function-host/invoke-once.ts";
import { paymentWorker } from "../../local/payment-worker.ts";
import { startStack } from "../../local/stack.ts";
import { answerTo, SAMPLES } from "./samples.ts";

const EVENTS = join(import.meta.dirname, "..", "..", "events");

// As npm run invoke raises them for samples that get old; patient calls, for a busy machine.
const VARIABLES = {
  MAX_MESSAGE_AGE_SECONDS: "900000000",
  RECORD_TTL_SECONDS: "999000000",
  CALL_TIMEOUT_SECONDS: "3",
  STRIPE_TIMEOUT_SECONDS: "10",
};

function read(sample: string): SQSEvent {
  return JSON.parse(readFileSync(join(EVENTS, sample), "utf8")) as SQSEvent;
}

test.each(Object.entries(SAMPLES))(
  "the worker does with %s what the README says",
  async (sample, { id, failed }) => {
    const stack = await startStack();
    onTestFinished(() => stack.stop());

    const result = await invokeOnce(
      { ...paymentWorker(), timeoutMs: 60_000, env: { ...stack.worker.env, ...VARIABLES } },
      read(sample),
    );

    expect(result).toMatchObject({ ok: true, payload: JSON.stringify(answerTo(failed)) });
    expect(stack.stripe.ledger.charges().map(({ messageId }) => messageId)).toEqual([id]);
  },
);

test("every sample is tested", () => {
  const samples = readdirSync(EVENTS).filter((name) => name.endsWith(".json"));

  expect(samples.toSorted()).toEqual(Object.keys(SAMPLES).toSorted());
});
