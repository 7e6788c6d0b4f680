// A function behind HTTP: a function URL or an HTTP API, whose requests it gets as payload 2.0.
// https://docs.aws.amazon.com/lambda/latest/dg/urls-invocation.html
import { randomUUID } from "node:crypto";

import type { LambdaFunction } from "../function-host/function.ts";
import type { InvocationResult } from "../function-host/invocation.ts";
import type { HttpRequest, Reply } from "../http-exchange.ts";
import { startHttpServer } from "../http-server.ts";
import type { HttpServer, Listening } from "../http-server.ts";

/** What the faults know of a request. */
export type UrlRequest = { method: string; path: string };

export type FunctionUrl = HttpServer<UrlRequest, never>;

/**
 * @param base64 whether bodies reach the function encoded, as AWS may send them
 * @throws when the port is taken
 */
export async function startFunctionUrl(
  invoke: LambdaFunction["invoke"],
  {
    base64 = false,
    onAnswer,
    ...listening
  }: Listening & { base64?: boolean; onAnswer?: (status: number) => void } = {},
): Promise<FunctionUrl> {
  return startHttpServer<UrlRequest>({
    ...listening,
    read(request) {
      const [path = "/"] = request.url.split("?", 1);
      return {
        seen: { method: request.method, path },
        apply: async () => replyOf(await invoke(eventOf(request, base64))),
        onReply: ({ status }) => onAnswer?.(status),
      };
    },
  });
}

function eventOf({ method, url, headers, body }: HttpRequest, base64: boolean): object {
  const [path = "/", query = ""] = url.split("?", 2);
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    // Lower case, and a repeated one joined by commas, as AWS does.
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(",") : value,
      ]),
    ),
    requestContext: {
      accountId: "000000000000",
      apiId: "local",
      domainName: "localhost",
      domainPrefix: "local",
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" },
      requestId: randomUUID(),
      routeKey: "$default",
      stage: "$default",
      time: new Date().toUTCString(),
      timeEpoch: Date.now(),
    },
    ...(body.length > 0 && { body: body.toString(base64 ? "base64" : "utf8") }),
    isBase64Encoded: base64,
  };
}

/** What a function answered; one that failed is a 502, as AWS says, and a throttled one a 429. */
function replyOf(result: InvocationResult): Reply {
  if (!result.ok && result.reason === "throttle") {
    return { status: 429, headers: {}, body: '{"Reason":"ConcurrentInvocationLimitExceeded"}' };
  }
  if (!result.ok) return { status: 502, headers: {}, body: '{"message":"Internal Server Error"}' };
  const answer = JSON.parse(result.payload) as {
    statusCode?: number;
    headers?: Record<string, string>;
    body?: string;
    isBase64Encoded?: boolean;
  };
  const { statusCode = 200, headers = {}, body = "", isBase64Encoded } = answer;
  return {
    status: statusCode,
    headers,
    body: isBase64Encoded ? Buffer.from(body, "base64").toString() : body,
  };
}
