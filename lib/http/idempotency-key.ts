// The client's Idempotency-Key, which becomes the message id.
// https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/ (expired in 2026)

import type { Problem } from "./response.ts";

/**
 * Reads one key: quoted, as the draft has it, or bare, as clients send it. A comma in a bare value is
 * how API Gateway joins two headers, so a key that holds one has to be quoted.
 *
 * `caller` is put in front of it, so that two callers cannot meet in one key.
 */
export function readMessageId(
  header: string | undefined,
  caller?: string,
): { id: string } | { problem: Problem; detail?: string } {
  const value = header?.trim();
  if (!value) return { problem: "idempotency-key-missing" };
  const key = value.startsWith('"') ? unquote(value) : value.includes(",") ? undefined : value;
  if (key === undefined) {
    return {
      problem: "idempotency-key-invalid",
      detail: "Send exactly one key; put one that holds a comma in double quotes.",
    };
  }
  const id = caller === undefined ? key : `${caller}/${key}`;
  if (/^[\x21-\x7e]{1,255}$/.test(key) && id.length <= 255) return { id };
  return {
    problem: "idempotency-key-invalid",
    detail: `A key is 1 to ${255 - (id.length - key.length)} printable ASCII characters without spaces.`,
  };
}

/** A structured field's string. https://www.rfc-editor.org/rfc/rfc8941#section-3.3.3 */
function unquote(value: string): string | undefined {
  const inner = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value)?.[1];
  return inner?.replaceAll(/\\(.)/g, "$1");
}
