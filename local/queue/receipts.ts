/**
 * Which receipt handles a queue has given out, and for which message. fauxqs answers "done" to any
 * handle; SQS rejects one that it never gave out for that queue.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
 */
import { okReply } from "../aws-json.ts";
import type { Call } from "../aws-json.ts";
import type { Reply } from "../http-exchange.ts";
import type { Fauxqs } from "./fauxqs.ts";
import { refusal } from "./refusal.ts";

export type Received = { MessageId: string; ReceiptHandle: string; Body: string };

type Entry = { Id: string; ReceiptHandle: string };

export type Receipts = {
  gaveOut: (queue: string, received: Received) => void;
  /** The message that the queue gave the handle out for. */
  find: (queue: string, handle: unknown) => Received | undefined;
  /** Answers a request that names receipt handles, with an error for those that the queue never gave out. */
  answer: (queue: string | undefined, call: Call) => Promise<Reply>;
};

const KEPT = 50_000;

export function createReceipts(fauxqs: Fauxqs): Receipts {
  const received = new Map<string, Received>();
  const find: Receipts["find"] = (queue, handle) => received.get(keyOf(queue, handle));

  async function answerBatch(queue: string, call: Call, entries: Entry[]): Promise<Reply> {
    const known = entries.filter(({ ReceiptHandle }) => find(queue, ReceiptHandle));
    const ids = new Set(entries.map(({ Id }) => Id));
    const malformed = entries.length > 10 || ids.size < entries.length;
    // fauxqs words the error of a batch as a whole.
    if (malformed || known.length === entries.length) return fauxqs.handle(call);

    const invalidEntries = entries
      .filter((entry) => !known.includes(entry))
      .map(({ Id, ReceiptHandle }) => ({
        Id,
        SenderFault: true,
        Code: "ReceiptHandleIsInvalid",
        Message: invalid(ReceiptHandle),
      }));
    if (known.length === 0) return okReply({ Successful: [], Failed: invalidEntries });

    const body = Buffer.from(JSON.stringify({ ...call.input, Entries: known }));
    const { "content-length": _, ...headers } = call.headers;
    const reply = await fauxqs.handle({ headers, body });
    if (reply.status !== 200) return reply;
    const { Successful, Failed } = JSON.parse(reply.body) as { Successful: []; Failed: [] };
    return okReply({ Successful, Failed: [...Failed, ...invalidEntries] });
  }

  return {
    gaveOut(queue, message) {
      received.set(keyOf(queue, message.ReceiptHandle), message);
      // The oldest is long past its visibility timeout.
      const [oldest = ""] = received.size > KEPT ? received.keys() : [];
      received.delete(oldest);
    },
    find,
    async answer(queue, call) {
      // fauxqs words the error of a request that names no queue.
      if (queue === undefined) return fauxqs.handle(call);
      const { Entries, ReceiptHandle } = call.input as {
        Entries?: Entry[];
        ReceiptHandle?: string;
      };
      if (Entries) return answerBatch(queue, call, Entries);
      if (ReceiptHandle && !find(queue, ReceiptHandle)) {
        return refusal("ReceiptHandleIsInvalid", invalid(ReceiptHandle));
      }
      return fauxqs.handle(call);
    },
  };
}

function keyOf(queue: string, handle: unknown): string {
  return `${queue} ${String(handle)}`;
}

function invalid(handle: string): string {
  return `The input receipt handle "${handle}" is not a valid receipt handle.`;
}
