// payments ledger: whether the orders' ledger adds up, and agrees with what Stripe charged.
import { paginateScan } from "@aws-sdk/lib-dynamodb";

import type { IdempotencyRecord } from "../../lib/payments/record.ts";
import { createPace } from "../../lib/stripe/pace.ts";
import { tableFor } from "../clients/clients.ts";
import { stripeFor } from "../clients/stripe-access.ts";
import { findTarget, need, TARGET_OPTIONS } from "../clients/target.ts";
import type { Target } from "../clients/target.ts";
import { flag, instant, integer, readArguments } from "../terminal/arguments.ts";
import { interruptSignal } from "../terminal/command.ts";
import { plural, printJson, say } from "../terminal/print.ts";
import { startProgress } from "../terminal/progress.ts";

export const COMMAND = {
  name: "ledger",
  usage: "npm run payments -- ledger [--check] [options]",
  about: `
Adds up the ledger lines that order fulfillment wrote, by currency and by message: debits equal
credits. With --check, it also compares the payments that succeeded with their lines and with
Stripe's charges:
  not booked        paid, and no lines
  not paid          lines, and no payment that succeeded
  different         lines, record and charge differ in amount or currency`,
  options: {
    ...TARGET_OPTIONS,
    check: flag("compares the lines with the records and with Stripe"),
    since: instant("WHEN", "with --check: payments that succeeded since", "24h"),
    rate: integer("N", "requests to Stripe per second, whose limit payments share", [1, 100], 5),
    json: flag("for scripts"),
  },
  notes: `
It only reads. A payment of the last ten minutes may not be booked yet, and is left out. --check asks
Stripe once per payment, and scans the table of records: a message id takes about 300 bytes of memory.

Needs the orders table (output OrdersTableName or --orders-table); with --check the table of records and
the secret (or STRIPE_API_KEY) too. Other targets: payments --help.

Exit status 3 when something differs.`,
  examples: [
    "npm run payments -- ledger",
    "npm run payments -- ledger --check --since 7d --stack PaymentWorker-prod",
  ],
};

const TOO_RECENT_MS = 10 * 60_000;

type Line = { messageId: string; side: string; amount: number; currency: string; at: number };
type Entry = { debit: bigint; credit: bigint; currency: string; at: number };
type Difference = { messageId: string; kind: string; sentence: string };
type Ledger = { entries: Map<string, Entry>; differences: Difference[] };

export async function run(args: string[]): Promise<void> {
  const { values } = readArguments(COMMAND, args);
  const target = await findTarget(values);
  const signal = interruptSignal();
  const ledger = await readLedger(target, signal);
  const checked = values.check && !signal.aborted ? await check(target, ledger, values, signal) : 0;
  if (signal.aborted) {
    say("Interrupted: nothing was compared to its end.");
    process.exitCode = 130;
    return;
  }

  const sums = sumsOf(ledger);
  const { differences } = ledger;
  if (values.json) {
    printJson({ messages: ledger.entries.size, checked, sums, differences });
  } else {
    for (const { messageId, kind, sentence } of differences) {
      console.log(`${messageId}: ${kind}: ${sentence}`);
    }
    for (const { currency, debits, credits } of sums) {
      console.log(`${currency}  debits ${debits}  credits ${credits}`);
    }
    const against = values.check ? `, ${plural(checked, "payment")} compared with Stripe` : "";
    console.log(
      `${plural(ledger.entries.size, "message")}${against}, ${plural(differences.length, "difference")}`,
    );
  }
  if (differences.length > 0) process.exitCode = 3;
}

