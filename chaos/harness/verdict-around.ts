// Whether what follows from a payment is right: its outcome only moves forward and is published, its
// goods leave once, the books balance, and what the door accepted comes to an end.
import type { PaymentIntent } from "../../local/stripe/payment-intent.ts";

/** What the servers hold of the functions around the worker. */
export type Around = {
  /** Every state of a completed record, in the order in which it was written. */
  recorded: readonly { messageId: string; revision: number; result: string }[];
  /** Every outcome event that the bus took; `content` is all of it. */
  published: readonly { id: string; result: string; content: string }[];
  /** The items of the orders table. */
  orders: readonly Record<string, unknown>[];
  /** How many goods there were before the first left. */
  stock: number;
  /** The message ids that a client was answered 202 for. */
  accepted: readonly string[];
};

type Intents = { intents: readonly Pick<PaymentIntent, "status" | "amount" | "metadata">[] };

export type AroundVerdict = typeof NOTHING_AROUND;

export const NOTHING_AROUND = {
  /** Revisions that were recorded. */
  outcomes: 0,
  /** Events that were published, repeats too. */
  events: 0,
  /** Orders whose goods left. */
  shipped: 0,
  /** What must never be, a sentence each. */
  wrong: [] as string[],
  /** What must come in the end, a sentence each. */
  missing: [] as string[],
};

export function checkAround(
  around: Around,
  evidence: Intents,
  sentIds: readonly string[],
): AroundVerdict {
  const events = checkEvents(around);
  const orders = checkOrders(around, evidence);
  const sent = new Set(sentIds);
  return {
    outcomes: around.recorded.length,
    events: around.published.length,
    shipped: orders.shipped,
    wrong: [...checkOrderOfOutcomes(around), ...events.wrong, ...orders.wrong],
    missing: [
      ...events.missing,
      ...orders.missing,
      ...around.accepted.filter((id) => !sent.has(id)).map((id) => `${id}: accepted, never sent`),
    ],
  };
}

const RANK: { readonly [result: string]: number } = {
  requires_action: 1,
  processing: 2,
  declined: 3,
  failed: 3,
  succeeded: 4,
  canceled: 4,
};

function checkOrderOfOutcomes({ recorded }: Around): string[] {
  const last = new Map<string, Around["recorded"][number]>();
  return recorded.flatMap((state) => {
    const before = last.get(state.messageId);
    last.set(state.messageId, state);
    const isNext = state.revision === (before?.revision ?? 0) + 1;
    const isForward = (RANK[state.result] ?? 0) > (before ? (RANK[before.result] ?? 0) : 0);
    return isNext && isForward
      ? []
      : [`${state.messageId}: ${before?.result} became ${state.result} (${state.revision})`];
  });
}

/** Each revision at least once, with one content, and nothing else. */
function checkEvents({ recorded, published }: Around): Pick<AroundVerdict, "wrong" | "missing"> {
  const results = new Map(
    recorded.map(({ messageId, revision, result }) => [`${messageId}:${revision}`, result]),
  );
  const contents = Map.groupBy(published, ({ id }) => id);
  const wrong = [...contents].flatMap(([id, events]) => [
    ...(new Set(events.map(({ content }) => content)).size > 1 ? [`${id}: two contents`] : []),
    ...(events.some(({ result }) => result !== results.get(id)) ? [`${id}: not recorded so`] : []),
  ]);
  const missing = [...results.keys()].filter((id) => !contents.has(id));
  return { wrong, missing: missing.map((id) => `${id}: never published`) };
}

const sum = (items: readonly Record<string, unknown>[], of: string): number =>
  items.reduce((total, item) => total + Number(item[of]), 0);

/** Shipped at most once, only what is charged, and all of it; the books and the stock add up. */
function checkOrders(
  { orders, recorded, stock }: Around,
  { intents }: Intents,
): Pick<AroundVerdict, "shipped" | "wrong" | "missing"> {
  const kind = (name: string) => orders.filter(({ pk }) => String(pk).startsWith(`${name}#`));
  const shipments = kind("shipment");
  const shipped = new Set(shipments.map(({ messageId }) => String(messageId)));
  const paid = new Map(
    intents
      .filter(({ status }) => status === "succeeded")
      .map(({ metadata, amount }) => [metadata["message_id"], amount]),
  );
  const lines = kind("ledger");
  const booked = (side: string) => lines.filter((line) => line["side"] === side);
  const wrong = [
    ...[...shipped].filter((id) => !paid.has(id)).map((id) => `${id}: shipped, not charged`),
    ...lines
      .filter(({ messageId, amount }) => amount !== paid.get(String(messageId)))
      .map(({ messageId }) => `${String(messageId)}: booked what was not charged`),
    ...(sum(booked("debit"), "amount") === sum(booked("credit"), "amount")
      ? []
      : ["debits and credits differ"]),
    ...(booked("debit").length === shipped.size ? [] : ["not every shipment is booked once"]),
    ...(sum(kind("sku"), "onHand") + sum(shipments, "quantity") === stock
      ? []
      : ["stock and shipped goods differ from what there was"]),
  ];
  const due = new Set(
    recorded.filter(({ result }) => result === "succeeded").map(({ messageId }) => messageId),
  );
  const missing = [...due].filter((id) => !shipped.has(id));
  return { shipped: shipped.size, wrong, missing: missing.map((id) => `${id}: never shipped`) };
}
