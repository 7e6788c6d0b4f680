// Conditions and updates of DynamoDB, as far as the variants use them.

export type Value = { S?: string; N?: string; M?: unknown };
export type Item = Record<string, Value>;
type Names = Record<string, string> | undefined;

/** Whether `item` meets the condition expression: comparisons, AND, OR, parentheses and existence. */
export function holds(
  expression: string,
  item: Item | undefined,
  names: Names,
  values: Item = {},
): boolean {
  const tokens = expression.match(/attribute_(?:not_)?exists|AND|OR|[()=]|<|[#:\w]+/g) ?? [];
  const next = () => tokens.shift() ?? "";
  const attribute = () => item?.[resolve(next(), names)];

  function term(): boolean {
    if (tokens[0] === "(") {
      next();
      const inner = either();
      next();
      return inner;
    }
    if (tokens[0] === "attribute_exists" || tokens[0] === "attribute_not_exists") {
      const wanted = next() === "attribute_exists";
      next();
      const exists = attribute() !== undefined;
      next();
      return exists === wanted;
    }
    const left = attribute();
    const operator = next();
    const right = values[next()];
    if (!left || !right) return false;
    return operator === "<" ? Number(left.N) < Number(right.N) : text(left) === text(right);
  }
  // Both sides are always read, or their tokens would be left over.
  function both(): boolean {
    let result = term();
    while (tokens[0] === "AND") {
      next();
      result = term() && result;
    }
    return result;
  }
  function either(): boolean {
    let result = both();
    while (tokens[0] === "OR") {
      next();
      result = both() || result;
    }
    return result;
  }
  return either();
}

/** The item after `SET a = :a, … REMOVE b, …`. */
export function updated(expression: string, item: Item, names: Names, values: Item = {}): Item {
  const [set = "", remove = ""] = expression.replace(/^SET /, "").split(/ ?REMOVE /);
  const result = { ...item };
  for (const assignment of set.split(",")) {
    const [name = "", value = ""] = assignment.split("=").map((part) => part.trim());
    const given = values[value];
    if (!given) throw new Error(`The bench's table does not know how to do "${expression}".`);
    result[resolve(name, names)] = given;
  }
  for (const name of remove.split(",")) delete result[resolve(name.trim(), names)];
  return result;
}

const resolve = (name: string, names: Names): string => names?.[name] ?? name;
const text = ({ S, N }: Value): string | undefined => S ?? N;
