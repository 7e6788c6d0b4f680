// The payments of the warm-up, and a stub's answer that is DynamoDB's and Stripe's at once: the
// table's replies are not read.

import type { FirstUse } from "./warm-up.ts";

const MESSAGES = 2; // more of them take longer here than they save later

/** `now` is in epoch ms. */
export function warmUpPayments(now: number): Pick<FirstUse, "bodies" | "reply"> {
  const body = (_: unknown, index: number) =>
    JSON.stringify({
      id: `warm-up-${index}`,
      createdAt: new Date(now).toISOString(),
      amount: 100,
      currency: "usd",
      customer: "cus_warmup",
      paymentMethod: "pm_warmup",
    });
  return {
    bodies: Array.from({ length: MESSAGES }, body),
    reply: JSON.stringify({ id: "pi_warmup", object: "payment_intent", status: "succeeded" }),
  };
}
