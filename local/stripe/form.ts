/** A decoded form: Stripe's parameters are strings, and hashes of the same (`metadata[order]=7`). */
export type Params = { [name: string]: string | Params };

/**
 * Decodes `application/x-www-form-urlencoded` text with nested brackets, as Stripe reads bodies and
 * query strings. `a[b]=1`, `a[]=1` and `a[0]=1` all make a hash; an array is a hash with number keys.
 */
export function parseForm(text: string): Params {
  const params = emptyParams();
  for (const [name, value] of new URLSearchParams(text)) setNested(params, namePath(name), value);
  return params;
}

/** The same text for the same parameters, whatever order they were sent in. */
export function canonicalParams(params: Params): string {
  const sorted = Object.entries(params).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const pairs = sorted.map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${typeof value === "string" ? JSON.stringify(value) : canonicalParams(value)}`,
  );
  return `{${pairs.join(",")}}`;
}

/** `a[b][c]` → `["a", "b", "c"]`. */
function namePath(name: string): string[] {
  const open = name.indexOf("[");
  if (open === -1) return [name];
  const nested = [...name.slice(open).matchAll(/\[([^\]]*)\]/g)].map((match) => match[1] ?? "");
  return [name.slice(0, open), ...nested];
}

function setNested(params: Params, path: string[], value: string): void {
  const [first = "", ...rest] = path;
  const name = first === "" ? String(Object.keys(params).length) : first;
  if (rest.length === 0) {
    params[name] = value;
    return;
  }
  const existing = params[name];
  const child = typeof existing === "object" ? existing : emptyParams();
  params[name] = child;
  setNested(child, rest, value);
}

// No prototype: a parameter called `__proto__` or `constructor` is only a name.
function emptyParams(): Params {
  return Object.create(null) as Params;
}
