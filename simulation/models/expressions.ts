// The DynamoDB expressions that the worker uses, evaluated as DynamoDB does:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html

export type Item = Record<string, unknown>;

/** What `#names` and `:values` stand for. */
export type Placeholders = {
  ExpressionAttributeNames?: Record<string, string> | undefined;
  ExpressionAttributeValues?: Record<string, unknown> | undefined;
};

type Clause = { test: "exists" | "absent" | "="; path: string; operand: string };
type Action = { path: string; operand?: string };

/**
 * Whether the condition holds for the item, or for its absence.
 *
 * @throws Error on an expression that this model does not know
 */
export function holds(expression: string, item: Item | undefined, given: Placeholders): boolean {
  return clausesOf(expression).every(({ test, path, operand }) => {
    const value = item?.[nameOf(path, given)];
    if (test === "=") return value !== undefined && value === valueOf(operand, given);
    return (value !== undefined) === (test === "exists");
  });
}

/** The item after the update. A missing item is made first, with its key alone: so does DynamoDB. */
export function updated(expression: string, item: Item, given: Placeholders): Item {
  const after = { ...item };
  for (const { path, operand } of actionsOf(expression)) {
    if (operand === undefined) delete after[nameOf(path, given)];
    else after[nameOf(path, given)] = valueOf(operand, given);
  }
  return after;
}

function nameOf(path: string, { ExpressionAttributeNames: names }: Placeholders): string {
  const name = path.startsWith("#") ? names?.[path] : path;
  if (name === undefined) throw new Error(`ValidationException: ${path} is not defined`);
  return name;
}

function valueOf(operand: string, { ExpressionAttributeValues: values }: Placeholders): unknown {
  const value = values?.[operand];
  if (value === undefined) throw new Error(`ValidationException: ${operand} is not defined`);
  return value;
}

const clausesOf = remembered((expression: string): Clause[] =>
  expression.split(" AND ").map((clause) => {
    const call = /^attribute_(not_)?exists\((#?\w+)\)$/.exec(clause);
    if (call) return { test: call[1] ? "absent" : "exists", path: call[2] ?? "", operand: "" };
    const [, path, operand] = /^(#?\w+) = (:\w+)$/.exec(clause) ?? unknown(clause);
    return { test: "=", path: path ?? "", operand: operand ?? "" };
  }),
);

const actionsOf = remembered((expression: string): Action[] =>
  [...expression.matchAll(/(SET|REMOVE) (.*?)(?= (?:SET|REMOVE) |$)/g)].flatMap(
    ([, verb, list = ""]) =>
      list.split(", ").map((action): Action => {
        if (verb === "REMOVE") return { path: action };
        const [, path, operand] = /^(#?\w+) = (:\w+)$/.exec(action) ?? unknown(action);
        return { path: path ?? "", operand: operand ?? "" };
      }),
  ),
);

function unknown(expression: string): never {
  throw new Error(`The table's model does not know "${expression}": teach it in expressions.ts.`);
}

function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const value = known.get(text) ?? read(text);
    known.set(text, value);
    return value;
  };
}
