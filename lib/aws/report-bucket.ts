// Checkpoint and reports of the reconciliation in a bucket.

import { GetObjectCommand, NoSuchKey, PutObjectCommand } from "@aws-sdk/client-s3";
import type { S3Client } from "@aws-sdk/client-s3";

import { withTimeLimit } from "../net/time-limit.ts";
import type { Reports } from "../reconcile/checkpoint.ts";

const CHECKPOINT = "checkpoint.json";

export function reportBucket(client: S3Client, Bucket: string, timeoutMs: number): Reports {
  const put = async (Key: string, content: object): Promise<void> => {
    const Body = JSON.stringify(content);
    const command = new PutObjectCommand({ Bucket, Key, Body, ContentType: "application/json" });
    await withTimeLimit(timeoutMs, (options) => client.send(command, options));
  };
  return {
    async kept() {
      try {
        const command = new GetObjectCommand({ Bucket, Key: CHECKPOINT });
        return await withTimeLimit(timeoutMs, async (options) => {
          const { Body } = await client.send(command, options);
          return parse((await Body?.transformToString()) ?? "");
        });
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined;
        throw error;
      }
    },
    keep: (checkpoint) => put(CHECKPOINT, checkpoint),
    publish: (name, report) => put(`reports/${name}`, report),
  };
}

/** What is no JSON stays text, which is no checkpoint. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
