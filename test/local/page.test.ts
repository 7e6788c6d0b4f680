import { get } from "node:http";

import { expect, onTestFinished, test } from "vitest";

import type { Order } from "../../local/control/order.ts";
import { createFeed } from "../../local/feed.ts";
import { idIn } from "../../local/page/id-in.ts";
import { startPage } from "../../local/page/server.ts";
import { take } from "../../local/page/take.ts";
import { emptyView, rowOf, shown, summaryOf } from "../../local/page/view.ts";
import type { View } from "../../local/page/view.ts";
import type { QueuedMessage } from "../../local/queue/messages.ts";
import type { StackEvent } from "../../local/stack-event.ts";

const BODY = '{"id":"order-1"}';
const MESSAGE = { messageId: "sqs-1", receiptHandle: "", body: BODY, receiveCount: 1 };
const SENT = { type: "message sent", queue: "payments", messageId: "sqs-1", body: BODY } as const;
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
  nth: 1,
} as StackEvent & { type: "charged" };
const DEAD = { ...SENT, type: "dead letter" } as const;
const DELETED = { ...SENT, type: "message deleted" } as const;
const RESPONDED: StackEvent = {
  type: "responded",
  function: "payment-worker",
  requestId: "r",
  messageIds: ["sqs-1"],
  failures: ["sqs-1"],
};

/** The view after these events. */
function viewOf(...events: StackEvent[]): View {
  const feed = createFeed<StackEvent>(() => 1_000);
  const view = emptyView();
  feed.subscribe((entry) => take(view, entry));
  for (const event of events) feed.publish(event);
  return view;
}

/** What the page is sent of `order-1`, and the totals. */
function shownAfter(...events: StackEvent[]) {
  const view = viewOf(...events);
  const row = view.rows.get("order-1");
  return { ...(row && shown(row)), totals: summaryOf(view, 1_000).totals };
}

const recorded = (before: object | undefined, after: object): StackEvent => ({
  type: "record changed",
  before: before && { messageId: "order-1", ...before },
  after: { messageId: "order-1", ...after },
});
const CLAIMED = { attempt: 1, owner: "owner-1-of-this", leaseExpiresAt: 6_000 };
const PAID = { ...CLAIMED, outcome: { result: "succeeded" } };

test("a message is counted, and followed step by step", () => {
  const claimed = recorded(undefined, CLAIMED);
  const view = viewOf(SENT, INVOKED, claimed, CHARGED, recorded(CLAIMED, PAID), DELETED);
  expect(view).toMatchObject({ messages: 1, deliveries: 1, charges: 1, doubled: 0, done: 1 });
  expect(view.rows.get("order-1")?.steps.map(({ text }) => text)).toEqual([
    "sent to the queue",
    "Delivery 1: receive 1, process 7",
    "claimed: attempt 1, owner owner-1-, lease of 5.0 s",
    "charged 1250 eur, pi_1",
    "recorded: succeeded",
    "acknowledged: gone from the queue",
  ]);
});

test.each<[string, StackEvent[], object]>([
  ["sent", [SENT], { state: "waiting", open: true, totals: { open: 1, messages: 1 } }],
  ["sent twice", [SENT, SENT], { totals: { messages: 1 } }],
  ["at a worker", [SENT, INVOKED], { state: "at a worker", at: [7] }],
  [
    "released by its worker",
    [
      SENT,
      INVOKED,
      recorded(CLAIMED, {
        leaseExpiresAt: 0,
        lastError: { kind: "stripe_unavailable", code: "http_503" },
      }),
      { ...SENT, type: "visibility changed", seconds: 30 },
      RESPONDED,
    ],
    { state: "retrying", note: "stripe_unavailable/http_503", nextAtMs: 31_000 },
  ],
  [
    "paid, before its acknowledgement",
    [SENT, recorded(undefined, PAID)],
    { state: "succeeded", open: true },
  ],
  ["a dead letter", [SENT, DEAD], { state: "dead letter", open: false, totals: { open: 0 } }],
  [
    "redriven",
    [SENT, DEAD, { ...DELETED, queue: "payments-dlq" }, { ...SENT, messageId: "sqs-2" }],
    { state: "waiting" },
  ],
  [
    "paid, and its conflict a dead letter",
    [
      SENT,
      recorded(undefined, PAID),
      DELETED,
      { ...SENT, messageId: "sqs-2" },
      { ...DEAD, messageId: "sqs-2" },
    ],
    { state: "dead letter", outcome: "succeeded" },
  ],
  ["acknowledged without an outcome", [SENT, DELETED], { state: "lost", totals: { lost: 1 } }],
  ["lost, and sent again", [SENT, DELETED, SENT], { state: "waiting", totals: { lost: 0 } }],
  [
    "charged twice",
    [SENT, CHARGED, { ...CHARGED, nth: 2 }],
    { charges: 2, totals: { charges: 2, doubled: 1 } },
  ],
  ["charged past the queue", [CHARGED], { totals: { messages: 0, charges: 0 } }],
])("a message that is %s shows so", (_, events, expected) => {
  expect(shownAfter(...events)).toMatchObject(expected);
});

