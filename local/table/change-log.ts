// What happened to a table's items, oldest first: the records of its stream.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html

import { equalItems } from "./attribute-value.ts";
import type { Item } from "./attribute-value.ts";
import { itemBytes } from "./item.ts";

/** A record as Lambda receives it, but for the ARN of the stream. */
export type Change = {
  eventID: string;
  eventName: "INSERT" | "MODIFY" | "REMOVE";
  eventVersion: "1.1";
  eventSource: "aws:dynamodb";
  awsRegion: string;
  dynamodb: {
    /** Epoch seconds. */
    ApproximateCreationDateTime: number;
    Keys: Item;
    OldImage?: Item;
    NewImage?: Item;
    SequenceNumber: string;
    SizeBytes: number;
    StreamViewType: "NEW_AND_OLD_IMAGES";
  };
  /** Only when TTL deleted the item. */
  userIdentity?: { type: "Service"; principalId: "dynamodb.amazonaws.com" };
};

export type ChangeLog = {
  /** The changes after that sequence number, oldest first; from the oldest kept one without it. */
  after: (sequenceNumber: string | undefined, limit?: number) => readonly Change[];
  /** Called with each change once it is made. @returns what ends it */
  subscribe: (listener: (change: Change) => void) => () => void;
  /** Makes those that are kept so much older. @returns how many */
  age: (byMs: number) => number;
};

/** Takes every write: what changes nothing makes no record. */
export type RecordChange = (change: {
  keys: Item;
  before: Item | undefined;
  after: Item | undefined;
  byTimeToLive?: boolean;
}) => void;

/** DynamoDB keeps them for 24 hours; a laptop would run out of room first. */
const MOST_KEPT = 100_000;
/** Sequence numbers are strings of digits that grow, and so do these: all are of one length. */
const FIRST = 100_000_000_000_000_000_000n;

export function createChangeLog(now: () => number): { log: ChangeLog; record: RecordChange } {
  let kept: Change[] = [];
  let trimmed = 0;
  const listeners = new Set<(change: Change) => void>();

  function record({ keys, before, after, byTimeToLive }: Parameters<RecordChange>[0]): void {
    if (equalItems(before, after)) return;
    const sequenceNumber = String(FIRST + BigInt(trimmed + kept.length));
    const change: Change = {
      eventID: sequenceNumber,
      eventName: before ? (after ? "MODIFY" : "REMOVE") : "INSERT",
      eventVersion: "1.1",
      eventSource: "aws:dynamodb",
      awsRegion: "us-east-1",
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(now() / 1000),
        Keys: keys,
        ...(before && { OldImage: before }),
        ...(after && { NewImage: after }),
        SequenceNumber: sequenceNumber,
        SizeBytes: itemBytes(keys) + itemBytes(before ?? {}) + itemBytes(after ?? {}),
        StreamViewType: "NEW_AND_OLD_IMAGES",
      },
      ...(byTimeToLive && {
        userIdentity: { type: "Service", principalId: "dynamodb.amazonaws.com" },
      }),
    };
    kept.push(change);
    // Half at a time: moving all of them for every change would take as long as they are many.
    if (kept.length > 2 * MOST_KEPT) {
      trimmed += kept.length - MOST_KEPT;
      kept = kept.slice(-MOST_KEPT);
    }
    for (const listener of listeners) listener(change);
  }

  return {
    record,
    log: {
      after(sequenceNumber, limit = Infinity) {
        const from =
          sequenceNumber === undefined ? 0 : Number(BigInt(sequenceNumber) - FIRST) + 1 - trimmed;
        const start = Math.max(0, from);
        return kept.slice(start, start + limit);
      },
      subscribe(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      age(byMs) {
        for (const { dynamodb } of kept) dynamodb.ApproximateCreationDateTime -= byMs / 1_000;
        return kept.length;
      },
    },
  };
}