async function readLedger(target: Target, signal: AbortSignal): Promise<Ledger> {
  const entries = new Map<string, Entry>();
  const progress = startProgress("orders table");
  const scan = {
    TableName: need(target, "ordersTable"),
    FilterExpression: "begins_with(pk, :ledger)",
    ExpressionAttributeValues: { ":ledger": "ledger#" },
  };
  const currencies = new Set<string>(); // messages with lines in two
  for await (const page of paginateScan({ client: tableFor(target) }, scan)) {
    for (const { messageId, side, amount, currency, at } of (page.Items ?? []) as Line[]) {
      const entry = entries.get(messageId) ?? { debit: 0n, credit: 0n, currency, at };
      entry[side === "debit" ? "debit" : "credit"] += BigInt(amount);
      if (entry.currency !== currency) currencies.add(messageId);
      entries.set(messageId, entry);
    }
    progress.advance(page.ScannedCount);
    if (signal.aborted) break;
  }
  progress.done();
  const differences = [...entries]
    .filter(([id, { debit, credit }]) => debit !== credit || currencies.has(id))
    .map(([messageId, { debit, credit }]) => ({
      messageId,
      kind: "unbalanced",
      sentence: currencies.has(messageId)
        ? "its lines are in two currencies"
        : `debits ${debit}, credits ${credit}`,
    }));
  return { entries, differences };
}

function sumsOf({ entries }: Ledger) {
  const sums = new Map<string, { debits: bigint; credits: bigint }>();
  for (const { debit, credit, currency } of entries.values()) {
    const { debits, credits } = sums.get(currency) ?? { debits: 0n, credits: 0n };
    sums.set(currency, { debits: debits + debit, credits: credits + credit });
  }
  // Strings: a sum may be above what a number of JSON holds exactly.
  return [...sums]
    .map(([currency, { debits, credits }]) => ({
      currency,
      debits: String(debits),
      credits: String(credits),
    }))
    .toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
}

/** Adds what differs to the ledger's differences; resolves with how many payments were compared. */
async function check(
  target: Target,
  { entries, differences }: Ledger,
  { since, rate }: { since: number; rate: number },
  signal: AbortSignal,
): Promise<number> {
  const until = Date.now() - TOO_RECENT_MS;
  const paid = new Map<string, IdempotencyRecord>();
  const scan = {
    TableName: need(target, "tableName"),
    ProjectionExpression: "messageId, outcome, amount, currency, completedAt, firstClaimedAt",
    FilterExpression: "outcome.#result = :succeeded",
    ExpressionAttributeNames: { "#result": "result" },
    ExpressionAttributeValues: { ":succeeded": "succeeded" },
  };
  for await (const { Items = [] } of paginateScan({ client: tableFor(target) }, scan)) {
    for (const record of Items as IdempotencyRecord[]) paid.set(record.messageId, record);
    if (signal.aborted) break;
  }
  const differ = (messageId: string, kind: string, sentence: string) =>
    differences.push({ messageId, kind, sentence });

  using access = await stripeFor(target, 5);
  const pace = createPace(rate, { signal });
  const recent = [...paid.values()].filter(({ completedAt, firstClaimedAt }) => {
    const at = completedAt ?? firstClaimedAt;
    return at >= since && at <= until;
  });
  const progress = startProgress("payments", recent.length);
  try {
    for (const { messageId, outcome, amount, currency } of recent) {
      if (signal.aborted) break;
      progress.advance();
      const entry = entries.get(messageId);
      const id = outcome?.paymentIntentId ?? "";
      const intent = await pace(() => access.stripe.paymentIntents.retrieve(id));
      const charge = `${intent.amount_received} ${intent.currency}`;
      const booked = entry && `${entry.credit} ${entry.currency}`;
      const recorded = `${amount ?? intent.amount} ${currency ?? intent.currency}`;
      if (!booked) differ(messageId, "not booked", `Stripe charged ${charge} (${id})`);
      else if (booked !== charge || recorded !== charge) {
        const sentence = `booked ${booked}, recorded ${recorded}, charged ${charge} (${id})`;
        differ(messageId, "different", sentence);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    progress.done();
  }
  for (const [messageId, { credit, currency, at }] of entries) {
    if (at < since || paid.has(messageId)) continue;
    differ(
      messageId,
      "not paid",
      `booked ${credit} ${currency}, and no recorded payment succeeded`,
    );
  }
  return recent.length;
}
