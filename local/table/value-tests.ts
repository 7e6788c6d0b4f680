// What the functions of conditions ask of one value.

import { bytesOf, equal } from "./attribute-value.ts";
import type { AttributeValue } from "./attribute-value.ts";

export function beginsWith(value: AttributeValue, prefix: AttributeValue): boolean {
  if (value.S !== undefined) return prefix.S !== undefined && value.S.startsWith(prefix.S);
  if (value.B === undefined || prefix.B === undefined) return false;
  const [bytes, start] = [bytesOf(value.B), bytesOf(prefix.B)];
  return bytes.subarray(0, start.length).equals(start);
}

export function contains(value: AttributeValue, part: AttributeValue): boolean {
  if (value.S !== undefined) return part.S !== undefined && value.S.includes(part.S);
  if (value.B !== undefined)
    return part.B !== undefined && bytesOf(value.B).includes(bytesOf(part.B));
  if (value.SS) return part.S !== undefined && value.SS.includes(part.S);
  if (value.NS) return part.N !== undefined && value.NS.includes(part.N);
  if (value.BS) return part.B !== undefined && value.BS.includes(part.B);
  return value.L?.some((element) => equal(element, part)) ?? false;
}

/** Characters, bytes or elements; a number and the like have no size. */
export function sizeOf(value: AttributeValue | undefined): AttributeValue | undefined {
  if (!value) return undefined;
  const { S, B, SS, NS, BS, L, M } = value;
  const sized = S ?? (B && bytesOf(B)) ?? SS ?? NS ?? BS ?? L ?? (M && Object.keys(M));
  return sized === undefined ? undefined : { N: String(sized.length) };
}
