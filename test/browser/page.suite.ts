// The live page in a real browser, on a real local stack.
import { join } from "node:path";

import type { Browser, BrowserContextOptions, Page as Tab } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";

import { createFeed } from "../../local/feed.ts";
import { startPage } from "../../local/page/server.ts";
import type { Page } from "../../local/page/server.ts";
import { everyFunction } from "../../local/parts.ts";
import { openShop } from "../../local/shop.ts";
import type { StackEvent } from "../../local/stack-event.ts";
import { openLivePage } from "../../scripts/live-page.ts";
import { BRISK, startOperator } from "../cli/operator.ts";
import { isRunning, startCommand } from "../support/command.ts";
import { launch } from "./browser.ts";
import { WEAK_CONTRASTS } from "./contrast.ts";

const ROOT = join(import.meta.dirname, "..", "..");

let browser: Browser;
let operator: Awaited<ReturnType<typeof startOperator>>;
let live: Page;
const ends: (() => void | Promise<void>)[] = [];
/** What the browser's console complained of, a request that left the page's server, a dialog. */
let complaints: string[] = [];

beforeAll(async () => {
  browser = await launch();
  ends.push(() => browser.close());
  operator = await startOperator(BRISK, (end) => ends.push(end), everyFunction().slice(1));
  await openShop(operator.stack);
  live = await openLivePage(operator.stack, { port: 47_200, commands: true });
  ends.push(() => live.stop());
});

afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

afterEach(() => {
  const heard = complaints.splice(0);
  if (heard.length > 0) throw new Error(`The browser complained: ${heard.join("; ")}`);
});

async function visit(url = live.url, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  onTestFinished(() => context.close());
  const tab = await context.newPage();
  tab.on("console", (message) => {
    const text = message.text();
    // A cut connection and a refused button are what some tests are about.
    if (message.type() === "error" && !/net::|Failed to load resource/.test(text)) {
      complaints.push(text);
    }
  });
  tab.on("pageerror", (error) => complaints.push(error.message));
  tab.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  tab.on("request", (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(url).origin) complaints.push(request.url());
  });
  await tab.goto(url);
  return tab;
}

const text = async (tab: Tab, selector: string) => (await tab.locator(selector).innerText()).trim();
const rowOf = (tab: Tab, id: string) =>
  tab.locator("#rows tr").filter({ has: tab.getByRole("button", { name: id, exact: true }) });
const cells = async (tab: Tab, id: string) => (await rowOf(tab, id).allInnerTexts()).join();
/** As long as a busy machine may need. */
const until = (read: () => Promise<unknown>) => expect.poll(read, { timeout: 60_000 });

async function totals(tab: Tab): Promise<Record<string, number>> {
  return tab.evaluate(
    `Object.fromEntries([...document.querySelectorAll("#totals div")].map((one) => [
      one.querySelector("dt").textContent, Number(one.querySelector("dd").textContent.replace(",", ""))]))`,
  );
}

/** Pays, and stops the request at Stripe, after the charge, until it is released. */
async function payAndHold(id: string) {
  const charged = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  operator.stack.stripe.faults.add(
    { messageId: id },
    {
      kind: "hook",
      at: "applied",
      run() {
        charged.resolve();
        return released.promise;
      },
    },
  );
  await operator.send(id);
  await charged.promise;
  return released.resolve;
}

