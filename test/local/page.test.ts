import { createConnection } from "node:net";

import { expect, onTestFinished, test } from "vitest";

import type { Order } from "../../local/control/order.ts";
import { createFeed } from "../../local/feed.ts";
import { startPage } from "../../local/page/server.ts";
import { emptyView, idIn, take } from "../../local/page/view.ts";
import type { View } from "../../local/page/view.ts";
import type { StackEvent } from "../../local/stack-event.ts";

const BODY = '{"id":"order-1"}';
const MESSAGE = { messageId: "sqs-1", receiptHandle: "", body: BODY, receiveCount: 1 };
const SENT: StackEvent = {
  type: "message sent",
  queue: "payments",
  messageId: "sqs-1",
  body: BODY,
};
const INVOKED: StackEvent = {
  type: "invoked",
  function: "payment-worker",
  requestId: "r",
  pid: 7,
  cold: false,
  messages: [MESSAGE],
};
const CHARGED = {
  type: "charged",
  messageId: "order-1",
  paymentIntent: "pi_1",
  amount: 1250,
  currency: "eur",
} as StackEvent;
const DEAD: StackEvent = { ...SENT, type: "dead letter" };

/** The view after these events. */
function viewOf(...events: StackEvent[]): View {
  const feed = createFeed<StackEvent>(() => 1_000);
  const view = emptyView();
  feed.subscribe((entry) => take(view, entry));
  for (const event of events) feed.publish(event);
  return view;
}

test("a message is counted, and followed step by step", () => {
  const record = { messageId: "order-1", attempt: 1, leaseExpiresAt: 5_000 };
  const view = viewOf(
    SENT,
    INVOKED,
    { type: "record changed", before: undefined, after: record },
    CHARGED,
    {
      type: "record changed",
      before: record,
      after: { ...record, outcome: { result: "succeeded" } },
    },
    { ...SENT, type: "message deleted" },
  );
  expect(view).toMatchObject({ messages: 1, deliveries: 1, charges: 1, doubled: 0 });
  expect(view.rows.get("order-1")).toMatchObject({ state: "succeeded", deliveries: 1, charges: 1 });
  expect(view.rows.get("order-1")?.steps.map(({ text }) => text)).toEqual([
    "sent to payments",
    "payment-worker received it, receive 1, process 7",
    "claimed, attempt 1",
    "charged 1250 eur, pi_1",
    "recorded: succeeded",
    "acknowledged: gone from payments",
  ]);
});

test("a second charge of one message is a double charge", () => {
  expect(viewOf(SENT, CHARGED, CHARGED)).toMatchObject({ charges: 2, doubled: 1 });
});

test("a message that is sent twice is one message, and a dead letter until it is redriven", () => {
  const dead = viewOf(SENT, SENT, DEAD);
  expect(dead).toMatchObject({ messages: 1 });
  expect(dead.rows.get("order-1")?.state).toBe("dead letter");
  expect([...dead.deadLetters.keys()]).toEqual(["order-1"]);
  const redriven = viewOf(SENT, DEAD, SENT);
  expect(redriven.rows.get("order-1")?.state).toBe("waiting");
  expect(redriven.deadLetters.size).toBe(0);
});

test("a worker that dies leaves its mark on what it had, and a delay counts down to its end", () => {
  const view = viewOf(
    SENT,
    INVOKED,
    {
      type: "environment ended",
      function: "payment-worker",
      pid: 7,
      how: "was killed",
      wasBusy: true,
    },
    { type: "visibility changed", queue: "payments", messageId: "sqs-1", body: BODY, seconds: 30 },
  );
  expect(view.workers.size).toBe(0);
  const row = view.rows.get("order-1");
  expect(row?.steps.map(({ text }) => text)).toContain("process 7 was killed");
  expect(row?.nextAtMs).toBe(31_000);
});

test("an entry that comes again, after a reconnect, changes nothing", () => {
  const view = emptyView();
  const entry = { ...CHARGED, sequence: 3, atMs: 0 } as Parameters<typeof take>[1];
  take(view, entry);
  take(view, entry);
  expect(view.charges).toBe(1);
});

test.each([
  ['{"meta":{"id":"b"}}', "b"],
  ['{"detail":{"subject":"s","id":"s:1"}}', "s"],
  ['{"Type":"Notification","Message":"{\\"id\\":\\"n\\"}"}', "n"],
  ['{"id":"evt_1","data":{"object":{"metadata":{"message_id":"m"}}}}', "m"],
  ["{", undefined],
  ["null", undefined],
  ['{"id":7}', undefined],
])("the id in %s is %s", (body, id) => {
  expect(idIn(body)).toBe(id);
});

async function started() {
  const feed = createFeed<StackEvent>();
  const killed: string[] = [];
  const start = ({ argument = "" }: Order): string => {
    killed.push(argument);
    return "Done.";
  };
  const page = await startPage(feed, {
    port: 47_100,
    control: { on: () => [], end: () => [], start },
  });
  onTestFinished(() => page.stop());
  const { origin, hash } = new URL(page.url);
  return { feed, killed, origin, token: hash.slice(1), port: Number(new URL(page.url).port) };
}

test("the page loads nothing from elsewhere, and its script and style are named by hash", async () => {
  const { origin } = await started();
  const response = await fetch(origin);
  const html = await response.text();
  expect(response.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'self' 'sha256-[\w+/=]+'; connect-src 'self';/,
  );
  expect(html).not.toMatch(/https?:\/\/|innerHTML|style=|onclick=/);
  const script = await (await fetch(`${origin}/view.js`)).text();
  expect(script).toContain("export function take(");
});

test("a reconnecting page gets what it has missed, and no more; logs never reach it", async () => {
  const { feed, origin } = await started();
  feed.publish(SENT);
  feed.publish({ type: "log", function: "f", pid: 1, stream: "stdout", line: "secret" });
  feed.publish(CHARGED);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(`${origin}/events`, {
    headers: { "last-event-id": "1" },
    signal: stop.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes('"charged"')) text += (await reader?.read())?.value ?? "";
  expect(text).toContain("id: 3\n");
  expect(text).not.toMatch(/id: 1\n|secret/);
});

test("another host's name is refused, and so is a button without the token", async () => {
  const { killed, origin, token, port } = await started();
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = createConnection(port, "127.0.0.1", () => {
      socket.write("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
    });
    let text = "";
    socket.on("data", (data) => (text += data.toString()));
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
  });
  expect(answer).toMatch(/^HTTP\/1\.1 421 /);
  const post = async (path: string) => (await fetch(origin + path, { method: "POST" })).status;
  expect(await post("/control?name=kill&argument=7")).toBe(403);
  expect(await post(`/other?token=${token}`)).toBe(404);
  expect(killed).toEqual([]);
  expect(await post(`/control?token=${token}&name=kill&argument=7`)).toBe(200);
  expect(killed).toEqual(["7"]);
});

test("a port that is taken is not the end: the next free one serves", async () => {
  const first = await started();
  const second = await started();
  expect(second.port).toBeGreaterThan(first.port);
});
