// The fields of JSON that others made. What is no object has none of them, so each is checked where it
// is taken.

export type Fields = { readonly [name: string]: unknown };

export function parseFields(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

export const fieldsOf = (value: unknown): Fields => (value ?? {}) as Fields;
