// The transitions of a recorded outcome, as docs/design.md has them.
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { finalize, predecessorsOf } from "../../../lib/payments/finalize.ts";
import type { IdempotencyRecord, Outcome } from "../../../lib/payments/record.ts";

type Result = Outcome["result"];

const PAGE = readFileSync(new URL("../../../docs/design.md", import.meta.url), "utf8");
const TABLE =
  PAGE.split("### Every transition of a recorded outcome\n")[1]?.trim().split("\n\n")[0] ?? "";
const [HEAD = [], , ...ROWS] = TABLE.split("\n").map((line) =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("`", "")),
);

const TRANSITIONS = ROWS.flatMap(([from = "", ...cells]) =>
  from
    .split(", ")
    .flatMap((one) =>
      cells.map((decision, index) => [one as Result, HEAD[index + 1] as Result, decision] as const),
    ),
);

test("the page has every result", () => {
  expect(new Set(TRANSITIONS.map(([from]) => from))).toEqual(
    new Set(["requires_action", "processing", "declined", "failed", "succeeded", "canceled"]),
  );
  expect(TRANSITIONS).toHaveLength(24);
});

test.each(TRANSITIONS)("%s to %s: %s", async (from, to, decision) => {
  const outcomeOf = (result: Result) =>
    ({ result, paymentIntentId: "pi_1", code: "card_declined" }) as Outcome;
  const standing = { status: "COMPLETED", outcome: outcomeOf(from) } as IdempotencyRecord;
  const state = {
    paymentIntentId: "pi_1",
    messageId: "order-1",
    outcome: outcomeOf(to),
    amount: 1250,
    currency: "eur",
  };
  // As the condition of the update has it.
  const advance = async () =>
    predecessorsOf(to).includes(from)
      ? ({ advanced: true } as const)
      : ({ advanced: false, standing } as const);
  const result = await finalize(state, { advance }, 0, 1_000);
  expect(result.decision.replace("advanced", "advance")).toBe(decision);
});
