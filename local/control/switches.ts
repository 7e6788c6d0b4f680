// What a person can break on a running stack, one entry each: what it does, and how it ends.
import type { ArmedFault } from "../faults.ts";
import type { Stack } from "../stack.ts";
import type { Step } from "../stripe/lifecycle.ts";
import type { PaymentIntent } from "../stripe/payment-intent.ts";

/** What cannot be done as it was asked for: a sentence for the person. */
export class ControlError extends Error {
  override name = "ControlError";
}

export type Switch = {
  /** What its argument is, in brackets when it may be left out; absent when it takes none. */
  argument?: string;
  /** What happens while it is on, or once. A sentence. */
  does: string;
  /** How it ends. Absent for what is done at once, and cannot be undone. */
  ends?: string;
} & (
  | { arm: (at: Where, argument: string, times: number) => Armed | Promise<Armed> }
  | { set: (at: Where, argument: string) => () => void }
  | { act: (at: Where, argument: string) => string | Promise<string> }
);

type Armed = ArmedFault | readonly ArmedFault[];

export type Where = {
  stack: Stack;
  /** Signals the functions' processes: the one of that id, those at work on that message id, or all
   * of the worker's. Returns their ids: none when there is none. */
  signal: (target: string, signal: NodeJS.Signals) => number[];
};

const CREATE = { method: "POST", path: "/v1/payment_intents" };
const UNTIL_END = "until `end`";
const AWAY = { status: 503, code: "ServiceUnavailable", message: "Broken on purpose." };
const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

