// The table's scenarios against the local table and against the simulation's model.

import { afterAll, beforeAll, describe } from "vitest";

import { startTable } from "../../local/table/server.ts";
import type { TableServer } from "../../local/table/server.ts";
import { createTable } from "../../simulation/table.ts";
import { conform } from "./conform.ts";
import { recordScenarios } from "./scenarios/records.ts";
import { tableScenarios } from "./scenarios/table.ts";
import type { TableSubject } from "./scenarios/table.ts";
import { createRecordsTable } from "./servers/clients.ts";

const SCENARIOS = [...tableScenarios, ...recordScenarios];

describe("the local table", () => {
  let server: TableServer;
  let table: TableSubject;

  beforeAll(async () => {
    server = await startTable();
    table = await createRecordsTable(server.url);
  });
  afterAll(() => server.stop());

  conform(SCENARIOS, () => table);
});

describe("the simulation's table", () => {
  const model = createTable({
    partitionKey: "messageId",
    ttlAttribute: "expiresAt",
    now: () => 1_795_980_729_855,
    deletesExpired: false,
  });
  const send = async (command: object) => model.apply(command);
  const table = { client: { send } as TableSubject["client"], tableName: "records" };

  conform(SCENARIOS, () => table);
});
