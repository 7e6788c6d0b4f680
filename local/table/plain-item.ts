/** Reads DynamoDB's typed JSON as plain values, so that whoever looks at a table needs no SDK. */

export type AttributeValue = { [type: string]: unknown };
export type Item = Record<string, AttributeValue>;

/** Numbers become JavaScript numbers and sets become arrays. */
export function plainItem(item: Item): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plain(value)]));
}

function plain(value: AttributeValue): unknown {
  const [[type, content] = ["NULL", true]] = Object.entries(value);
  switch (type) {
    case "N":
      return Number(content);
    case "NS":
      return (content as string[]).map(Number);
    case "NULL":
      return null;
    case "L":
      return (content as AttributeValue[]).map(plain);
    case "M":
      return plainItem(content as Item);
    default:
      return content;
  }
}
