/** dynalite in this process, in memory, without a socket of its own. */
import { Readable } from "node:stream";

import dynalite from "dynalite";

import type { Reply } from "../aws-json.ts";
import { teachOldItem } from "./old-item.ts";
import type { Item } from "./plain-item.ts";

export type Dynalite = {
  /** Answers a request that came over HTTP. */
  handle: (headers: Record<string, unknown>, body: Buffer) => Promise<Reply>;
  /** Runs an operation that no client asked for; @throws when it is refused. */
  call: <Output>(operation: string, input: unknown) => Promise<Output>;
  /** As `call`, but resolves with the refusal, or with `undefined` when it was done. */
  refusal: (operation: string, input: unknown) => Promise<Reply | undefined>;
  /** Every item of a table. */
  scanAll: (table: string) => Promise<Item[]>;
};

/** Any well-formed signature will do: dynalite checks that there is one, not what it is. */
const SIGNED = {
  "content-type": "application/x-amz-json-1.0",
  "x-amz-date": "20260101T000000Z",
  authorization:
    "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
};

export function createDynalite(): Dynalite {
  teachOldItem();
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0 });

  function handle(headers: Record<string, unknown>, body: Buffer): Promise<Reply> {
    return new Promise((resolve) => {
      const answered: Record<string, string> = {};
      const request = Object.assign(Readable.from([body]), { method: "POST", url: "/", headers });
      const response = {
        statusCode: 200,
        setHeader(name: string, value: unknown) {
          answered[name.toLowerCase()] = String(value);
        },
        end(text: string) {
          resolve({ status: response.statusCode, headers: answered, body: text });
        },
      };
      server.emit("request", request, response);
    });
  }

  function run(operation: string, input: unknown): Promise<Reply> {
    const headers = { ...SIGNED, "x-amz-target": `DynamoDB_20120810.${operation}` };
    return handle(headers, Buffer.from(JSON.stringify(input)));
  }

  async function call<Output>(operation: string, input: unknown): Promise<Output> {
    const reply = await run(operation, input);
    if (reply.status !== 200) throw new Error(`${operation} was refused: ${reply.body}`);
    return JSON.parse(reply.body) as Output;
  }

  return {
    handle,
    call,
    async refusal(operation, input) {
      const reply = await run(operation, input);
      return reply.status === 200 ? undefined : reply;
    },
    async scanAll(table) {
      type Page = { Items: Item[]; LastEvaluatedKey?: Item };
      const items: Item[] = [];
      let from: Item | undefined;
      do {
        const page: Page = await call("Scan", {
          TableName: table,
          ConsistentRead: true,
          ...(from && { ExclusiveStartKey: from }),
        });
        items.push(...page.Items);
        from = page.LastEvaluatedKey;
      } while (from);
      return items;
    },
  };
}
