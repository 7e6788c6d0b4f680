/** Time to live, which dynalite lacks: the two calls, and the deleter that AWS runs in the background. */
import { errorReply, okReply } from "../aws-json.ts";
import type { Reply } from "../aws-json.ts";
import type { Dynalite } from "./dynalite.ts";

/** DynamoDB leaves an item alone whose time is further back than this, seconds.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html */
const OLDEST_SECONDS = 5 * 365 * 24 * 3600;

type Input = Record<string, unknown>;

export type TimeToLive = {
  describe: (input: Input) => Promise<Reply>;
  update: (input: Input) => Promise<Reply>;
  /** Deletes what DynamoDB would delete at that time, in every table that has a TTL attribute. */
  deleteExpired: (nowSeconds: number) => Promise<number>;
};

export function createTimeToLive(dynalite: Dynalite): TimeToLive {
  const attributes = new Map<string, string>();

  async function describe(input: Input): Promise<Reply> {
    const missing = await dynalite.refusal("DescribeTable", { TableName: input["TableName"] });
    if (missing) return missing;
    const attribute = attributes.get(String(input["TableName"]));
    return okReply({
      TimeToLiveDescription:
        attribute === undefined
          ? { TimeToLiveStatus: "DISABLED" }
          : { TimeToLiveStatus: "ENABLED", AttributeName: attribute },
    });
  }

  /** AWS takes up to an hour to switch and refuses another change meanwhile; here it is at once. */
  async function update(input: Input): Promise<Reply> {
    const missing = await dynalite.refusal("DescribeTable", { TableName: input["TableName"] });
    if (missing) return missing;
    const table = String(input["TableName"]);
    const wanted = input["TimeToLiveSpecification"] as
      | { AttributeName?: string; Enabled?: boolean }
      | undefined;
    if (!wanted?.AttributeName || wanted.Enabled === undefined) {
      return invalid("TimeToLiveSpecification must have AttributeName and Enabled");
    }
    const current = attributes.get(table);
    if (current === undefined && !wanted.Enabled) return invalid("TimeToLive is already disabled");
    if (current !== undefined && current !== wanted.AttributeName) {
      return invalid(
        `TimeToLive is active on a different AttributeName: current AttributeName is ${current}`,
      );
    }
    if (current !== undefined && wanted.Enabled) return invalid("TimeToLive is already enabled");
    if (wanted.Enabled) attributes.set(table, wanted.AttributeName);
    else attributes.delete(table);
    return okReply({ TimeToLiveSpecification: wanted });
  }

  async function deleteExpired(nowSeconds: number): Promise<number> {
    let deleted = 0;
    for (const [table, attribute] of attributes) {
      for (const item of await dynalite.scanAll(table)) {
        const expiry = item[attribute]?.["N"];
        if (typeof expiry !== "string") continue;
        if (Number(expiry) >= nowSeconds || Number(expiry) < nowSeconds - OLDEST_SECONDS) continue;
        // The item may have been given more time since it was scanned: then it stays.
        const refused = await dynalite.refusal("DeleteItem", {
          TableName: table,
          Key: { messageId: item["messageId"] },
          ConditionExpression: "#expiry = :seen",
          ExpressionAttributeNames: { "#expiry": attribute },
          ExpressionAttributeValues: { ":seen": { N: expiry } },
        });
        if (!refused) deleted += 1;
      }
    }
    return deleted;
  }

  return { describe, update, deleteExpired };
}

function invalid(message: string): Reply {
  return errorReply(400, "com.amazon.coral.validate#ValidationException", message);
}
