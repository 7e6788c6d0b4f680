import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import { expect, onTestFinished, test } from "vitest";

import { peekAt } from "../../cli/queue/peek.ts";
import { startQueue } from "../../local/queue/server.ts";

/** A dead-letter queue with 25 messages. */
async function prepare() {
  const queue = await startQueue();
  const { dlqUrl } = await queue.createQueues({
    name: "payments",
    visibilityTimeoutSeconds: 30,
    maxReceiveCount: 5,
  });
  const sqs = new SQSClient({
    endpoint: queue.url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  onTestFinished(async () => {
    sqs.destroy();
    await queue.stop();
  });
  for (const ten of [10, 10, 5]) {
    const Entries = Array.from({ length: ten }, (_, n) => ({ Id: String(n), MessageBody: "x" }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: dlqUrl, Entries }));
  }
  return { queue, dlqUrl, sqs };
}

const nothing = { disposed: new Set<string>(), enough: false };

test("a peek sees every message once and gives all of them back", async () => {
  const { queue, dlqUrl, sqs } = await prepare();
  const seen: string[] = [];

  const peek = await peekAt(
    sqs,
    dlqUrl,
    { messages: 25 },
    new AbortController().signal,
    async (batch) => {
      seen.push(...batch.map(({ sqsMessageId }) => sqsMessageId));
      return nothing;
    },
  );

  expect(peek).toEqual({ complete: true, notGivenBack: 0, hiddenSeconds: 121 });
  expect([seen.length, new Set(seen).size]).toEqual([25, 25]);
  expect(await queue.depth(dlqUrl)).toEqual({ visible: 25, inFlight: 0, delayed: 0 });
});

test("an interrupted peek gives back what it had received", async () => {
  const { queue, dlqUrl, sqs } = await prepare();
  const interrupted = new AbortController();

  const peek = await peekAt(sqs, dlqUrl, { messages: 25 }, interrupted.signal, async () => {
    interrupted.abort();
    return nothing;
  });

  expect(peek).toMatchObject({ complete: false, notGivenBack: 0 });
  expect(await queue.depth(dlqUrl)).toEqual({ visible: 25, inFlight: 0, delayed: 0 });
});

test("a peek that fails gives back what it had received before it says so", async () => {
  const { queue, dlqUrl, sqs } = await prepare();

  const looking = peekAt(sqs, dlqUrl, { messages: 25 }, new AbortController().signal, async () => {
    throw new Error("no table");
  });

  await expect(looking).rejects.toThrow("no table");
  expect(await queue.depth(dlqUrl)).toEqual({ visible: 25, inFlight: 0, delayed: 0 });
});

test("what was disposed of is not given back", async () => {
  const { dlqUrl, sqs, queue } = await prepare();
  let first: string | undefined;

  await peekAt(sqs, dlqUrl, { messages: 25 }, new AbortController().signal, async (batch) => {
    if (first !== undefined) return nothing;
    first = batch[0]?.sqsMessageId ?? "";
    return { disposed: new Set([first]), enough: false };
  });

  expect(await queue.depth(dlqUrl)).toEqual({ visible: 24, inFlight: 1, delayed: 0 });
});