test("a worker that dies leaves its mark on what it had, once", () => {
  const view = viewOf(
    SENT,
    INVOKED,
    {
      type: "environment ended",
      function: "payment-worker",
      pid: 7,
      how: "SIGKILL",
      wasBusy: true,
    },
    {
      type: "failed",
      function: "payment-worker",
      requestId: "r",
      reason: "crash",
      message: "exited with error: signal: SIGKILL",
      messages: [MESSAGE],
    },
  );
  expect(view.workers.size).toBe(0);
  expect(view.ended).toMatchObject([{ pid: 7 }]);
  expect(view.rows.get("order-1")?.busy.size).toBe(0);
  expect(view.rows.get("order-1")?.steps.slice(2)).toEqual([
    {
      atMs: 1_000,
      kind: "bad",
      text: "Crash here: payment-worker died, process 7: exited with error: signal: SIGKILL",
    },
  ]);
});

test("the last reconciliation is shown by its counts, and no other line of a log is read", () => {
  const line = (message: string, name = "reconciliation"): StackEvent => ({
    type: "log",
    function: name,
    pid: 1,
    stream: "stdout",
    line: JSON.stringify({ message, agree: 7, findings: 1 }),
  });
  const others = viewOf(line("reconciliation continues"), line("reconciliation done", "another"));
  expect(others.reconciliation).toBeUndefined();
  expect(viewOf(line("reconciliation done")).reconciliation).toEqual({
    atMs: 1_000,
    agree: 7,
    findings: 1,
  });
});

test("an entry that comes again changes nothing", () => {
  const view = emptyView();
  const entry = { ...CHARGED, sequence: 3, atMs: 0 } as Parameters<typeof take>[1];
  take(view, { ...SENT, sequence: 2, atMs: 0 });
  take(view, entry);
  take(view, entry);
  expect(view.charges).toBe(1);
});

test("beyond the newest rows one that needs nobody is let go, and totals stay", () => {
  const view = emptyView();
  for (const [index, id] of ["open", "done", "wrong", "new"].entries()) {
    view.messages += 1;
    const row = rowOf(view, id, 3);
    if (index > 0) row.outcome = "succeeded";
    if (id === "wrong") row.charges = 2;
  }
  expect([...view.rows.keys()]).toEqual(["open", "wrong", "new"]);
  expect(view.messages).toBe(4);
});

test.each([
  ['{"meta":{"id":"b"}}', "b"],
  ['{"detail":{"subject":"s","id":"s:1"}}', "s"],
  ['{"Type":"Notification","Message":"{\\"id\\":\\"n\\"}"}', "n"],
  ['{"id":"evt_1","data":{"object":{"metadata":{"message_id":"m"}}}}', "m"],
  ['{"messageId":{"S":"k"}}', "k"],
  [`{"id":"${"x".repeat(256)}"}`, undefined],
  ["{", undefined],
  ["null", undefined],
  ['{"id":7}', undefined],
])("the id in %s is %s", (body, id) => {
  expect(idIn(body)).toBe(id);
});

const IN_FLIGHT: QueuedMessage = {
  sqsMessageId: "sqs-1",
  body: BODY,
  sentAtMs: 7,
  receiveCount: 1,
  state: "in flight",
  visibleAtMs: 9_000,
};

async function started() {
  const feed = createFeed<StackEvent>();
  const killed: string[] = [];
  const start = async ({ argument = "" }: Order): Promise<string> => {
    killed.push(argument);
    return "Done.";
  };
  const page = await startPage(feed, {
    port: 47_100,
    queues: ["payments"],
    messages: async (name) =>
      name === "payments-dlq"
        ? [{ ...IN_FLIGHT, body: "no json", sentAtMs: 5, state: "visible", visibleAtMs: 0 }]
        : [IN_FLIGHT],
    reasonOf: async () => "invalid/json",
    explain: async (id) => ({ next: `of ${id}` }),
    control: { on: () => [], end: () => [], start },
  });
  onTestFinished(() => page.stop());
  const { origin, hash } = new URL(page.url);
  return { feed, killed, page, origin, token: hash.slice(1), port: Number(new URL(page.url).port) };
}

