// The table's scenarios against DynamoDB as others imitate it.

import { afterAll, beforeAll, describe } from "vitest";

import { conform } from "./conform.ts";
import { recordScenarios } from "./scenarios/records.ts";
import { tableScenarios } from "./scenarios/table.ts";
import type { TableSubject } from "./scenarios/table.ts";
import { startMinistack, startMoto } from "./servers/aws.ts";
import { createRecordsTable } from "./servers/clients.ts";
import type { ExternalServer } from "./servers/process.ts";

const allScenarios = [...tableScenarios, ...recordScenarios];

// moto checks a condition and writes in two steps, in as many threads as there are requests: which
// of them are written is chance, so it is not asked.
const oneAtATime = allScenarios.filter(({ name }) => !name.includes("at once"));

describe.each([
  { name: "moto", start: startMoto, scenarios: oneAtATime },
  { name: "ministack", start: startMinistack, scenarios: allScenarios },
])("$name", ({ start, scenarios }) => {
  let server: ExternalServer;
  let table: TableSubject;

  beforeAll(async () => {
    server = await start();
    table = await createRecordsTable(server.url);
  });
  afterAll(() => server?.stop());

  conform(scenarios, () => table);
});
