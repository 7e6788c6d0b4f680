// npm run screenshots: the live page in both themes and at a phone's width, for a person to look at, and
// the README's picture of it. Needs Chromium: test/browser/install.sh.
import { mkdir, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import type { Page as Tab } from "playwright-core";

import { openHarness, payment } from "../../chaos/harness/harness.ts";
import { until } from "../../chaos/harness/wait.ts";
import { SOAK } from "../../chaos/timings.ts";
import { build } from "../../scripts/build.ts";
import { openLivePage } from "../../scripts/live-page.ts";
import { launch } from "./browser.ts";

const README = "docs/live-page.webp";
const VIEWS = [
  { file: README, width: 1200, height: 1240, colorScheme: "light" },
  { file: ".local/screenshots/light.png", width: 1280, height: 900, colorScheme: "light" },
  { file: ".local/screenshots/dark.png", width: 1280, height: 900, colorScheme: "dark" },
  { file: ".local/screenshots/phone.png", width: 390, height: 844, colorScheme: "dark" },
] as const;

await build();
await mkdir(".local/screenshots", { recursive: true });
const harness = await openHarness(SOAK, "everything");
const { stack, send, deliveries } = harness;
const page = await openLivePage(stack, { port: 47_600, commands: true });
const browser = await launch();
try {
  // A worker dies between charge and record, a card is declined, an id is used for two payments.
  stack.stripe.faults.add(
    { messageId: "order-1007" },
    { kind: "hook", at: "applied", run: () => void stack.worker.kill("order-1007") },
  );
  stack.stripe.faults.add({ messageId: "order-1004" }, { kind: "storedError" });
  const ids = Array.from({ length: 10 }, (_, index) => `order-${1001 + index}`);
  await Promise.all(
    ids.map((id, index) =>
      send(
        payment(id, {
          amount: 1_250 + 100 * index,
          ...(id === "order-1003" && { paymentMethod: "pm_card_chargeDeclined" }),
        }),
      ),
    ),
  );
  await until(60_000, () => deliveries.isDone("order-1007"));
  await send(payment("order-1002", { amount: 999 }));
  await until(60_000, async () => (await stack.queue.depth(stack.queues.dlqUrl)).visible > 0);
  await send(payment("order-1011"));

  for (const { file, width, height, colorScheme } of VIEWS) {
    const tab = await browser.newPage({ viewport: { width, height }, colorScheme });
    await tab.goto(page.url);
    await tab.getByRole("button", { name: "order-1007", exact: true }).click();
    await tab.locator("#timeline li li").first().waitFor();
    await sleep(1_500); // a second picture, with the gauges
    await tab.evaluate("window.scrollTo(0, 0)");
    if (file === README) await writeFile(file, await small(tab));
    else await tab.screenshot({ path: file, fullPage: true });
    await tab.close();
    console.log(file);
  }
} finally {
  await browser.close();
  await page.stop();
  await stack.stop();
}

/** WebP, which Playwright cannot make by itself: half of the same PNG, and as sharp. */
async function small(tab: Tab): Promise<Buffer> {
  const session = await tab.context().newCDPSession(tab);
  const picture = await session.send("Page.captureScreenshot", { format: "webp", quality: 90 });
  return Buffer.from(picture.data, "base64");
}
