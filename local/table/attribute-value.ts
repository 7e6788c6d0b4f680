// DynamoDB's typed values: how they are compared, and read as plain ones. Sets and bytes are left out:
// nothing here stores any.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html

/** Exactly one of these. Numbers are in their normal form: see `numbers.ts`. */
export type AttributeValue = {
  S?: string;
  N?: string;
  BOOL?: boolean;
  NULL?: true;
  L?: AttributeValue[];
  M?: Item;
};
export type Item = { [name: string]: AttributeValue };
export type Type = keyof AttributeValue;

export function typeOf(value: AttributeValue): Type {
  for (const type in value) return type as Type;
  throw new Error("Bug! An AttributeValue without a type was let in.");
}

export function equal(a: AttributeValue, b: AttributeValue): boolean {
  const type = typeOf(a);
  if (type !== typeOf(b)) return false;
  switch (type) {
    case "L": {
      const [left = [], right = []] = [a.L, b.L];
      return (
        left.length === right.length &&
        left.every((element, i) => equal(element, right[i] as AttributeValue))
      );
    }
    case "M":
      return equalItems(a.M, b.M);
    case "S":
    case "N":
    case "BOOL":
    case "NULL":
      return a[type] === b[type];
  }
}

/** A missing item equals a missing item only. */
export function equalItems(a: Item | undefined, b: Item | undefined): boolean {
  if (!a || !b) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const [left, right] = [a[name], b[name]];
      return left !== undefined && right !== undefined && equal(left, right);
    })
  );
}

/** Below 0, 0 or above 0; undefined for values that have no order between them. */
export function compare(a: AttributeValue, b: AttributeValue): number | undefined {
  if (a.N !== undefined && b.N !== undefined) return Number(a.N) - Number(b.N);
  // Strings go by their UTF-8 bytes, not by JavaScript's order.
  if (a.S !== undefined && b.S !== undefined) {
    return Buffer.compare(Buffer.from(a.S), Buffer.from(b.S));
  }
  return undefined;
}

/** Numbers become JavaScript numbers: a test that looks at a table needs no SDK. */
export function plainItem(item: Item): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const name in item) plain[name] = plainValue(item[name] as AttributeValue);
  return plain;
}

function plainValue(value: AttributeValue): unknown {
  const type = typeOf(value);
  switch (type) {
    case "N":
      return Number(value.N);
    case "NULL":
      return null;
    case "L":
      return value.L?.map(plainValue);
    case "M":
      return plainItem(value.M ?? {});
    case "S":
    case "BOOL":
      return value[type];
  }
}

/** As the SDK's document client marshalls them, `undefined` left out: for models that do without it. */
export function typedItem(plain: Record<string, unknown>): Item {
  const item: Item = {};
  for (const name in plain) {
    if (plain[name] !== undefined) item[name] = typedValue(plain[name]);
  }
  return item;
}

function typedValue(plain: unknown): AttributeValue {
  if (typeof plain === "string") return { S: plain };
  if (typeof plain === "number") return { N: String(plain) };
  if (typeof plain === "boolean") return { BOOL: plain };
  if (plain === null) return { NULL: true };
  if (Array.isArray(plain)) return { L: plain.map(typedValue) };
  if (typeof plain === "object") return { M: typedItem(plain as Record<string, unknown>) };
  throw new Error(`A ${typeof plain} has no place in an item.`);
}
