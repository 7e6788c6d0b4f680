// Card data does not belong in a queue, a table or a log: what looks like it makes a message
// invalid. Anybody may send any string, so each character is looked at a fixed number of times: no
// regular expression and no Unicode normalization gets more than a few of them at once.

import { isAlphanumeric, isPartOfHash, isPartOfIban } from "./identifiers.ts";
import { isCardNumber, LONGEST_CARD_NUMBER, SHORTEST_CARD_NUMBER } from "./issuers.ts";
import { plainText } from "./plain-text.ts";

const SECURITY_CODE = /^(card)?(cvc2?|cvv2?|csc|cav2|(security|verification)code)$|^cv[cv]code$/;

/** Whether a field of this name would hold a card's security code (CVC, CVV, …). */
export function namesSecurityCode(name: string): boolean {
  return name.length <= 40 && SECURITY_CODE.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));
}

/** Digits from `start` to `end`, and what stands between them and the next ones. */
type Group = { start: number; end: number; gap: Gap };

/** A joint makes one word of what it joins: `4242-4242`. */
type Gap = "end" | "space" | "joint";

/** Whether a card's number is in the string: in one run of digits, or in groups as it is printed. */
export function containsCardNumber(text: string): boolean {
  if (text.length < SHORTEST_CARD_NUMBER) return false;
  const plain = plainText(text);
  for (let at = 0; at < plain.length;) {
    if (!isDigit(plain, at)) {
      at++;
      continue;
    }
    const groups = groupsFrom(plain, at);
    for (const [i, group] of groups.entries()) {
      if (isCardRun(plain, group) || isPrintedCard(plain, groups, i)) return true;
    }
    at = groups.at(-1)?.end ?? plain.length;
  }
  return false;
}

/** The groups of digits from there on, as long as no more than three characters are between two. */
function groupsFrom(plain: string, from: number): Group[] {
  const groups: Group[] = [];
  for (let start = from; ;) {
    let end = start;
    while (isDigit(plain, end)) end++;
    let next = end;
    let gap: Gap = "joint";
    while (next - end < 3 && isGap(plain[next])) if (plain[next++] === " ") gap = "space";
    if (!isDigit(plain, next)) {
      groups.push({ start, end, gap: "end" });
      return groups;
    }
    groups.push({ start, end, gap });
    start = next;
  }
}

function isCardRun(plain: string, { start, end }: Group): boolean {
  const length = end - start;
  if (length < SHORTEST_CARD_NUMBER || length > LONGEST_CARD_NUMBER) return false;
  const fraction = plain[start - 1] === "." && isDigit(plain, start - 2);
  return (
    !fraction &&
    isCardNumber(plain.slice(start, end)) &&
    !isPartOfHash(plain, start, end) &&
    !isPartOfIban(plain, start, end)
  );
}

// Cards are printed in groups, the first of four digits or more, all but the last of three or more.
function isPrintedCard(plain: string, groups: readonly Group[], from: number): boolean {
  const before = groups[from - 1];
  if (before ? before.gap === "joint" : isJoinedBefore(plain, groups[from]?.start ?? 0)) {
    return false;
  }
  let digits = "";
  let joints = false;
  for (let i = from; i < groups.length; i++) {
    const { start, end, gap } = groups[i] as Group;
    if (digits.length + end - start > LONGEST_CARD_NUMBER) return false;
    digits += plain.slice(start, end);
    const whole = gap === "space" || (gap === "end" && !continues(plain, end, joints));
    // Of two groups the second is long too, and one dot makes a decimal.
    const two = i === from + 1 && end - start >= 6 && plain[start - 1] !== ".";
    const printed = two || i > from + 1;
    const found = whole && printed && isCardNumber(digits);
    if (found && !isPartOfIban(plain, groups[from]?.start ?? 0, end)) return true;
    if (end - start < (i === from ? 4 : 3)) return false;
    if (gap === "joint") joints = true;
  }
  return false;
}

/** Whether the digits that begin there belong to a longer word: 7b3f-4242. */
const isJoinedBefore = (plain: string, start: number): boolean =>
  isJoint(plain[start - 1]) && isAlphanumeric(plain[start - 2]);

/** Whether the digits that end there belong to a longer word: 4242-7b3f, or 4242-4242ab. */
function continues(plain: string, end: number, joints: boolean): boolean {
  if (isJoint(plain[end])) return isAlphanumeric(plain[end + 1]);
  return joints && isAlphanumeric(plain[end]);
}

const isJoint = (char: string | undefined): boolean =>
  char === "-" || char === "." || char === "/" || char === "_";
const isGap = (char: string | undefined): boolean => char === " " || isJoint(char);
function isDigit(plain: string, at: number): boolean {
  const code = plain.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}
