// Card data does not belong in a queue, a table or a log. What looks like it is refused unread.

// Digits in one run, or grouped as they are on a card: 4-4-4-4(-3) and 4-6-4/4-6-5.
const GAP = String.raw`[\s.\-\u2010-\u2015]{1,2}`;
const GROUPS = [
  String.raw`\d{4}${GAP}\d{4}${GAP}\d{4}${GAP}\d{1,4}(?:${GAP}\d{1,3})?`,
  String.raw`\d{4}${GAP}\d{6}${GAP}\d{4,5}`,
];
const CANDIDATES = new RegExp(String.raw`\d{13,}|(?<![\d-])(?:${GROUPS.join("|")})(?![\w-])`, "g");

// A UUID without its hyphens and a W3C trace context: of every 500 random ones, one holds a card
// number by chance, and a payment must not be refused for that.
const RANDOM_HEX = /(?<!\w)(?:[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}|[\da-f]{32})(?!\w)/gi;

const SECURITY_CODE = /^(card)?(cvc2?|cvv2?|csc|cav2|(security|verification)code)$|^cv[cv]code$/;

/** Whether the text holds a run of 13 to 19 digits that passes the Luhn check (ISO/IEC 7812-1). */
export function containsCardNumber(text: string): boolean {
  // NFKC makes digits and blanks of other widths plain ones.
  const plain = text.normalize("NFKC").replaceAll(RANDOM_HEX, " ");
  for (const [candidate] of plain.matchAll(CANDIDATES)) {
    const digits = candidate.replaceAll(/\D/g, "");
    if (digits.length <= 19 && passesLuhn(digits)) return true;
  }
  return false;
}

/**
 * Whether a JSON number of these digits is a card number. Times are not: in ms they have 13 digits,
 * in µs and ns they begin with 1, as no bank's card does.
 */
export function isCardNumber(digits: string): boolean {
  return /^[2-9]\d{13,18}$/.test(digits) && passesLuhn(digits);
}

/** Whether a field of this name would hold a card's security code (CVC, CVV, …). */
export function namesSecurityCode(name: string): boolean {
  return SECURITY_CODE.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""));
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
