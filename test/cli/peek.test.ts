import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { expect, test } from "vitest";

import { peekAt } from "../../cli/queue/peek.ts";
import { startedQueue } from "../local/aws-fixture.ts";

/** A dead-letter queue with 25 messages. */
async function prepare() {
  const { queue, dlqUrl, client: sqs } = await startedQueue();
  for (const ten of [10, 10, 5]) {
    const Entries = Array.from({ length: ten }, (_, n) => ({ Id: String(n), MessageBody: "x" }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: dlqUrl, Entries }));
  }
  const peek = (visit: Parameters<typeof peekAt>[4], signal = new AbortController().signal) =>
    peekAt(sqs, dlqUrl, { messages: 25 }, signal, visit);
  return { peek, depth: () => queue.depth(dlqUrl) };
}

const nothing = { disposed: new Set<string>(), enough: false };

const ALL = { visible: 25, inFlight: 0, delayed: 0 };

test("a peek sees every message once and gives all of them back", async () => {
  const { peek, depth } = await prepare();
  const seen: string[] = [];

  const result = await peek(async (batch) => {
    seen.push(...batch.map(({ sqsMessageId }) => sqsMessageId));
    return nothing;
  });

  expect(result).toEqual({ complete: true, notGivenBack: 0, hiddenSeconds: 121 });
  expect([seen.length, new Set(seen).size]).toEqual([25, 25]);
  expect(await depth()).toEqual(ALL);
});

test("an interrupted peek gives back what it had received", async () => {
  const { peek, depth } = await prepare();
  const interrupted = new AbortController();

  const result = await peek(async () => {
    interrupted.abort();
    return nothing;
  }, interrupted.signal);

  expect(result).toMatchObject({ complete: false, notGivenBack: 0 });
  expect(await depth()).toEqual(ALL);
});

test("a peek that fails gives back what it had received before it says so", async () => {
  const { peek, depth } = await prepare();

  const looking = peek(() => Promise.reject(new Error("no table")));

  await expect(looking).rejects.toThrow("no table");
  expect(await depth()).toEqual(ALL);
});

test("what was disposed of is not given back", async () => {
  const { peek, depth } = await prepare();
  let first: string | undefined;

  await peek(async (batch) => {
    if (first !== undefined) return nothing;
    first = batch[0]?.sqsMessageId ?? "";
    return { disposed: new Set([first]), enough: false };
  });

  expect(await depth()).toEqual({ visible: 24, inFlight: 1, delayed: 0 });
});