export const SWITCHES: Readonly<Record<string, Switch>> = {
  outage: {
    argument: "[unreachable]",
    does: "Stripe answers every request with 503, or with `unreachable` cuts its connection; nothing is charged.",
    ends: UNTIL_END,
    arm: ({ stack }, how, times) =>
      stack.stripe.faults.add(
        { times },
        oneOf(how, "", "unreachable") === ""
          ? { kind: "refuse", error: "unavailable" }
          : { kind: "dropBefore" },
      ),
  },
  slow: {
    argument: "[MS]",
    does: "Stripe carries every request out and answers after so many ms, 1500 if none are given; the worker waits for 1 s.",
    ends: UNTIL_END,
    arm: ({ stack }, ms, times) =>
      stack.stripe.faults.add({ times }, { kind: "delayAfter", ms: count(ms, 1_500, 600_000) }),
  },
  "lost-reply": {
    does: "Stripe charges, and the connection is cut before its answer.",
    ends: UNTIL_END,
    arm: ({ stack }, _, times) =>
      stack.stripe.faults.add({ ...CREATE, times }, { kind: "dropAfter" }),
  },
  "stored-500": {
    does: "Stripe charges, answers 500, and repeats that 500 for the same key for a day.",
    ends: `${UNTIL_END}; what is stored stays`,
    arm: ({ stack }, _, times) =>
      stack.stripe.faults.add({ ...CREATE, times }, { kind: "storedErrorAfterCharge" }),
  },
  key: {
    argument: "[wrong|read-only]",
    does: "Stripe refuses the API key: 401 as expired, 401 as unknown with `wrong`, 403 on every write with `read-only`.",
    ends: UNTIL_END,
    arm({ stack }, how, times) {
      const { faults } = stack.stripe;
      switch (oneOf(how, "", "wrong", "read-only")) {
        case "":
          return faults.add({ times }, { kind: "refuse", error: "api_key_expired" });
        case "wrong":
          return faults.add({ times }, { kind: "refuse", error: "unauthorized" });
        case "read-only":
          return faults.add({ method: "POST", times }, { kind: "refuse", error: "forbidden" });
      }
    },
  },
  mode: {
    does: "The worker is deployed for live mode, and its key is a test key: nothing is sent to Stripe.",
    ends: UNTIL_END,
    set: ({ stack }) => stack.worker.configure({ STRIPE_MODE: "live" }),
  },
  table: {
    argument: "[throttled]",
    does: "The table answers every write with 500, or throttles it.",
    ends: UNTIL_END,
    arm({ stack }, how, times) {
      const error =
        oneOf(how, "", "throttled") === ""
          ? { status: 500, code: "InternalServerError" }
          : { status: 400, code: "ThrottlingException" };
      return stack.table.faults.add(
        { where: isWrite, times },
        { kind: "refuse", ...error, message: "Broken on purpose." },
      );
    },
  },
  queue: {
    argument: "[NAME]",
    does: "SQS answers 503 to the receives and deletes of a function's queue, the worker's if none is named: messages wait.",
    ends: UNTIL_END,
    async arm({ stack }, name, times) {
      const queue = name || "payments";
      const armed = ["ReceiveMessage", "DeleteMessageBatch"].map((operation) =>
        stack.queue.faults.add({ operation, queue, times }, { kind: "refuse", ...AWAY }),
      );
      await stack.queue.endReceives(queue);
      return armed;
    },
  },
  throttle: {
    argument: "[FUNCTION]",
    does: "Lambda throttles a function, the worker if none is named: its events come back later.",
    ends: UNTIL_END,
    set({ stack }, name) {
      const one = stack.functions.find((one) => one.name === (name || stack.worker.name));
      const names = stack.functions.map(({ name }) => name).join(", ");
      if (!one) throw new ControlError(`"${name}" is not a function: ${names}.`);
      return one.throttle();
    },
  },
  crash: whileCharged(
    "The worker's process is killed right after Stripe has charged this message, before it records the outcome.",
    ({ signal }, id) => void signal(id, "SIGKILL"),
  ),
  "lost-lease": whileCharged(
    "While Stripe charges this message, another worker takes its claim over, as if this one had stood still.",
    async ({ stack: { table, tableName } }, id) => {
      const claim = await table.item(tableName, id);
      const attempt = Number(claim?.["attempt"]) + 1;
      table.put(tableName, { ...claim, owner: "another", attempt, leaseExpiresAt: 0 });
    },
  ),
  freeze: {
    argument: "[PID|ID]",
    does: "The worker's processes stand still, or one of them, or the one at work on this message; Lambda kills it at its timeout.",
    ends: UNTIL_END,
    set({ signal }, target) {
      const frozen = some(signal(target, "SIGSTOP"), target);
      return () => {
        for (const pid of frozen) signal(String(pid), "SIGCONT");
      };
    },
  },
  kill: {
    argument: "[PID|ID]",
    does: "kill -9 for the worker's processes, or one of them, or the one at work on this message.",
    act: ({ signal }, target) => `Killed: ${some(signal(target, "SIGKILL"), target).join(", ")}.`,
  },
  settle: oneStep(
    "succeed",
    "An open payment succeeds: the bank debit arrived, the customer authenticated.",
  ),
  fail: oneStep("fail", "An open payment fails: the bank debit bounced."),
  cancel: oneStep("cancel", "A payment that is not yet paid is canceled at Stripe."),
  refund: onPaid("refund", "refunded", "A paid payment is refunded at Stripe, all of it."),
  dispute: onPaid("dispute", "disputed", "A customer disputes a paid payment."),
  age: {
    argument: "[QUEUE|stream]",
    does: "The messages in the dead-letter queue become 13 days older, or those in the named queue an hour, or the changes in the table's stream.",
    act({ stack }, name) {
      if (name === "stream") {
        const changes = stack.table.changes(stack.tableName).age(HOUR_MS);
        return `${changes} in the table's stream, older now.`;
      }
      const url = name === "" ? stack.queues.dlqUrl : stack.queue.urls().get(name);
      if (url === undefined) {
        throw new ControlError(
          `"${name}" is not one of ${[...stack.queue.urls().keys()].join(", ")}.`,
        );
      }
      const aged = stack.queue.age(url, name === "" ? 13 * DAY_MS : HOUR_MS);
      return `${aged} in ${name || "the dead-letter queue"}, older now.`;
    },
  },
  backdate: {
    argument: "ID",
    does: "The record of a message becomes 21 days older: longer than a bank debit takes.",
    async act({ stack }, id) {
      const record = await recordOf(stack, id);
      const firstClaimedAt = Number(record["firstClaimedAt"]) - 21 * DAY_MS;
      stack.table.put(stack.tableName, { ...record, firstClaimedAt });
      return `${id} was first claimed at ${new Date(firstClaimedAt).toISOString()} now.`;
    },
  },
  lose: {
    argument: "ID",
    does: "The record of a message is deleted, as by a restore of the table to an earlier time.",
    async act({ stack }, id) {
      const { table, tableName } = stack;
      table.put(tableName, { ...(await recordOf(stack, id)), expiresAt: 1 });
      await table.deleteExpired(2);
      return `The record of ${id} is gone.`;
    },
  },
  double: {
    argument: "ID",
    does: "Something else charges under a message id that the worker has charged.",
    async act({ stack }, id) {
      const { amount, currency, customer } = paymentOf(stack, id);
      const response = await fetch(`${stack.stripe.url}/v1/payment_intents`, {
        method: "POST",
        headers: { authorization: "Bearer sk_test_local" },
        body: new URLSearchParams({
          amount: String(amount),
          currency,
          customer: typeof customer === "string" ? customer : "",
          payment_method: "pm_card_visa",
          confirm: "true",
          off_session: "true",
          "metadata[message_id]": id,
        }),
      });
      if (!response.ok) throw new ControlError(`Stripe answers ${response.status}.`);
      return `${id} is charged twice.`;
    },
  },
  bus: {
    does: "EventBridge answers 503 to every PutEvents: outcomes are not published.",
    ends: UNTIL_END,
    arm: ({ stack }, _, times) => stack.bus.faults.add({ times }, { kind: "refuse", ...AWAY }),
  },
  delivery: {
    argument: "[QUEUE]",
    does: "EventBridge may not send to a queue, `orders` if none is named: its events are undelivered.",
    ends: UNTIL_END,
    arm: ({ stack }, name, times) =>
      stack.queue.faults.add(
        { operation: "SendMessage", queue: name || "orders", times },
        { kind: "refuse", status: 403, code: "AccessDenied", message: "Broken on purpose." },
      ),
  },
  forged: {
    does: "Stripe's events are signed with another endpoint's secret: the webhook does not take them.",
    ends: UNTIL_END,
    arm: ({ stack }, _, times) => stack.stripe.webhooks.faults.add({ times }, { kind: "forged" }),
  },
};

