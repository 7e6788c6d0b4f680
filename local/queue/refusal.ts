/** Errors as SQS sends them. */
import { errorReply } from "../aws-json.ts";
import type { Reply } from "../http-exchange.ts";

/** SQS moved from the query protocol to JSON: clients read the old error code from a header. */
export function refusal(code: string, message: string, status = 400): Reply {
  const reply = errorReply(status, `com.amazonaws.sqs#${code}`, message);
  return { ...reply, headers: { ...reply.headers, "x-amzn-query-error": `${code};Sender` } };
}
