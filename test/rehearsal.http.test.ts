import { get } from "node:http";

import type { SQSEvent } from "aws-lambda";
import { expect, test } from "vitest";

import { rehearse } from "../lib/rehearsal.http.ts";

test("the stand-in is gone when the rehearsal is over", async () => {
  let address = new URL("http://localhost");

  await rehearse((standIn) => {
    address = standIn;
    return async () => ({ batchItemFailures: [] });
  }, 1_000);

  expect(address.hostname).toBe("127.0.0.1");
  const error = await new Promise((resolve) => get(address).once("error", resolve));
  expect(error).toMatchObject({ code: "ECONNREFUSED" });
});

test("a rehearsal in which a message is not acknowledged is an error", async () => {
  const refuseAll = async ({ Records }: SQSEvent) => ({
    batchItemFailures: Records.map(({ messageId }) => ({ itemIdentifier: messageId })),
  });

  await expect(rehearse(() => refuseAll, 1_000)).rejects.toThrow("was not acknowledged");
});

test("a rehearsal that hangs ends with an error after its time", async () => {
  await expect(rehearse(() => () => new Promise(() => {}), 20)).rejects.toThrow(
    "not done after 20 ms",
  );
});
