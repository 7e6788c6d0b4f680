// AWS's JSON protocol: `X-Amz-Target: Service.Operation` and a JSON body.
import type { IncomingHttpHeaders } from "node:http";

import type { HttpRequest, Reply } from "./http-exchange.ts";

export type Call = {
  operation: string;
  input: Record<string, unknown>;
  headers: IncomingHttpHeaders;
  body: Buffer;
};

const HEADERS = { "content-type": "application/x-amz-json-1.0" };

/** An error in AWS's JSON protocol; `code` may carry the service's namespace, as in `space#Code`, and
 * `more` joins the message. */
export function errorReply(status: number, code: string, message: string, more?: object): Reply {
  const body = { __type: code, ...(message && { message }), ...more };
  return { status, headers: HEADERS, body: JSON.stringify(body) };
}

/** A 200 answer in AWS's JSON protocol. */
export function okReply(output: unknown): Reply {
  return { status: 200, headers: HEADERS, body: JSON.stringify(output) };
}

/** Reads a request, `undefined` when its body is not a JSON object. */
export function readCall({ headers, body }: HttpRequest): Call | undefined {
  const operation = String(headers["x-amz-target"] ?? "").replace(/^.*\./, "");
  try {
    const input: unknown = JSON.parse(body.toString());
    if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
    return { operation, input: input as Record<string, unknown>, headers, body };
  } catch {
    return undefined;
  }
}

/** The error code of an answer that is not a 200, without its namespace. */
export function errorCode(reply: Reply): string {
  const { __type: type } = JSON.parse(reply.body) as { __type?: string };
  return type?.replace(/^.*#/, "") ?? `HTTP ${reply.status}`;
}
