// The shapes a message comes in. Brokers wrap a sender's message and mint ids of their own; the
// identity of the operation is the one inside.

import { invalid } from "./invalid.ts";
import type { Violation } from "./invalid.ts";
import { isObject, parseObject, plainDigits } from "./json.ts";
import type { JsonObject } from "./json.ts";

type Found = { value: unknown; field: string };

/** The sender's message, unwrapped but not yet validated. */
export type Envelope = {
  id: Found;
  /** An RFC 3339 string, or for BabelQueue a number of epoch ms. */
  sentAt: Found & { unit: "rfc3339" | "epoch-ms" };
  payment: Found;
  traceId: unknown;
  /** The sender's whole message without any broker's wrapping. */
  whole: JsonObject;
};

type Unwrapped = Envelope | { violation: Violation };

const MAX_LAYERS = 3;

/**
 * Finds the sender's message in a queue's body: plain JSON, CloudEvents 1.0, a BabelQueue v1
 * envelope, or any of them inside an SNS notification or an EventBridge event. `schemaVersion` is
 * BabelQueue's message attribute, which is checked before the body is read: a later version may
 * put something else where this one has the amount.
 */
export function unwrap(body: string, schemaVersion: string | undefined): Unwrapped {
  if (hasText(schemaVersion) && schemaVersion !== "1") {
    return invalid("bq-schema-version", "schema_version");
  }
  const parsed = parseObject(body);
  return "rule" in parsed ? invalid("body", parsed.rule) : unwrapObject(parsed.object, "", 0);
}

function unwrapObject(object: JsonObject, prefix: string, layers: number): Unwrapped {
  if (layers > MAX_LAYERS) return invalid(prefix.slice(0, -1), "wrapping");

  // https://docs.aws.amazon.com/sns/latest/dg/sns-message-and-json-formats.html
  if (object["Type"] === "Notification") {
    const text = object["Message"];
    const field = `${prefix}Message`;
    if (typeof text !== "string") return invalid(field, "body_json");
    const parsed = parseObject(text);
    if ("rule" in parsed) return invalid(field, parsed.rule);
    return unwrapObject(parsed.object, `${field}.`, layers + 1);
  }
  // https://docs.aws.amazon.com/eventbridge/latest/ref/overiew-event-structure.html
  if ("detail-type" in object) {
    const inner = object["detail"];
    if (!isObject(inner)) return invalid(`${prefix}detail`, "body_json");
    return unwrapObject(inner, `${prefix}detail.`, layers + 1);
  }
  if ("specversion" in object) return cloudEvent(object, prefix);
  if (("job" in object || "urn" in object) && "meta" in object) return babelQueue(object, prefix);
  return plain(object, prefix);
}

function plain(object: JsonObject, prefix: string): Unwrapped {
  const { id, createdAt, ...payment } = object;
  return {
    id: { value: id, field: `${prefix}id` },
    sentAt: { value: createdAt, field: `${prefix}createdAt`, unit: "rfc3339" },
    payment: { value: payment, field: prefix },
    traceId: undefined,
    whole: object,
  };
}

// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
function cloudEvent(object: JsonObject, prefix: string): Unwrapped {
  if (object["specversion"] !== "1.0") {
    return invalid(`${prefix}specversion`, "cloudevents_version");
  }
  if ("data_base64" in object) return invalid(`${prefix}data_base64`, "cloudevents_data");
  return {
    id: { value: object["id"], field: `${prefix}id` },
    sentAt: { value: object["time"], field: `${prefix}time`, unit: "rfc3339" },
    payment: { value: object["data"], field: `${prefix}data.` },
    traceId: object["traceparent"],
    whole: object,
  };
}

// BabelQueue's frozen v1 envelope {job, trace_id, data, meta, attempts}; a consumer accepts `urn`
// for `job`, and rejects a message with neither and a schema version that it does not know.
// https://github.com/BabelQueue/conformance
function babelQueue(object: JsonObject, prefix: string): Unwrapped {
  if (!hasText(object["job"]) && !hasText(object["urn"])) return invalid(`${prefix}job`, "job");
  const meta = isObject(object["meta"]) ? object["meta"] : {};
  if (plainDigits(meta["schema_version"]) !== "1") {
    return invalid(`${prefix}meta.schema_version`, "schema_version");
  }
  return {
    id: { value: meta["id"], field: `${prefix}meta.id` },
    sentAt: { value: meta["created_at"], field: `${prefix}meta.created_at`, unit: "epoch-ms" },
    payment: { value: object["data"], field: `${prefix}data.` },
    traceId: object["trace_id"],
    whole: object,
  };
}

// BabelQueue's blank is ASCII's: a no-break space is text. A thousand blanks are no name either.
const hasText = (value: unknown): boolean =>
  typeof value === "string" && /[^ \t\n\v\f\r]/.test(value.slice(0, 1_000));
