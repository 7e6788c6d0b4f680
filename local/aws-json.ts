/** AWS's JSON protocol: `X-Amz-Target: Service.Operation` and a JSON body. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";

export type Reply = { status: number; headers: Record<string, string>; body: string };

export type Call = {
  operation: string;
  input: Record<string, unknown>;
  headers: IncomingHttpHeaders;
  body: Buffer;
};

/** An error in AWS's JSON protocol; `code` may carry the service's namespace, as in `space#Code`, and
 * `more` joins the message. */
export function errorReply(status: number, code: string, message: string, more?: object): Reply {
  return {
    status,
    headers: { "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify({ __type: code, ...(message && { message }), ...more }),
  };
}

/** A 200 answer in AWS's JSON protocol. */
export function okReply(output: unknown): Reply {
  return {
    status: 200,
    headers: { "content-type": "application/x-amz-json-1.0" },
    body: JSON.stringify(output),
  };
}

/** Reads a request, `undefined` when its body is not a JSON object. */
export async function readCall(request: IncomingMessage): Promise<Call | undefined> {
  const body = await buffer(request);
  const operation = String(request.headers["x-amz-target"] ?? "").replace(/^.*\./, "");
  try {
    const input: unknown = JSON.parse(body.toString());
    if (typeof input !== "object" || input === null || Array.isArray(input)) return undefined;
    return { operation, input: input as Record<string, unknown>, headers: request.headers, body };
  } catch {
    return undefined;
  }
}

/** The error code of an answer that is not a 200, without its namespace. */
export function errorCode(reply: Reply): string {
  const { __type: type } = JSON.parse(reply.body) as { __type?: string };
  return type?.replace(/^.*#/, "") ?? `HTTP ${reply.status}`;
}

export function sendReply(response: ServerResponse, reply: Reply): void {
  response.writeHead(reply.status, headersOf(reply));
  response.end(reply.body);
}

/** The headers to send with the reply. */
export function headersOf(reply: Reply): Record<string, string | number> {
  return { ...reply.headers, "content-length": Buffer.byteLength(reply.body) };
}
