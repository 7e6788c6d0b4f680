// The table's scenarios against DynamoDB as others imitate it.

import { afterAll, beforeAll, describe } from "vitest";

import { conform } from "./conform.ts";
import { recordScenarios } from "./scenarios/records.ts";
import { tableScenarios } from "./scenarios/table.ts";
import type { TableSubject } from "./scenarios/table.ts";
import { startMinistack, startMoto } from "./servers/aws.ts";
import { createRecordsTable } from "./servers/clients.ts";
import type { ExternalServer } from "./servers/process.ts";

describe.each([
  { name: "moto", start: startMoto, differences: {} },
  { name: "ministack", start: startMinistack, differences: {} },
])("$name", ({ start, differences }) => {
  let server: ExternalServer;
  let table: TableSubject;

  beforeAll(async () => {
    server = await start();
    table = await createRecordsTable(server.url);
  });
  afterAll(() => server?.stop());

  conform([...tableScenarios, ...recordScenarios], () => table, differences);
});
