import { expect, test } from "vitest";

import type { StripeState } from "../../../lib/reconcile/comparison.ts";
import { DIFFERENCES, needsAction } from "../../../lib/reconcile/differences.ts";
import type { Finding } from "../../../lib/reconcile/finding.ts";
import { reportName, reportOf, shownFinding } from "../../../lib/reconcile/report.ts";
import { newRun } from "../../../lib/reconcile/run.ts";

const PAID = { result: "succeeded", paymentIntentId: "pi_1" } as const;
const STATE: StripeState = {
  paymentIntentId: "pi_1",
  status: "succeeded",
  created: 0,
  amount: 1_200,
  currency: "eur",
  messageId: "order-2",
  customer: "cus_eve",
  outcome: PAID,
};
const SHOWN = { paymentIntentId: "pi_1", status: "succeeded", amount: 1_200, currency: "eur" };
const CHARGE = {
  messageId: "order-1",
  customer: "cus_ada",
  inBalance: { amount: 1_199, currency: "eur" },
};

const { inBalance } = CHARGE;
const UNCHANGED = { messageIdNow: "order-2", messageIdCharged: "order-1", customerChanged: false };
const chargedTo = (customer?: string) => ({
  ...STATE,
  charge: { messageId: "order-1", ...(customer && { customer }) },
});

test.each<[Finding["kind"], StripeState, object]>([
  ["not_recorded", STATE, SHOWN],
  ["balance_differs", { ...STATE, charge: CHARGE }, { ...SHOWN, inBalance }],
  [
    "edited",
    { ...STATE, charge: CHARGE },
    { ...SHOWN, inBalance, ...UNCHANGED, customerChanged: true },
  ],
  ["edited", chargedTo("cus_eve"), { ...SHOWN, ...UNCHANGED }],
  ["edited", chargedTo(), { ...SHOWN, ...UNCHANGED }],
  ["edited", STATE, { ...SHOWN, ...UNCHANGED, messageIdCharged: undefined }],
])("of a PaymentIntent under %s neither customer nor card is shown", (kind, state, shown) => {
  const finding: Finding = { messageId: "order-1", kind, recorded: PAID, atStripe: [state] };
  expect(shownFinding(finding)).toStrictEqual({
    kind,
    messageId: "order-1",
    recorded: PAID,
    atStripe: [shown],
    next: expect.stringMatching(/\.$/) as string,
  });
  const { recorded: _, ...unrecorded } = finding;
  expect(shownFinding(unrecorded).recorded).toBeUndefined();
});

test("a report is named for its window's end", () => {
  const window = { since: 0, until: Date.parse("2026-11-29T10:05:09Z") };
  expect(reportName(newRun(window, 0, 1))).toBe("2026-11-29T10-05-09Z.json");
});

test("a report has its sums, where they differ, or why there are none", () => {
  const run = newRun({ since: 0, until: 1_000 }, 2_000, 1);
  run.totals.inBalance = { eur: { count: 1, amount: 5 } };
  expect(reportOf(run, 3_000)).toMatchObject({
    since: "1970-01-01T00:00:00.000Z",
    until: "1970-01-01T00:00:01.000Z",
    startedAt: "1970-01-01T00:00:02.000Z",
    finishedAt: "1970-01-01T00:00:03.000Z",
    balance: {
      recorded: {},
      inBalance: { eur: { count: 1, amount: 5 } },
      differences: [{ currency: "eur", recorded: 0, inBalance: 5 }],
      ifThereAreAny: expect.stringContaining("ask Stripe's support") as string,
    },
  });
  const balance = "not read: the Stripe key may not";
  expect(reportOf({ ...run, balanceRead: false }, 3_000)).toMatchObject({ balance });
});

test("each difference has its name, what to do, and asks somebody to act unless Stripe moved on", () => {
  const shown = Object.entries(DIFFERENCES).map(([kind, { name, next }]) => {
    expect(next).toMatch(/^[A-Zp].{20,}[.]$/);
    return [kind, name, needsAction(kind as Finding["kind"])];
  });
  expect(shown).toEqual([
    ["charged_twice", "charged twice", true],
    ["not_recorded", "not recorded", true],
    ["not_at_stripe", "not at Stripe", true],
    ["different", "different", true],
    ["amount_differs", "amount differs", true],
    ["edited", "edited at Stripe", true],
    ["balance_differs", "balance differs", true],
    ["advanced_unpaid", "advanced, unpaid", true],
    ["advanced", "advanced", false],
    ["open", "stuck", true],
  ]);
  expect([needsAction("agree"), needsAction("nothing")]).toEqual([false, false]);
});
