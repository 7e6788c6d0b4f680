// What may be in an item: well-formed values, 400 KB.

import { typeOf } from "./attribute-value.ts";
import type { AttributeValue, Item, Type } from "./attribute-value.ts";
import { invalid, invalidParameters } from "./errors.ts";
import { normalNumber } from "./numbers.ts";

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html */
const MOST_BYTES = 400 * 1024;

const TYPES: ReadonlySet<string> = new Set<Type>(["S", "N", "BOOL", "NULL", "L", "M"]);

/** The item of a request, its numbers in their normal form. @throws DynamoDbError when it is malformed */
export function readItem(given: unknown): Item {
  const item: Item = {};
  for (const [name, value] of Object.entries(given as Item)) item[name] = readValue(value);
  return item;
}

export function readValue(value: AttributeValue): AttributeValue {
  const types = Object.keys(value);
  const unknown = types.filter((type) => !TYPES.has(type));
  if (unknown.length > 0) {
    throw invalid(`The local table does not know values of type ${unknown.join(", ")}.`);
  }
  if (types.length !== 1) {
    throw invalid(
      `Supplied AttributeValue ${types.length === 0 ? "is empty" : "has more than one datatypes set"}, must contain exactly one of the supported datatypes`,
    );
  }
  const type = typeOf(value);
  switch (type) {
    case "N":
      return { N: normalNumber(String(value.N)) };
    case "L":
      return { L: (value.L ?? []).map(readValue) };
    case "M":
      return { M: readItem(value.M ?? {}) };
    case "NULL":
      if (value.NULL === true) return { NULL: true };
      throw invalidParameters("Null attribute value types must have the value of true");
    case "S":
    case "BOOL":
      return { [type]: value[type] };
  }
}

/** @throws DynamoDbError when the item is larger than DynamoDB keeps */
export function checkSize(item: Item, verb: string): void {
  if (itemBytes(item) > MOST_BYTES) {
    throw invalid(`Item size${verb} has exceeded the maximum allowed size`);
  }
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
export function itemBytes(item: Item): number {
  let bytes = 0;
  for (const name in item) {
    bytes += Buffer.byteLength(name) + valueBytes(item[name] as AttributeValue);
  }
  return bytes;
}

function valueBytes(value: AttributeValue): number {
  const type = typeOf(value);
  switch (type) {
    case "S":
      return Buffer.byteLength(value.S ?? "");
    case "N":
      return numberBytes(value.N ?? "");
    case "BOOL":
    case "NULL":
      return 1;
    case "L":
      return 3 + sum((value.L ?? []).map((element) => 1 + valueBytes(element)));
    case "M":
      return 3 + Object.keys(value.M ?? {}).length + itemBytes(value.M ?? {});
  }
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

/** About one byte for two significant digits, and one more. */
function numberBytes(number: string): number {
  const significant = number.replace(/[-.]/g, "").replace(/^0+|0+$/g, "");
  return Math.ceil(significant.length / 2) + 1 + (number.startsWith("-") ? 1 : 0);
}
