// The table's scenarios against the local table and against the simulation's model.

import { describe } from "vitest";

import { startTable } from "../../local/table/server.ts";
import { createTable } from "../../simulation/models/table.ts";
import { conform, during } from "./conform.ts";
import { changeScenarios } from "./scenarios/changes.ts";
import { expiryScenarios } from "./scenarios/expiry.ts";
import { recordScenarios } from "./scenarios/records.ts";
import { tableScenarios } from "./scenarios/table.ts";
import type { TableSubject } from "./scenarios/table.ts";
import { transactionScenarios } from "./scenarios/transactions.ts";
import { recordsTableAt } from "./servers/clients.ts";

const SCENARIOS = [...tableScenarios, ...recordScenarios];

describe("the local table", () => {
  const server = during(async () => {
    const started = await startTable();
    for (const name of ["records", "expiring"]) await started.createRecordsTable(name);
    return started;
  });
  const table = () => recordsTableAt(server().url);

  conform([...SCENARIOS, ...transactionScenarios], table);
  conform(changeScenarios, () => ({
    ...table(),
    records: async () => server().changes("records").after(undefined),
  }));
  conform(expiryScenarios, () => ({
    ...table(),
    tableName: "expiring",
    deleteExpired: (nowSeconds) => server().deleteExpired(nowSeconds),
  }));
});

describe("the simulation's table", () => {
  const clock = { now: 1_795_980_729_855 };
  const subject = (deletesExpired: boolean): TableSubject => {
    const model = createTable({
      partitionKey: "messageId",
      ttlAttribute: "expiresAt",
      now: () => clock.now,
      deletesExpired,
    });
    const send = async (command: object) => model.apply(command);
    return { client: { send } as TableSubject["client"], tableName: "records" };
  };
  const keeping = subject(false);
  const expiring = subject(true);

  conform([...SCENARIOS, ...transactionScenarios], () => keeping);
  conform(
    expiryScenarios,
    () => ({
      ...expiring,
      deleteExpired: async (nowSeconds) => {
        clock.now = nowSeconds * 1_000;
      },
    }),
    {
      "a time written as a text never deletes": "deletes; the worker writes numbers",
      "a time more than five years ago does not delete": "deletes; no schedule is that long",
    },
  );
});
