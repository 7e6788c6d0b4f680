// Identifiers that hold a card's number by chance: hashes, traces and account numbers.

// 24 hexadecimal digits and more, in steps of 8, are an identifier or a hash; 16 behind 32 are the
// span in a trace context. One in a thousand holds a card's number by chance.
const HASH = /^(?:[\da-f]{8}){3,16}$/i;
const LONGEST_HASH = 128;
const TRACE = /(?:^|[^\da-z])[\da-f]{32}-$/i;

export function isPartOfHash(plain: string, start: number, end: number): boolean {
  let [first, last] = [start, end];
  while (first > end - LONGEST_HASH && isAlphanumeric(plain[first - 1])) first--;
  while (last < start + LONGEST_HASH && isAlphanumeric(plain[last])) last++;
  const word = plain.slice(first, last);
  return (
    HASH.test(word) ||
    (word.length === 16 && TRACE.test(plain.slice(Math.max(0, first - 34), first)))
  );
}

// ISO 13616-1. One account number in thirty, printed in groups of four, has a card's number in it.
const IBAN = /(?<![\da-z])[a-z]{2}\d{2}(?: ?[\da-z]){11,30}(?![\da-z])/gi;
const LONGEST_IBAN = 42; // 34 characters and 8 blanks

export function isPartOfIban(plain: string, start: number, end: number): boolean {
  const from = Math.max(0, end - LONGEST_IBAN - 1);
  for (const { 0: found, index } of plain.slice(from, start + LONGEST_IBAN).matchAll(IBAN)) {
    const first = from + index;
    // What follows may be the next word of a sentence.
    for (
      let word = found;
      first + word.length >= end;
      word = word.slice(0, word.lastIndexOf(" "))
    ) {
      if (first <= start && passesMod97(word.replaceAll(" ", ""))) return true;
      if (!word.includes(" ")) break;
    }
  }
  return false;
}

function passesMod97(iban: string): boolean {
  let rest = 0;
  for (const char of iban.slice(4) + iban.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

export const isAlphanumeric = (char = ""): boolean =>
  (char >= "0" && char <= "9") || (char >= "a" && char <= "z") || (char >= "A" && char <= "Z");
