// A string as a person reads it, in ASCII: for finding digits, whatever they were written with.

/** The string with every digit, blank and hyphen in its plain form, and without what is not seen. */
export function plainText(text: string): string {
  let ascii = 0;
  while (ascii < text.length && isPlain(text.charCodeAt(ascii))) ascii++;
  if (ascii === text.length) return text;
  const seen = new Map<string, string>();
  let plain = "";
  for (const char of text) {
    const known = isPlain(char.charCodeAt(0)) ? char : seen.get(char);
    const next = known ?? plainCharacter(char);
    if (known === undefined) seen.set(char, next);
    plain += next;
  }
  return plain;
}

const isPlain = (code: number): boolean => code > 0x1f && code < 0x7f;

// Arabic, Persian, Devanagari, Bengali and Thai, which normalization leaves as they are.
const ZEROS = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50];

function plainCharacter(char: string): string {
  if (/\p{L}/u.test(char)) return "?";
  const simple = char.normalize("NFKC");
  if (/^[\s\p{Z}]$/u.test(simple)) return " ";
  if (/^[\x20-\x7e]$/.test(simple)) return simple;
  if (/[\p{M}\p{Cf}]/u.test(char)) return "";
  if (/^[\p{Pd}\u2212]$/u.test(simple)) return "-";
  const code = char.codePointAt(0) ?? 0;
  const zero = ZEROS.find((first) => code >= first && code < first + 10);
  return zero === undefined ? "?" : String(code - zero);
}
