/** One request that reached the server, in the order of arrival. Times are ms on the server's clock. */
export type RequestRecord = {
  id: string;
  at: number;
  method: string;
  path: string;
  idempotencyKey: string | undefined;
  /** `metadata[message_id]` of a create. */
  messageId: string | undefined;
  /** Absent while the answer is not sent, and for ever when the connection was dropped. */
  status?: number;
  /** True when the answer was a stored one. */
  replayed: boolean;
  /** True when the request was carried out: not rejected, not replayed, not dropped before. */
  executed: boolean;
  /** The planned faults that really happened to it. */
  faults: string[];
};

/** A PaymentIntent that took money, or is taking it. `amount` in minor units. */
export type Charge = {
  paymentIntent: string;
  status: "succeeded" | "processing";
  messageId: string | undefined;
  idempotencyKey: string | undefined;
  account: string;
  customer: string | undefined;
  amount: number;
  currency: string;
  createdMs: number;
};

type MessageCounts = ReturnType<typeof noCounts>;

const REQUESTS_KEPT = 100_000;

export function createLedger() {
  const charges: Charge[] = [];
  const counts = new Map<string, MessageCounts>();
  const totals = noCounts();
  let requests: RequestRecord[] = [];

  function count(messageId: string | undefined, what: keyof MessageCounts): void {
    totals[what] += 1;
    if (messageId === undefined) return;
    const own = counts.get(messageId) ?? noCounts();
    own[what] += 1;
    counts.set(messageId, own);
  }

  /** What the server saw and did: the truth that tests and the demo check the worker against. */
  const ledger = {
    charges: (): Charge[] => [...charges],
    chargesFor: (messageId: string): Charge[] =>
      charges.filter((charge) => charge.messageId === messageId),
    /** The newest requests; older ones are let go, so that a soak can run for hours. Counts stay exact. */
    requests: (): RequestRecord[] => [...requests],
    requestsFor: (messageId: string): RequestRecord[] =>
      requests.filter((request) => request.messageId === messageId),
    countsFor: (messageId: string): MessageCounts => ({ ...(counts.get(messageId) ?? noCounts()) }),
    /** Exact totals over the server's life. */
    totals: (): MessageCounts => ({ ...totals }),
  };

  const write = {
    request(request: Omit<RequestRecord, "replayed" | "executed" | "faults">): RequestRecord {
      const record: RequestRecord = { ...request, replayed: false, executed: false, faults: [] };
      if (requests.length >= 2 * REQUESTS_KEPT) requests = requests.slice(-REQUESTS_KEPT);
      requests.push(record);
      count(record.messageId, "requests");
      return record;
    },
    executed(record: RequestRecord): void {
      record.executed = true;
      count(record.messageId, "executed");
    },
    replayed(record: RequestRecord): void {
      record.replayed = true;
      count(record.messageId, "replayed");
    },
    charge(charge: Charge): void {
      charges.push(charge);
      count(charge.messageId, "charges");
    },
  };

  return { ledger, write };
}

const noCounts = () => ({ requests: 0, executed: 0, replayed: 0, charges: 0 });