/** Runs once Stripe has charged a message, before its answer. */
function whileCharged(does: string, run: (at: Where, id: string) => void | Promise<void>): Switch {
  return {
    argument: "ID",
    does,
    ends: `once, or after --times; ${UNTIL_END}`,
    arm: (at, id, times) =>
      at.stack.stripe.faults.add(
        { ...CREATE, messageId: given(id), times: Number.isFinite(times) ? times : 1 },
        { kind: "hook", at: "applied", run: () => run(at, id) },
      ),
  };
}

function oneStep(step: Step, does: string): Switch {
  return {
    argument: "ID",
    does,
    act({ stack }, id) {
      const intent = paymentOf(stack, id);
      try {
        const { status } = stack.stripe.step(intent.id, step);
        return `${intent.id} is ${status} now.`;
      } catch (error) {
        throw new ControlError((error as Error).message, { cause: error });
      }
    },
  };
}

function onPaid(step: "refund" | "dispute", done: string, does: string): Switch {
  return {
    argument: "ID",
    does,
    act({ stack }, id) {
      const intent = paymentOf(stack, id, "succeeded");
      stack.stripe[step](intent.id);
      return `${intent.id} is ${done}.`;
    },
  };
}

/** The newest PaymentIntent of a message id, or the one of that id. */
function paymentOf(stack: Stack, id: string, status?: PaymentIntent["status"]): PaymentIntent {
  const found = stack.stripe
    .paymentIntents()
    .findLast((one) => one.id === given(id) || one.metadata["message_id"] === id);
  if (!found) throw new ControlError(`Stripe has no payment for ${id}.`);
  if (status && found.status !== status) {
    throw new ControlError(`${found.id} is ${found.status}, not ${status}.`);
  }
  return found;
}

async function recordOf({ table, tableName }: Stack, id: string) {
  const record = await table.item(tableName, id);
  if (!record) throw new ControlError(`There is no record of ${id}.`);
  return record;
}

const isWrite = ({ operation }: { operation: string }): boolean =>
  /Put|Update|Write/.test(operation);

function some(pids: number[], target: string): number[] {
  if (pids.length > 0) return pids;
  throw new ControlError(`No process${target === "" ? " runs" : ` is at work on ${target}`} now.`);
}

function given(id: string): string {
  if (id === "") throw new ControlError("It needs a message id.");
  return id;
}

function oneOf<Value extends string>(text: string, ...values: readonly Value[]): Value {
  const known = values.find((value) => value === text);
  if (known !== undefined) return known;
  throw new ControlError(`"${text}" is not one of ${values.filter(Boolean).join(", ")}.`);
}

function count(text: string, fallback: number, max: number): number {
  const value = text === "" ? fallback : Number(text);
  if (Number.isInteger(value) && value > 0 && value <= max) return value;
  throw new ControlError(`"${text}" is not an integer from 1 to ${max}.`);
}
