import { expect, test } from "vitest";

import { timed } from "../../../lib/lambda/timed.ts";
import type { Claim, Records } from "../../../lib/payments/claim.ts";
import type { Charges } from "../../../lib/payments/protocol.ts";

test("each call's time is added to its part, also when it fails, and releasing has none", async () => {
  let now = 1_000;
  const takes =
    <R>(ms: number, result: R) =>
    async () => {
      now += ms;
      return result;
    };
  const records: Records = {
    claim: takes(7, undefined),
    takeOver: takes(5, undefined),
    complete: async () => {
      now += 11;
      throw new Error("no answer");
    },
    release: takes(100, undefined),
  };
  const charges: Charges = {
    find: takes(200, { kind: "none" }),
    create: takes(900, { kind: "error", error: { kind: "stripe_unavailable" } }),
  };
  const claim = {} as Claim;

  const run = timed({ records, charges }, () => now);
  await run.records.claim({} as never, 1);
  await run.records.takeOver({} as never, claim, 1);
  await run.charges.find(
    { messageId: "a", customer: "b", amount: 1, currency: "eur", since: 0 },
    1,
  );
  const answer = await run.charges.create({} as never, { idempotencyKey: "a", timeoutMs: 1 });
  await expect(
    run.records.complete(
      claim,
      { outcome: { result: "declined", code: "lost" }, completedAt: 1 },
      1,
    ),
  ).rejects.toThrow("no answer");
  await run.records.release(claim, { kind: "deadline" }, 1);

  expect(run.times).toEqual({ claimMs: 12, chargeMs: 1_100, completeMs: 11 });
  expect(answer).toEqual({ kind: "error", error: { kind: "stripe_unavailable" } });
});