test("payments are counted as the servers saw them, with a row for each message", async () => {
  const tab = await visit();
  await operator.send("paid-1");
  await operator.send("paid-1");
  await operator.send("declined-1", { paymentMethod: "pm_card_chargeDeclined" });

  await until(() => totals(tab)).toMatchObject({
    messages: 2,
    charges: 1,
    "double charges": 0,
    lost: 0,
    open: 0,
  });
  await until(() => cells(tab, "paid-1")).toMatch(/^paid-1\s+succeeded\s+\d\s+1\s+1\s+1\s*$/);
  expect(await cells(tab, "declined-1")).toMatch(/^declined-1\s+declined\s+1\s+1\s+1\s+0\s*$/);
  await until(() => text(tab, "#outcomes")).toMatch(/events published\s+2\s+orders shipped\s+1/);
  expect(await text(tab, "#claims")).toMatch(/^live\s+0\s+expired or released\s+0\s+done\s+2$/);
  expect(await text(tab, "#stripe")).toMatch(/200\s+new\s+POST payment_intents\s+paid-1/);
  expect(await tab.getByRole("alert").isVisible()).toBe(false);
});

test("a worker that is killed by its button: the message comes back, is charged once, and its timeline shows the crash", async () => {
  const tab = await visit();
  const release = await payAndHold("killed-1");
  await until(() => cells(tab, "killed-1")).toMatch(/at a worker[^]*at process \d+/);
  const [, pid = ""] = /at process (\d+)/.exec(await cells(tab, "killed-1")) ?? [];

  await tab.getByRole("button", { name: `Kill process ${pid}, payment-worker` }).click();

  await until(() => text(tab, "#said")).toBe(`Killed: ${pid}.`);
  release();
  await until(() => cells(tab, "killed-1")).toMatch(/in \d+ s/);
  await until(() => cells(tab, "killed-1")).toMatch(/^killed-1\s+succeeded\s+2\s+2\s+2\s+1\s*$/);
  expect(operator.charges("killed-1")).toBe(1);

  await tab.getByRole("button", { name: "killed-1", exact: true }).click();
  await until(() => text(tab, "#timeline")).toContain("the goods are shipped");
  const timeline = await text(tab, "#timeline");
  const steps = [
    "Sent",
    `Delivery 1: receive 1, process ${pid}`,
    "claimed: attempt 1",
    "charged 1250 eur",
    `process ${pid} is sent SIGKILL by hand`,
    "Crash here: payment-worker died",
    "Delivery 2: receive 2",
    "claimed: attempt 2",
    "Stripe answered 200, replayed: POST payment_intents, key killed-1",
    "recorded: succeeded",
    "acknowledged: gone from the queue",
  ];
  const places = steps.map((step) => timeline.indexOf(step));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("a message's panel says what payments status says, and in which fields a conflict differs", async () => {
  const tab = await visit();
  await operator.send("conflict-1");
  await until(async () => operator.charges("conflict-1")).toBe(1);
  await operator.send("conflict-1", { amount: 999, description: "Two tickets" });
  await until(() => cells(tab, "conflict-1")).toMatch(/dead letter\s+succeeded, conflict/);
  expect(await text(tab, "#dead")).toMatch(/^1\s+conflict\s+oldest \d+ s$/);

  await tab.getByRole("button", { name: "Show the messages with conflict" }).click();
  await tab.getByRole("button", { name: "conflict-1", exact: true }).click();
  await until(() => text(tab, "#next")).toContain("differs in: amount, description");

  const [status] = await operator.json<{ next: string; stripe: { sentence: string } }[]>(
    "status",
    "conflict-1",
    "--stripe",
  );
  const about = await text(tab, "#one");
  expect(about).toContain(`Next: ${status?.next}`);
  expect(about).toContain(status?.stripe.sentence);
  expect(about).toMatch(/amount\s+1250\s+1250/);
  expect(about).toContain("npm run payments -- dlq --show conflict-1");
});

test("a page whose connection is cut misses and repeats nothing", async () => {
  const tab = await visit();
  const ids = Array.from({ length: 30 }, (_, index) => `again-${index}`);
  for (const [index, id] of ids.entries()) {
    if (index % 6 === 3) live.cut();
    await operator.send(id);
  }
  live.cut();

  const { ledger } = operator.stack.stripe;
  await until(async () => ids.every((id) => ledger.countsFor(id).charges === 1)).toBe(true);
  await until(() => text(tab, "#link")).toBe("connected");
  await until(() => totals(tab)).toMatchObject({
    charges: ledger.totals().charges,
    "double charges": 0,
    open: 0,
  });
  await tab.getByRole("searchbox").fill("again-");
  await until(() => text(tab, "#range")).toBe("1 to 30 of 30");
  const shown = await tab.locator("#rows .pick").allInnerTexts();
  expect(shown.toSorted()).toEqual(ids.toSorted());
  // A page that comes now is told the same.
  const other = await visit();
  await until(() => totals(other)).toEqual(await totals(tab));
});

test("what a message says is text, whatever it says", async () => {
  const tab = await visit();
  const id = `<img/src=x/onerror=alert(1)>'"&`;
  const description = "<script>alert(1)</script><b>bold</b>";
  await operator.send(id, { description });
  await until(() => cells(tab, id)).toContain("succeeded");

  await tab.getByRole("button", { name: id, exact: true }).click();
  await until(() => text(tab, "#about")).toContain(description);
  expect(await text(tab, "#h-one")).toBe(id);
  expect(await text(tab, "#about")).toContain(
    String.raw`npm run payments -- status '<img/src=x/onerror=alert(1)>'\''"&' --stripe`,
  );
  expect(await tab.locator("main :is(img, b, script)").count()).toBe(0);
  // And the browser holds the page to it.
  await expect(tab.evaluate("document.body.innerHTML = '<b>x</b>'")).rejects.toThrow(/TrustedHTML/);
  expect(complaints.splice(0).join()).toContain("TrustedHTML");
});

test("without the token of the printed address, or with another, a button does nothing", async () => {
  const pid = operator.stack.worker.provision();
  const { origin } = new URL(live.url);
  const without = await visit(origin);
  await until(() => text(without, "#workers")).toContain(String(pid));
  expect(await without.getByRole("button", { name: /Kill|Freeze|Break/ }).count()).toBe(0);

  const wrong = await visit(`${origin}/#another`);
  await wrong.getByRole("button", { name: `Kill process ${pid}, payment-worker` }).click();
  await until(() => text(wrong, "#said")).toMatch(/^No token, or one of an earlier run/);
  expect(isRunning(pid)).toBe(true);
});

test("another site's name for this machine is refused", async () => {
  const { port } = new URL(live.url);
  const context = await browser.newContext();
  onTestFinished(() => context.close());
  const response = await (await context.newPage()).goto(`http://evil.example:${port}/`);
  expect(response?.status()).toBe(421);
  expect(await response?.text()).toBe("Not this host.");
});

test("a switch breaks the stack until it is ended, and what it broke is paid once", async () => {
  const tab = await visit();
  await tab.getByLabel("What to break").selectOption("outage");
  expect(await text(tab, "#does")).toMatch(/^Stripe answers every request with 503/);
  expect(await text(tab, "#break-command")).toBe("npm run break -- outage");
  await tab.getByRole("button", { name: "Break", exact: true }).click();
  await until(() => text(tab, "#on")).toMatch(/^outage/);

  await operator.send("broken-1");
  await until(() => cells(tab, "broken-1")).toMatch(/retrying\s+stripe_unavailable\/http_503/);
  await tab.getByRole("button", { name: "End outage" }).click();
  await until(() => text(tab, "#on")).toBe("");
  await until(() => cells(tab, "broken-1")).toContain("succeeded");
  expect(operator.charges("broken-1")).toBe(1);
});

test("a process is frozen and thawed by its button", async () => {
  const pid = operator.stack.worker.provision();
  const tab = await visit();
  const line = tab.locator("#workers li").filter({ hasText: String(pid) });
  await line.getByRole("button", { name: `Freeze process ${pid}` }).click();
  await until(() => line.innerText()).toContain("frozen");
  await line.getByRole("button", { name: `Thaw process ${pid}` }).click();
  await until(() => line.innerText()).not.toContain("frozen");
  expect(isRunning(pid)).toBe(true);
});

test("the keyboard is enough: skip, filter, open, close, kill", async () => {
  const pid = operator.stack.worker.provision();
  const tab = await visit();
  const focused = () =>
    tab.evaluate<string>(
      "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
    );
  await until(() => cells(tab, "paid-1")).toContain("succeeded");

  await tab.keyboard.press("Tab");
  expect(await focused()).toBe("Skip to the messages");
  await tab.keyboard.press("Enter");
  expect(await focused()).toBe("Messages, newest first");
  expect(tab.url()).toBe(live.url);

  await tab.keyboard.press("/");
  await tab.keyboard.type("paid-1");
  await until(() => text(tab, "#range")).toBe("1 to 1 of 1");
  await tab.keyboard.press("ArrowDown");
  expect(await focused()).toBe("paid-1");
  await tab.keyboard.press("Enter");
  await until(focused).toBe("paid-1");
  expect(await tab.evaluate("document.activeElement.id")).toBe("h-one");
  await tab.keyboard.press("Escape");
  expect(await tab.locator("#one").isVisible()).toBe(false);
  expect(await tab.evaluate("document.activeElement.closest('#rows') !== null")).toBe(true);

  const kill = `Kill process ${pid}, payment-worker`;
  for (let tabs = 0; tabs < 100 && (await focused()) !== kill; tabs++) {
    await tab.keyboard.press("Shift+Tab");
  }
  expect(await focused()).toBe(kill);
  await tab.keyboard.press("Enter");
  await until(async () => isRunning(pid)).toBe(false);
  await until(() => text(tab, "#workers")).toMatch(new RegExp(`${pid}\\s+gone`));
  // The button is gone with its process: the focus is not lost.
  await until(focused).toBe("Workers");
});

test("a screen reader finds landmarks, headings, a table, and a name on all that can be used", async () => {
  const tab = await visit();
  await until(() => cells(tab, "paid-1")).toContain("succeeded");
  await tab.getByRole("button", { name: "paid-1", exact: true }).click();
  await until(() => text(tab, "#next")).toContain("Next");
  const tree = await tab.locator("body").ariaSnapshot();

  for (const part of [
    "- banner:",
    "- main:",
    'heading "Payment worker, live" [level=1]',
    'heading "Workers" [level=2]',
    'region "Dead letters"',
    'table "One row for each message id"',
    'columnheader "Next delivery"',
    'rowheader "paid-1"',
    'searchbox "Filter by id or reason"',
    'group "Filter by state"',
    'button "all',
    'combobox "What to break"',
    'complementary "paid-1"',
    "- status: connected",
  ]) {
    expect(tree).toContain(part);
  }
  expect(tree).not.toMatch(/- (?:button|link|searchbox|textbox|combobox|spinbutton|table)(?! ")/);
  // Totals change many times a second; what is read aloud changes every few seconds, as a sentence.
  await until(() => tab.locator("#summary").textContent()).toMatch(
    /^\d+ messages, \d+ deliveries, \d+ charges, 0 double, 0 lost, \d+ open$/,
  );
});

test.each(["light", "dark"] as const)(
  "every text of the %s theme has a contrast of 4.5 at least",
  async (colorScheme) => {
    const tab = await visit(live.url, { colorScheme });
    await until(() => cells(tab, "conflict-1")).toContain("dead letter");
    await tab.getByRole("button", { name: "conflict-1", exact: true }).click();
    await until(() => text(tab, "#next")).toContain("differs in");
    const { texts, weak } = await tab.evaluate<{ texts: number; weak: string[] }>(WEAK_CONTRASTS);
    expect(texts).toBeGreaterThan(150);
    expect(weak).toEqual([]);
    const [page] = await tab.evaluate<number[]>(
      "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)",
    );
    expect((page ?? 0) > 128).toBe(colorScheme === "light");
  },
);

test("a phone's width is enough: nothing is wider, whatever an id says", async () => {
  const tab = await visit(live.url, { viewport: { width: 390, height: 844 } });
  const id = `long-${"x".repeat(250)}`;
  await operator.send(id);
  await until(() => cells(tab, id)).toContain("succeeded");
  await tab.getByRole("button", { name: id, exact: true }).click();
  await until(() => text(tab, "#next")).toContain("Next");
  expect(
    await tab.evaluate(
      `[...document.querySelectorAll("body, main, section, aside, tr, #one *")]
        .filter((it) => it.getBoundingClientRect().right > 390 && !it.closest("[hidden]"))
        .map((it) => it.outerHTML.slice(0, 80))`,
    ),
  ).toEqual([]);
  expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(390);
});

test("thousands of messages are pages of fifty: the page answers, and its parts do not grow", async () => {
  const feed = createFeed<StackEvent>();
  const many = await startPage(feed, {
    port: 47_300,
    queues: [],
    messages: async () => [],
    reasonOf: async () => "",
  });
  onTestFinished(() => many.stop());
  const pay = (id: string): void => {
    const body = JSON.stringify({ id });
    const queued = { queue: "payments", messageId: id, body } as const;
    const record = { messageId: id, attempt: 1, outcome: { result: "succeeded" } };
    feed.publish({ type: "message sent", ...queued });
    feed.publish({ type: "charged", messageId: id, nth: 1 } as StackEvent);
    feed.publish({ type: "record changed", before: undefined, after: record });
    feed.publish({ type: "message deleted", ...queued });
  };
  const tab = await visit(many.url);
  const parts = () => tab.evaluate<number>("document.querySelectorAll('*').length");

  for (let index = 0; index < 1_000; index++) pay(`many-${index}`);
  await until(() => text(tab, "#range")).toBe("1 to 50 of 1,000");
  const before = await parts();
  expect(before).toBeLessThan(1_500);
  await tab.getByRole("button", { name: "Older" }).click();
  await until(() => text(tab, "#range")).toBe("51 to 100 of 1,000");
  await tab.getByRole("button", { name: "many-949" }).click();
  await until(() => text(tab, "#timeline")).toContain("acknowledged");
  await tab.getByRole("button", { name: "Close" }).click();

  for (let index = 1_000; index < 6_000; index++) pay(`many-${index}`);
  await until(() => totals(tab)).toMatchObject({ messages: 6_000, charges: 6_000, open: 0 });
  expect(await text(tab, "#range")).toBe("51 to 100 of 5,000");
  expect(await parts()).toBeLessThanOrEqual(before + 20);

  feed.publish({ type: "charged", messageId: "many-5999", nth: 2 } as StackEvent);
  await until(() => text(tab, "#band")).toBe("1 double charge, 0 lost messages: many-5999");
  expect(await tab.getByRole("alert").isVisible()).toBe(true);
});

test("npm run demo -- --page serves it meanwhile and until Ctrl-C", async () => {
  const { child, output, finished } = startCommand(ROOT, process.execPath, [
    join(ROOT, "chaos", "demo.ts"),
    "--port",
    "47400",
  ]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await until(async () => output.stdout).toMatch(/^Live page: \S+$/m);
  const [, url = ""] = /^Live page: (\S+)$/m.exec(output.stdout) ?? [];
  const tab = await visit(url);
  await expect
    .poll(() => output.stdout, { timeout: 150_000 })
    .toContain("The live page stays until Ctrl-C.");

  const [, messages, , charges] =
    /^(\d+) messages, (\d+) deliveries, (\d+) charges, 0 double/m.exec(output.stdout) ?? [];
  await until(() => totals(tab)).toMatchObject({
    messages: Number(messages),
    charges: Number(charges),
    "double charges": 0,
    lost: 0,
    open: 0,
  });
  child.kill("SIGINT");
  // Its verdict on a busy machine is another test's matter.
  expect((await finished).code).not.toBeNull();
});
