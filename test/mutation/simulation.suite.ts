// The simulation against mutants: in this process, where StrykerJS switches them on.
import { afterAll, expect, test, vi } from "vitest";

import * as bus from "../../lib/aws/event-bus.ts";
import * as orders from "../../lib/aws/orders-table.ts";
import * as outcomes from "../../lib/aws/recorded-outcomes.ts";
import * as records from "../../lib/aws/records-table.ts";
import * as messages from "../../lib/aws/send-message.ts";
import * as api from "../../lib/lambda/api-handler.ts";
import * as finalizer from "../../lib/lambda/finalizer-handler.ts";
import * as fulfillment from "../../lib/lambda/fulfillment-handler.ts";
import * as publisher from "../../lib/lambda/outcome-publisher.ts";
import * as handler from "../../lib/lambda/payment-handler.ts";
import * as keys from "../../lib/stripe/api-key.ts";
import * as charges from "../../lib/stripe/charges.ts";
import * as payments from "../../lib/stripe/payments.ts";
import { drawn } from "../../simulation/search/choices.ts";
import { explore } from "../../simulation/search/explore.ts";
import { runRandom } from "../../simulation/search/replay.ts";
import { exhaustiveScenarios } from "../../simulation/search/scenarios.ts";
import { createRunner } from "../../simulation/search/schedule.ts";

vi.mock("../../lib/stripe/http-client.ts", () => import("../../simulation/world/connection.ts"));
vi.mock("../../lib/net/time-limit.ts", () => import("../../simulation/world/time-limit.ts"));

const now = performance.now.bind(performance);
const worker = { ...handler, ...charges, ...records, ...keys };
const around = { ...bus, ...outcomes, ...finalizer, ...publisher, ...payments };
const shop = { ...orders, ...messages, ...api, ...fulfillment };
const run = createRunner({ ...worker, ...around, ...shop });
afterAll(() => {
  performance.now = now;
});

const count = () => {};
const LARGE = new Set([
  "repeats, and workers whose clocks differ",
  "one id, two amounts",
  "a producer that repeats",
  "a repeat while the redrive of a day later is running",
]);
const scenarios = exhaustiveScenarios(0).map(({ name }) => name);

test.each(scenarios)("no fault breaks the guarantee: %s", async (name) => {
  const scenario = exhaustiveScenarios(LARGE.has(name) ? 0 : 1).find((one) => one.name === name);
  if (!scenario) throw new Error(`Bug! There is no scenario "${name}".`);

  const { found } = await explore(run, scenario, { count });

  expect(found?.violation.message).toBeUndefined();
});

test("no random schedule breaks the guarantee", async () => {
  for (let seed = 0; seed < 300; seed++) {
    const recorder = { count, digests: false };
    const { violation } = await runRandom(run, drawn(seed), 6, { recorder });
    expect(violation?.message).toBeUndefined();
  }
});
