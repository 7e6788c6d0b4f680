// CloudWatch's metric math, as far as alarms use it: +, *, comparisons, AND, IF and FILL.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html

/** A metric that has no data in a period is undefined, and so is what is made of it without FILL. */
type Value = number | undefined;

type Operation = (a: number, b: number) => number;

/** Each level binds more tightly than the one before. */
const LEVELS: readonly Readonly<Record<string, Operation>>[] = [
  { AND: (a, b) => Number(a !== 0 && b !== 0) },
  {
    "==": (a, b) => Number(a === b),
    ">=": (a, b) => Number(a >= b),
    ">": (a, b) => Number(a > b),
  },
  { "+": (a, b) => a + b },
  { "*": (a, b) => a * b },
];

/** @throws for what is not an expression of that subset, or names a metric that is not there */
export function evaluateExpression(
  expression: string,
  metrics: Readonly<Record<string, Value>>,
): Value {
  const tokens = expression.match(/\d+(?:\.\d+)?|\w+|[=>]=|[+*>(),]|\S/g) ?? [];
  let at = 0;

  function take(expected: string): void {
    if (tokens[at] !== expected) throw new Error(`"${expression}" has no ${expected} at ${at}.`);
    at += 1;
  }

  function level(depth: number): Value {
    const operations = LEVELS[depth];
    if (!operations) return primary();
    let left = level(depth + 1);
    for (let one = operations[tokens[at] ?? ""]; one; one = operations[tokens[at] ?? ""]) {
      at += 1;
      const right = level(depth + 1);
      left = left === undefined || right === undefined ? undefined : one(left, right);
    }
    return left;
  }

  function list(count: number): Value[] {
    take("(");
    const values = Array.from({ length: count }, (_, index) => {
      if (index > 0) take(",");
      return level(0);
    });
    take(")");
    return values;
  }

  function primary(): Value {
    const token = tokens[at] ?? "";
    at += 1;
    if (/^\d/.test(token)) return Number(token);
    if (token === "FILL") {
      const [value, instead] = list(2);
      return value ?? instead;
    }
    if (token === "IF") {
      const [condition, yes, no] = list(3);
      return condition === undefined ? undefined : condition === 0 ? no : yes;
    }
    if (!Object.hasOwn(metrics, token))
      throw new Error(`"${expression}" has no metric "${token}".`);
    return metrics[token];
  }

  const value = level(0);
  if (at < tokens.length) throw new Error(`"${expression}" goes on at ${tokens[at]}.`);
  return value;
}
