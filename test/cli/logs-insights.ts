// The smallest interpreter that runs the queries of docs/observability.md. It knows fields, filter,
// stats, sort and limit with the functions that those use, throws on anything else, and is not
// CloudWatch: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax.html

export type Row = Record<string, unknown>;

/** Runs a query over lines, each a JSON object. @throws Error on what it does not know */
export function runQuery(query: string, lines: readonly Row[]): Row[] {
  let rows = lines.map((line): Row => ({ ...line, "@timestamp": line["timestamp"] }));
  let shown: string[] | undefined;
  for (const command of query.split("|").map((text) => text.trim())) {
    const [, name = "", rest = ""] = /^(\w+)\s+([\s\S]+)$/.exec(command) ?? [];
    switch (name) {
      case "fields":
        shown = rest.split(",").map((field) => field.trim());
        break;
      case "filter":
        rows = rows.filter((row) => holds(rest, row));
        break;
      case "stats":
        rows = stats(rest, rows);
        shown = undefined;
        break;
      case "sort":
        rows = sorted(rest, rows);
        break;
      case "limit":
        rows = rows.slice(0, Number(rest));
        break;
      default:
        throw new Error(`The interpreter does not know the command "${command}".`);
    }
  }
  const columns = shown;
  return columns ? rows.map((row) => pick(row, columns)) : rows;
}

function pick(row: Row, columns: readonly string[]): Row {
  return Object.fromEntries(
    columns.filter((column) => row[column] !== undefined).map((column) => [column, row[column]]),
  );
}

function holds(condition: string, row: Row): boolean {
  if (condition.includes(" or ")) return condition.split(" or ").some((part) => holds(part, row));
  if (condition.includes(" and "))
    return condition.split(" and ").every((part) => holds(part, row));
  const [, present] = /^\s*ispresent\((\w+)\)\s*$/.exec(condition) ?? [];
  if (present !== undefined) return row[present] !== undefined;
  const match = /^\s*(\w+) (=|!=|>=|>|<=|<) ("[^"]*"|\d+)\s*$/.exec(condition);
  if (!match) throw new Error(`The interpreter does not know the condition "${condition}".`);
  const [, field = "", operator, literal = ""] = match;
  const actual = row[field];
  const wanted: unknown = JSON.parse(literal);
  if (operator === "=") return actual === wanted;
  if (operator === "!=") return actual !== wanted;
  if (typeof actual !== "number" || typeof wanted !== "number") return false;
  if (operator === ">=") return actual >= wanted;
  if (operator === ">") return actual > wanted;
  return operator === "<=" ? actual <= wanted : actual < wanted;
}

function stats(text: string, rows: readonly Row[]): Row[] {
  const [calculations = "", keys = ""] = text.split(/ by /);
  const by = keys === "" ? [] : keys.split(",").map((key) => key.trim());
  const groups = Map.groupBy(rows, (row) => JSON.stringify(by.map((key) => keyOf(key, row))));
  return [...groups.values()].map((group) => {
    const result: Row = {};
    for (const key of by) {
      const value = group[0] && keyOf(key, group[0]);
      if (value !== undefined) result[key] = value;
    }
    // Commas inside of parentheses do not part calculations.
    for (const calculation of calculations.split(/,(?![^(]*\))/)) {
      const [, name = "", args = "", alias = ""] =
        /^\s*(\w+)\(([^)]*)\) as (\w+)\s*$/.exec(calculation) ?? [];
      result[alias] = aggregate(name, args, group);
    }
    return result;
  });
}

function keyOf(key: string, row: Row): unknown {
  const [, minutes] = /^bin\((\d+)m\)$/.exec(key) ?? [];
  if (minutes === undefined) return row[key];
  const binMs = Number(minutes) * 60_000;
  const time = Date.parse(String(row["@timestamp"]));
  return new Date(Math.floor(time / binMs) * binMs).toISOString();
}

function aggregate(name: string, args: string, group: readonly Row[]): unknown {
  const [field = "", parameter] = args.split(",").map((argument) => argument.trim());
  const values = group.map((row) => row[field]).filter((value) => value !== undefined);
  const numbers = values.filter((value) => typeof value === "number").toSorted((a, b) => a - b);
  switch (name) {
    case "count":
      return field === "*" ? group.length : values.length;
    case "count_distinct":
      return new Set(values).size;
    case "max":
      return numbers.at(-1);
    case "pct": // nearest rank
      return numbers[Math.max(0, Math.ceil((Number(parameter) / 100) * numbers.length) - 1)];
    default:
      throw new Error(`The interpreter does not know the function "${name}".`);
  }
}

function sorted(text: string, rows: readonly Row[]): Row[] {
  const [field = "", direction = "asc"] = text.split(/\s+/);
  const sign = direction === "desc" ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [left, right] = [a[field], b[field]] as (string | number)[];
    if (left === undefined || right === undefined || left === right) return 0;
    return (left < right ? -1 : 1) * sign;
  });
}
