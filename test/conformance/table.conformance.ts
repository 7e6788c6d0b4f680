// The table's scenarios against DynamoDB as others imitate it.

import { randomUUID } from "node:crypto";

import { beforeAll, describe } from "vitest";

import { conform, during } from "./conform.ts";
import { changeScenarios } from "./scenarios/changes.ts";
import { recordScenarios } from "./scenarios/records.ts";
import { tableScenarios } from "./scenarios/table.ts";
import type { TableSubject } from "./scenarios/table.ts";
import { transactionScenarios } from "./scenarios/transactions.ts";
import { startMinistack, startMoto } from "./servers/aws.ts";
import { createRecordsTable } from "./servers/clients.ts";
import { readStream } from "./servers/streams.ts";

const singleWrites = [...tableScenarios, ...recordScenarios];

// moto checks a condition and writes in two steps, in as many threads as there are requests, and a
// transaction that it cancels takes back what others have written meanwhile: what happens at once is
// chance, so it is not asked.
const oneAtATime = ({ name }: { name: string }) => !name.includes("at once");

const IGNORES_TOKENS = "executes it: moto ignores the token";
const moto = {
  transactions: {
    "a repeat with the same token succeeds and writes nothing": IGNORES_TOKENS,
    "the same token with other parameters is refused, and writes nothing": IGNORES_TOKENS,
  },
  changes: { "a write that changes nothing makes no record": "makes a MODIFY of two equal images" },
};
const ministack = { transactions: {}, changes: {} };

describe.each([
  { name: "moto", start: startMoto, asked: oneAtATime, differences: moto, alone: true },
  {
    name: "ministack",
    start: startMinistack,
    asked: () => true,
    differences: ministack,
    alone: false,
  },
])("$name", ({ start, asked, differences, alone }) => {
  const server = during(start);
  let table: TableSubject;
  beforeAll(async () => {
    table = await createRecordsTable(server().url);
  });

  conform(singleWrites.filter(asked), () => table);
  conform(transactionScenarios.filter(asked), () => table, differences.transactions, { alone });
  conform(
    changeScenarios,
    async () => {
      const tableName = `stream-${randomUUID()}`;
      const subject = await createRecordsTable(server().url, tableName, {
        StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
      });
      return { ...subject, records: () => readStream(server().url, tableName) };
    },
    differences.changes,
    { alone },
  );
});
