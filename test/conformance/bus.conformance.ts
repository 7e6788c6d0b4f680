// The bus's scenarios against EventBridge as others imitate it.

import { describe } from "vitest";

import { conform, during } from "./conform.ts";
import { busScenarios } from "./scenarios/bus.ts";
import { startMinistack, startMoto } from "./servers/aws.ts";
import { busSubject } from "./servers/buses.ts";

// Where they differ, EventBridge's documents decide, which the scenarios name.
const moto = {
  "an event reaches the queue in EventBridge's envelope, under the id that PutEvents answered":
    "adds ingestion-time, which is a variable of input transformers and no part of an event",
};
const ministack = {
  "entries fail one by one, each at its place in the answer":
    "takes an entry whose detail is not JSON, and one without a source",
};

describe.each([
  { name: "moto", start: startMoto, differences: moto },
  { name: "ministack", start: startMinistack, differences: ministack },
])("$name", ({ start, differences }) => {
  const server = during(start);

  conform(busScenarios, () => busSubject(server().url), differences);
});