type Picture = { whole: boolean; rows: { id: string }[]; [more: string]: unknown };

/** The pictures that a page is sent, until `enough`. */
async function follow(origin: string, enough: (pictures: Picture[], text: string) => boolean) {
  const stop = new AbortController();
  const response = await fetch(`${origin}/events`, { signal: stop.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const pictures = () =>
    [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data = ""]) => JSON.parse(data) as Picture);
  while (!enough(pictures(), text)) text += (await reader?.read())?.value ?? "";
  stop.abort();
  return { pictures: pictures(), text };
}

test("the page loads nothing from elsewhere, and its script and style are named by hash", async () => {
  const { origin } = await started();
  const response = await fetch(origin);
  const html = await response.text();
  expect(response.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'; connect-src 'self'; .*require-trusted-types-for 'script'/,
  );
  expect(html).not.toMatch(/https?:\/\/(?!www\.w3\.org\/2000\/svg)|innerHTML|style=|onclick=/);
});

test("a page that comes gets all of it, then what has changed; logs never reach it", async () => {
  const { feed, origin } = await started();
  feed.publish(SENT);
  feed.publish({ type: "log", function: "f", pid: 1, stream: "stdout", line: "secret" });
  feed.publish({ ...SENT, body: '{"id":"order-2"}', messageId: "sqs-2" });
  const first = await follow(origin, ([picture]) => {
    if (picture) feed.publish({ ...CHARGED, messageId: "order-2" });
    return picture !== undefined;
  });
  expect(first.pictures[0]).toMatchObject({
    whole: true,
    totals: { messages: 2, charges: 0 },
    rows: [{ id: "order-1", nextAtMs: 9_000 }, { id: "order-2" }],
    queues: [{ name: "payments", visible: 0, inFlight: 1, delayed: 0, oldestAtMs: 7 }],
    deadLetters: [{ reason: "invalid/json", count: 1, oldestAtMs: 5 }],
  });
  expect(first.text).not.toContain("secret");

  const again = await follow(origin, (pictures) => {
    if (pictures.length === 1) feed.publish({ ...CHARGED, nth: 2 });
    return pictures.length > 1 && pictures.at(-1)?.rows.length === 1;
  });
  expect(again.pictures[0]).toMatchObject({ whole: true, totals: { messages: 2, charges: 1 } });
  expect(again.pictures.at(-1)).toMatchObject({
    whole: false,
    totals: { messages: 2, charges: 2, doubled: 1 },
    wrong: ["order-1"],
    rows: [{ id: "order-1", charges: 2 }],
  });
});

test("a message is told with its timeline and what the stack says of it", async () => {
  const { feed, origin } = await started();
  feed.publish(SENT);
  const answer = await fetch(`${origin}/message?id=order-1`);
  expect(await answer.json()).toMatchObject({
    id: "order-1",
    steps: [{ text: "sent to the queue" }],
    next: "of order-1",
  });
  expect((await fetch(`${origin}/message?id=nosuch`)).status).toBe(404);
});

test("another host's name is refused, and so is a button without the token", async () => {
  const { killed, origin, token, port } = await started();
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const given = { port, headers: { host: "evil.example" } };
    get(given, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
  expect(status).toBe(421);
  const post = async (path: string, given?: string) =>
    (
      await fetch(origin + path, {
        method: "POST",
        ...(given && { headers: { "x-token": given } }),
      })
    ).status;
  expect(await post("/control?name=kill&argument=7")).toBe(403);
  expect(await post("/control?name=kill&argument=7", "another")).toBe(403);
  expect(await post(`/control?name=kill&argument=7&token=${token}`)).toBe(403);
  expect(await post("/other", token)).toBe(405);
  expect(killed).toEqual([]);
  expect(await post("/control?name=kill&argument=7", token)).toBe(200);
  expect(killed).toEqual(["7"]);
});

test("a port that is taken is not the end: the next free one serves", async () => {
  const first = await started();
  const second = await started();
  expect(second.port).toBeGreaterThan(first.port);
});
