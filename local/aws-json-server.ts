// A local AWS service: the HTTP front, with a log of what it was asked.
import { errorCode, errorReply, readCall } from "./aws-json.ts";
import type { Call } from "./aws-json.ts";
import type { Phase } from "./faults.ts";
import type { Reply } from "./http-exchange.ts";
import { startHttpServer } from "./http-server.ts";
import type { HttpServer, Listening } from "./http-server.ts";

/** One request as the server saw it. */
export type Seen<Details> = Details & {
  operation: string;
  /** When it arrived, ms since the epoch. */
  atMs: number;
  /** `ok`, the AWS error code that was answered, `dropped` when it was not applied, `pending` until then. */
  result: string;
};

/** Answered with this error and not applied. */
export type Refuse = { kind: "refuse"; status: number; code: string; message: string };

export type AwsJsonServer<Details, Own = never> = HttpServer<Seen<Details>, Refuse | Own> & {
  /** The newest requests, oldest first; older ones are let go, so that a soak can run for hours. */
  requests: () => readonly Seen<Details>[];
  /** How many requests there were of each operation; exact. */
  counts: () => Record<string, number>;
};

const REQUESTS_KEPT = 10_000;

type Options<Details, Own> = Listening & {
  /** What a browser at `/` reads. */
  about?: string;
  now: () => number;
  /** Called with each request when it is over, a dropped one too. */
  onEnd?: ((seen: Seen<Details>) => void) | undefined;
  /** What the log and the faults need to know of a request, from its input. */
  describe: (operation: string, input: Record<string, unknown>) => Details;
  /** Applies a request; may add to `seen`. `injected` are the service's own faults that happen to it. */
  answer: (call: Call, seen: Seen<Details>, injected: readonly Own[]) => Reply | Promise<Reply>;
};

/** @throws when the port is taken */
export async function startAwsJsonServer<
  Details extends object,
  Own extends { kind: string } = never,
>(options: Options<Details, Own>): Promise<AwsJsonServer<Details, Own>> {
  const { port, host, tls, now, about, describe, answer, onEnd = () => {} } = options;
  let log: Seen<Details>[] = [];
  const counts: Record<string, number> = {};

  const server = await startHttpServer<Seen<Details>, Refuse | Own>({
    port,
    host,
    tls,
    about,
    onEnd,
    phaseOfOwn: (fault): Phase => (isRefuse(fault) ? "arriving" : "received"),
    read(request) {
      const call = readCall(request);
      if (!call) {
        return errorReply(400, "SerializationException", "The body is not a JSON object.");
      }
      const { operation, input } = call;
      const details = describe(operation, input);
      const seen: Seen<Details> = { ...details, operation, atMs: now(), result: "pending" };
      if (log.length >= 2 * REQUESTS_KEPT) log = log.slice(-REQUESTS_KEPT);
      log.push(seen);
      counts[operation] = (counts[operation] ?? 0) + 1;
      return {
        seen,
        onFault: (kind) => {
          if (kind === "dropBefore") seen.result = "dropped";
        },
        refuse(fault) {
          if (!isRefuse(fault)) return undefined;
          seen.result = fault.code;
          return errorReply(fault.status, fault.code, fault.message);
        },
        async apply(injected) {
          const reply = await answer(call, seen, injected as Own[]);
          seen.result = reply.status === 200 ? "ok" : errorCode(reply);
          return reply;
        },
      };
    },
  });

  return {
    ...server,
    requests: () => log,
    counts: () => ({ ...counts }),
  };
}

function isRefuse(fault: { kind: string }): fault is Refuse {
  return fault.kind === "refuse";
}
