// A scenario drawn by choices: beyond the exhaustive bound, several ids, batches, weeks. Every scenario
// takes the same number of choices, used or not: then one can be changed without moving the others,
// and a schedule can be made shorter.

import { KINDS } from "../models/stripe-objects.ts";
import { DAY, HOUR, MINUTE, PAYMENT, SECOND } from "../world/scenario.ts";
import type { Scenario, Send } from "../world/scenario.ts";
import type { Choose } from "./choices.ts";

/** One of the values, the first as often as all others together. */
export const usually = <T>(choose: Choose, ...values: readonly [T, ...T[]]): T => {
  const others = values.length - 1;
  return oneOf(choose, values, [Math.max(1, others), ...Array<number>(others).fill(1)]);
};

/** One of the values, by weight. */
export const oneOf = <T>(choose: Choose, values: readonly [T, ...T[]], weights?: number[]): T =>
  values[choose(weights ?? Array<number>(values.length).fill(1))] ?? values[0];

/** Draws a scenario with at most `depth` faults. */
export function randomScenario(choose: Choose, depth: number): Scenario {
  const either = () => oneOf(choose, [true, false]);
  const ids = oneOf(choose, [1, 2, 3], [6, 2, 1]);
  const sends = Array.from({ length: 3 }, (_, i) => sendsOf(choose, IDS[i] ?? "", i + 1));
  return {
    name: "random",
    sends: sends.slice(0, ids).flat(),
    clocks: oneOf(choose, [
      [0, 0],
      [-2_500, 2_500],
      [0, 5_000, 1_000],
      [2_000, -2_000, 0],
    ]),
    strangers: oneOf(choose, ["alike", "none", "pages"], [6, 3, 1]),
    stripeClock: usually(choose, 0, -2 * MINUTE, 2 * MINUTE),
    batchSize: usually(choose, 1, 3),
    maxReceiveCount: oneOf(choose, [1, 4, 5, 14], [4, 4, 2, 1]),
    redrivesAt: redrives(choose),
    prunesKeys: usually(choose, true, false),
    deletesExpired: either(),
    takesStaleReceipts: either(),
    longestBacklogMs: usually(choose, MINUTE, HOUR),
    faults: choose([1, ...Array<number>(depth).fill(2)]),
    stepsPerFault: oneOf(choose, [6, 12, 30]),
    deliveries: oneOf(choose, [4, 12, 30]),
  };
}

function redrives(choose: Choose): number[] {
  const after = () =>
    oneOf(
      choose,
      [
        HOUR,
        22 * HOUR + 50 * MINUTE,
        23 * HOUR + 1 * SECOND,
        24 * HOUR + 1 * SECOND,
        25 * HOUR,
        3 * DAY,
        29 * DAY,
        40 * DAY,
      ],
      [2, 2, 3, 3, 3, 2, 2, 1],
    );
  const times = choose([4, 4, 2]);
  const drawn = Array.from({ length: 2 }, after);
  return drawn.slice(0, times).toSorted((a, b) => a - b);
}

/** Up to three payments, each perhaps asked for again; `changes` draws what is other then. */
export function randomSends(
  choose: Choose,
  kinds: readonly [string, ...string[]],
  changes: () => Partial<Send> = () => ({}),
): Send[] {
  const ids = oneOf(choose, [1, 2, 3], [6, 3, 1]);
  const sends = IDS.map((messageId, i): Send[] => {
    const paymentMethod = `pm_${usually(choose, ...kinds)}_${i + 1}`;
    const send = { ...PAYMENT, messageId, paymentMethod, at: usually(choose, 0, 30 * SECOND) };
    const later = send.at + oneOf(choose, [0, 10 * SECOND, 2 * HOUR, 25 * HOUR]);
    const again = { ...send, at: later, ...changes() };
    return choose([2, 1]) === 1 ? [send, again] : [send];
  });
  return sends.slice(0, ids).flat();
}

// Alike, and with a customer in common: what is one's must never be taken for another's.
const IDS = ["pay-1", "pay-10", "PAY-1"];

const OTHERS: readonly [Partial<Send>, ...Partial<Send>[]] = [
  { amount: "700" },
  { currency: "usd" },
  { customer: "cus_9" },
  { description: "Order 9" },
  { metadata: { order: "9" } },
];

function sendsOf(choose: Choose, messageId: string, number: number): Send[] {
  const kind = usually(choose, "card", ...KINDS.filter((one) => one !== "card"));
  const send: Send = {
    ...PAYMENT,
    at: usually(choose, 0, 30 * SECOND, HOUR),
    messageId,
    paymentMethod: `pm_${kind}_${number}`,
    createdAt: oneOf(choose, [0, -20 * DAY, 4 * MINUTE, -31 * DAY], [30, 8, 8, 1]),
  };
  if (send.createdAt < -30 * DAY) send.invalid = true;
  const isBad = choose([39, 1]) === 1;
  const badAmount = oneOf(choose, ["78.4", '"500"', "0", "1000000000000"]);
  const copies = choose([5, 4, 1]);
  const repeats = Array.from({ length: 2 }, (): Send => ({
    ...send,
    at: send.at + oneOf(choose, [0, 10 * SECOND, 70 * SECOND, 2 * HOUR, 25 * HOUR, 4 * DAY]),
    wrapped: choose([1, 1]) === 1,
  }));
  // The same id for another payment.
  const isContested = choose([8, 1]) === 1;
  const other = oneOf(choose, OTHERS);
  if (isBad) return [{ ...send, amount: badAmount, invalid: true }];
  return [send, ...repeats.slice(0, copies), ...(isContested ? [{ ...send, ...other }] : [])];
}
