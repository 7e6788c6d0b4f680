// The message id in a body, whatever its shape.

/** The longest that a message id may be; what is longer is not one. */
const LONGEST = 255;

/** Undefined where there is none. */
export function idIn(body: string, depth = 0): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  const message = value as Record<string, unknown> | null;
  if (typeof message !== "object" || message === null || depth > 3) return undefined;
  const inner = message["Type"] === "Notification" ? message["Message"] : message["detail"];
  if (inner !== undefined)
    return idIn(typeof inner === "string" ? inner : JSON.stringify(inner), depth + 1);
  const meta = message["meta"] as Record<string, unknown> | undefined;
  // An outcome event names its payment as the subject, one of Stripe's in the metadata.
  const data = message["data"] as { object?: { metadata?: Record<string, unknown> } } | undefined;
  // The key of a stream's record is typed.
  const key = message["messageId"] as { S?: unknown } | undefined;
  const id =
    message["subject"] ??
    data?.object?.metadata?.["message_id"] ??
    meta?.["id"] ??
    key?.S ??
    message["id"];
  return typeof id === "string" && id.length <= LONGEST ? id : undefined;
}
