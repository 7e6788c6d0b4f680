// The table and Stripe in a process of their own, so that they do not share the worker's CPU. They
// answer after a set time and count what they are asked.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { createOperations } from "../local/table/operations.ts";
import { answerOf } from "../local/table/server.ts";
import { createStore } from "../local/table/store.ts";
import type { Addresses, Command, Counts } from "./servers.ts";
import { CERTIFICATE, KEY } from "./tls.ts";

type Reply = { status: number; body: string };

const store = createStore(Date.now);
store.create("payments", [{ name: "messageId", type: "S" }]);
const operate = createOperations(store);
let latencyMs = { table: 0, stripe: 0 };
let silent = false;
let intents = 0;
let counts = noCounts();

function noCounts(): Counts {
  return { requests: {}, connections: 0 };
}

function count(what: string): void {
  counts.requests[what] = (counts.requests[what] ?? 0) + 1;
}

async function answerTable(request: IncomingMessage): Promise<Reply> {
  const operation = String(request.headers["x-amz-target"]).replace(/^.*\./, "");
  count(operation);
  const input = JSON.parse(await text(request)) as Record<string, unknown>;
  return answerOf(() => operate(operation, input));
}

/** A real PaymentIntent has about sixty fields: reading them is part of a charge's CPU. */
async function answerStripe(request: IncomingMessage): Promise<Reply> {
  count(`Stripe ${request.method}`);
  const form = new URLSearchParams(await text(request));
  if (silent) return new Promise(() => {});
  intents += 1;
  return { status: 200, body: JSON.stringify(paymentIntent(form)) };
}

function paymentIntent(form: URLSearchParams): object {
  const amount = Number(form.get("amount"));
  return {
    id: `pi_${String(intents).padStart(24, "0")}`,
    object: "payment_intent",
    amount,
    amount_capturable: 0,
    amount_details: { tip: {} },
    amount_received: amount,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: { allow_redirects: "always", enabled: true },
    canceled_at: null,
    cancellation_reason: null,
    capture_method: "automatic_async",
    client_secret: `pi_${intents}_secret_0000000000000000000000000`,
    confirmation_method: "automatic",
    created: 1_764_547_200,
    currency: form.get("currency"),
    customer: form.get("customer"),
    description: null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: `ch_${String(intents).padStart(24, "0")}`,
    livemode: false,
    metadata: { message_id: form.get("metadata[message_id]") },
    next_action: null,
    on_behalf_of: null,
    payment_method: form.get("payment_method"),
    payment_method_configuration_details: { id: "pmc_000000000000000000000000", parent: null },
    payment_method_options: {
      card: {
        installments: null,
        mandate_options: null,
        network: null,
        request_three_d_secure: "automatic",
      },
      link: { persistent_token: null },
    },
    payment_method_types: ["card", "link"],
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: "succeeded",
    transfer_data: null,
    transfer_group: null,
  };
}

function listener(
  service: keyof typeof latencyMs,
  answer: (request: IncomingMessage) => Promise<Reply>,
): RequestListener {
  return (request, response) => void respond(request, response);

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await answer(request);
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "request-id": "req_bench",
      "x-amzn-requestid": "bench",
    };
    const reply = () => response.writeHead(status, headers).end(body);
    if (latencyMs[service] === 0) reply();
    else setTimeout(reply, latencyMs[service]);
  }
}

type Create = (listener: RequestListener) => Server;

async function start(scheme: "http" | "https", create: Create): Promise<Addresses> {
  const listen = async (server: Server): Promise<string> => {
    server.keepAliveTimeout = 600_000;
    server.on("connection", () => (counts.connections += 1));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  return {
    table: await listen(create(listener("table", answerTable))),
    stripe: await listen(create(listener("stripe", answerStripe))),
  };
}

const identity = { cert: readFileSync(CERTIFICATE), key: readFileSync(KEY) };

async function obey(command: Command): Promise<unknown> {
  switch (command.kind) {
    case "start":
      return {
        plain: await start("http", createServer),
        tls: await start("https", (listener) => createTlsServer(identity, listener)),
      };
    case "set":
      ({ latencyMs, silent } = command);
      counts = noCounts();
      return counts;
    case "counts":
      return counts;
  }
}

process.on("disconnect", () => process.exit());
process.on("message", (command: Command) => {
  void obey(command).then((answer) => process.send?.(answer));
});
