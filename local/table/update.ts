// Update expressions: read once into actions on a copy of the item.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.UpdateExpressions.html

import { typeOf } from "./attribute-value.ts";
import type { AttributeValue, Item, Type } from "./attribute-value.ts";
import { invalid } from "./errors.ts";
import { createReader } from "./expression-reader.ts";
import type { Reader } from "./expression-reader.ts";
import { nameOf, printed, remembered, valueAt } from "./expression.ts";
import type { Expression, Given, Path } from "./expression.ts";
import { addNumbers } from "./numbers.ts";
import { sum, wrongType } from "./update-terms.ts";
import type { Read } from "./update-terms.ts";

type Action =
  | { verb: "SET"; path: Path; read: Read }
  | { verb: "REMOVE"; path: Path }
  | { verb: "ADD" | "DELETE"; path: Path; placeholder: string };

export type Update = Expression & {
  /** What it writes to. */
  paths: readonly Path[];
  /** The item after it; a missing one is made first, with its key alone.
   * @throws DynamoDbError when the item does not have what the expression takes for granted */
  apply: (before: Item, given: Given) => Item;
};

const VERBS = ["SET", "REMOVE", "ADD", "DELETE"] as const;
const SETS: readonly Type[] = ["SS", "NS", "BS"];

export const updateOf = remembered((text): Update => {
  const reader = createReader("UpdateExpression", text);
  const actions = sections(reader);
  const paths = actions.map(({ path }) => path);
  checkOverlap(reader, paths);
  const deep = paths.some((path) => path.length > 1);
  return {
    ...reader.expression,
    paths,
    apply(before, given) {
      // Every operand is read before anything is written.
      const values = actions.map((action) => valueFor(action, before, given));
      const after = deep ? structuredClone(before) : { ...before };
      const holes: AttributeValue[][] = [];
      for (let i = 0; i < paths.length; i += 1) {
        write(after, paths[i] as Path, values[i], given, holes);
      }
      // Indexes mean the list as it was: it closes its gaps at the end.
      for (const list of holes) list.splice(0, list.length, ...list.filter(Boolean));
      return after;
    },
  };
});

function sections(reader: Reader): Action[] {
  const actions: Action[] = [];
  const seen = new Set<string>();
  while (!reader.ended()) {
    const word = reader.peek().toUpperCase();
    const verb = VERBS.find((known) => known === word) ?? reader.fail();
    reader.next();
    if (seen.has(verb)) {
      throw reader.refused(`The "${verb}" section can only be used once in an update expression;`);
    }
    seen.add(verb);
    do actions.push(action(reader, verb));
    while (reader.take(","));
  }
  return actions;
}

function action(reader: Reader, verb: Action["verb"]): Action {
  const path = reader.path();
  if (verb === "REMOVE") return { verb, path };
  if (verb === "SET") {
    reader.expect("=");
    return { verb, path, read: sum(reader) };
  }
  const placeholder = reader.value();
  reader.typed(placeholder, `operator: ${verb}`, verb === "ADD" ? ["N", ...SETS] : SETS);
  return { verb, path, placeholder };
}

/** What the action leaves at its path; undefined for nothing. */
function valueFor(action: Action, item: Item, given: Given): AttributeValue | undefined {
  if (action.verb === "REMOVE") return undefined;
  if (action.verb === "SET") return action.read(item, given);
  const operand = given.ExpressionAttributeValues?.[action.placeholder] as AttributeValue;
  const existing = valueAt(item, action.path, given);
  const type = typeOf(operand);
  if (existing && typeOf(existing) !== type) throw wrongType();
  if (operand.N !== undefined) return { N: addNumbers(existing?.N ?? "0", operand.N) };
  const [old, change] = [existing?.[type] ?? [], operand[type]] as [string[], string[]];
  if (action.verb === "ADD") return { [type]: [...new Set([...old, ...change])] };
  const left = old.filter((element) => !change.includes(element));
  return left.length === 0 ? undefined : { [type]: left };
}

function write(
  item: Item,
  path: Path,
  value: AttributeValue | undefined,
  given: Given,
  holes: AttributeValue[][],
): void {
  const last = path.at(-1) as string | number;
  const parent = path.length === 1 ? { M: item } : valueAt(item, path.slice(0, -1), given);
  if (typeof last === "number" && parent?.L) {
    if (value) parent.L[last] = value;
    // oxlint-disable-next-line typescript/no-array-delete -- closed by `holes` when all is written
    else delete parent.L[last];
    holes.push(parent.L);
  } else if (typeof last === "string" && parent?.M) {
    const name = nameOf(last, given);
    if (value) parent.M[name] = value;
    else delete parent.M[name];
  } else {
    throw invalid("The document path provided in the update expression is invalid for update");
  }
}

function checkOverlap(reader: Reader, paths: readonly Path[]): void {
  reader.checks.push((given) => {
    for (const [i, one] of paths.entries()) {
      const other = paths.slice(0, i).find((earlier) => overlap(earlier, one, given));
      if (!other) continue;
      throw reader.refused(
        `Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ${printed(other, given)}, path two: ${printed(one, given)}`,
      );
    }
  });
}

/** Whether one of them leads to, or through, the other. */
function overlap(a: Path, b: Path, given: Given): boolean {
  const named = (part: string | number | undefined) =>
    typeof part === "string" ? nameOf(part, given) : part;
  const shorter = a.length < b.length ? a : b;
  return shorter.every((_part, i) => named(a[i]) === named(b[i]));
}
