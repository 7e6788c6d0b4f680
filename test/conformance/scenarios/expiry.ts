// What DynamoDB's TTL may delete, and what it leaves for ever.

import { PutCommand } from "@aws-sdk/lib-dynamodb";
import { expect } from "vitest";

import type { Scenario } from "../conform.ts";
import { item } from "./table.ts";
import type { TableSubject } from "./table.ts";

export type ExpirySubject = TableSubject & {
  /** Deletes what may be deleted at that time, in epoch seconds. */
  deleteExpired: (nowSeconds: number) => Promise<unknown>;
};

const NOW_SECONDS = 1_795_980_729;
const SOURCE =
  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html";

const expiry = (name: string, messageId: string, expiresAt: unknown, stays: boolean) => ({
  name,
  source: SOURCE,
  async run(table: ExpirySubject): Promise<void> {
    const Item = { messageId, ...(expiresAt !== undefined && { expiresAt }) };
    await table.client.send(new PutCommand({ TableName: table.tableName, Item }));

    await table.deleteExpired(NOW_SECONDS);

    expect(await item(table, messageId)).toEqual(stays ? Item : undefined);
  },
});

export const expiryScenarios: readonly Scenario<ExpirySubject>[] = [
  expiry("a time in seconds that has passed deletes", "past", NOW_SECONDS - 1, false),
  expiry("a time in seconds that is to come does not delete", "ahead", NOW_SECONDS + 60, true),
  expiry("a time in milliseconds never deletes", "ms", (NOW_SECONDS - 1) * 1_000, true),
  expiry("a time written as a text never deletes", "text", String(NOW_SECONDS - 1), true),
  expiry("an item without a time is never deleted", "none", undefined, true),
  expiry("a time more than five years ago does not delete", "old", 1_500_000_000, true),
];
