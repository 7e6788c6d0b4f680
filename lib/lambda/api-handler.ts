// The HTTP API: POST /payments and GET /payments/{id}, behind API Gateway's payload 2.0.

import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from "aws-lambda";

import { acceptPayment } from "../http/accept-payment.ts";
import type { DoorDeps } from "../http/accept-payment.ts";
import { paymentStatus } from "../http/payment-status.ts";
import { json, problem } from "../http/response.ts";
import type { HttpResponse } from "../http/response.ts";
import { TableError } from "../payments/claim.ts";
import type { IdempotencyRecord } from "../payments/record.ts";
import { count, embedMetrics } from "./emf.ts";
import type { LogLine } from "./emf.ts";

export type ApiDeps = DoorDeps & {
  read: (messageId: string) => Promise<IdempotencyRecord | undefined>;
  functionName: string;
  write: (line: LogLine) => void;
};

export function createApiHandler(deps: ApiDeps) {
  const { functionName, now, write } = deps;
  return async (event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> => {
    const { cause, ...response } = await respond(event, deps);
    const { statusCode, headers } = response;
    const metric = statusCode < 300 ? "Accepted" : statusCode < 500 ? "NotAccepted" : "Unavailable";
    const { method } = event.requestContext.http;
    write({
      timestamp: new Date(now()).toISOString(),
      level: statusCode < 500 ? "INFO" : "ERROR",
      message: `${method} ${statusCode}`,
      statusCode,
      // By name only: an error's text may quote the payment.
      ...(cause instanceof Error && {
        code: cause instanceof TableError ? cause.code : cause.name,
      }),
      replayed: headers["idempotent-replayed"] === "true" || undefined,
      requestId: event.requestContext.requestId,
      ...embedMetrics(method === "POST" ? [count(metric)] : [], functionName, now()),
    });
    return response;
  };
}

async function respond(event: APIGatewayProxyEventV2, deps: ApiDeps): Promise<HttpResponse> {
  const { method } = event.requestContext.http;
  const caller = callerOf(event);
  if (event.rawPath === "/payments") {
    if (method !== "POST") return problem("method-not-allowed", undefined, { allow: "POST" });
    const body = event.isBase64Encoded
      ? Buffer.from(event.body ?? "", "base64").toString()
      : (event.body ?? "");
    const request = { headers: event.headers, body, ...(caller !== undefined && { caller }) };
    return acceptPayment(request, deps);
  }
  const id = idOf(event.rawPath);
  if (id === undefined) return problem("not-found");
  if (method !== "GET") return problem("method-not-allowed", undefined, { allow: "GET" });
  try {
    const record = await deps.read(caller === undefined ? id : `${caller}/${id}`);
    return record ? json(200, paymentStatus(id, record)) : problem("not-found");
  } catch (cause) {
    return { ...problem("unavailable", undefined, { "retry-after": "5" }), cause };
  }
}

/**
 * The subject of the JWT, when the API asks for one: keys are the caller's own then. Encoded, so that no
 * subject can hold the slash that ends it.
 */
function callerOf(event: APIGatewayProxyEventV2): string | undefined {
  const { authorizer } = event.requestContext as {
    authorizer?: { jwt?: { claims?: { sub?: unknown } } };
  };
  const subject = authorizer?.jwt?.claims?.sub;
  return typeof subject === "string" ? encodeURIComponent(subject) : undefined;
}

function idOf(path: string): string | undefined {
  const encoded = /^\/payments\/([^/]+)$/.exec(path)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}
