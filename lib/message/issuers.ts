// Which numbers are those of payment cards: the prefixes that each network issues from, with the
// lengths of its cards. Tighter than ISO/IEC 7812 allows, because an order number that is taken for
// a card is a payment that is not made. Every prefix at every length that its network may use would
// take one random number of 13 to 19 digits in a hundred; these take one in 220.
//
// https://en.wikipedia.org/wiki/Payment_card_number#Issuer_identification_number_(IIN)
// https://docs.stripe.com/testing#cards
// https://github.com/stripe/stripe-ios, STPBINRange: which Visa cards have 13 digits (the rest have
// 16), and that of the networks that Stripe takes only UnionPay varies in length.
// https://github.com/braintree/credit-card-type guesses a brand while a customer types: its Maestro is
// every number that begins with 6, and it would take 2.4 % of random numbers for cards.

type Network = { prefixes: string; lengths: readonly number[] };

const VISA_OF_13 =
  "413600 444509 444550 450603 450617 450628-450629 450636 450640-450641 450662 463100 " +
  "476142-476143 492901-492902 492920 492923 492928-492930 492937 492939 492960";

const NETWORKS: readonly Network[] = [
  { prefixes: "4", lengths: [16] }, // Visa
  { prefixes: `422222 ${VISA_OF_13}`, lengths: [13] }, // the first is that of the old test number
  { prefixes: "491761", lengths: [19] }, // V PAY
  { prefixes: "51-55 2221-2720", lengths: [16] }, // Mastercard
  { prefixes: "34 37", lengths: [15] }, // American Express
  { prefixes: "300-305 3095 36 38-39", lengths: [14] }, // Diners Club
  { prefixes: "300-305", lengths: [16] },
  { prefixes: "6011 644-649 65", lengths: [16] }, // Discover, and those that share 65 with it
  { prefixes: "3528-3589", lengths: [16] }, // JCB
  { prefixes: "62", lengths: [16, 19] }, // UnionPay
  { prefixes: "8171", lengths: [16] },
  { prefixes: "5018 5020 5038 5893 6304 6759 6761-6763 6799", lengths: [16, 18, 19] }, // Maestro
  { prefixes: "6703", lengths: [16, 17] }, // Bancontact
  { prefixes: "5019", lengths: [16] }, // Dankort
  { prefixes: "5060-5061 507865-507964", lengths: [16, 18, 19] }, // Verve
  { prefixes: "508 6069-6085", lengths: [16] }, // RuPay
  { prefixes: "506699-506778 509 636297 636368", lengths: [16] }, // Elo
  { prefixes: "606282", lengths: [16] }, // Hipercard
  { prefixes: "2200-2204", lengths: [16, 17, 18, 19] }, // Mir
  { prefixes: "9704 9792 8600 9860", lengths: [16, 19] }, // Napas, Troy, Uzcard, Humo
];

// Prefixes as ranges of the first six digits, by length.
const RANGES = new Map<number, (readonly [first: number, last: number])[]>();
for (const { prefixes, lengths } of NETWORKS) {
  for (const prefix of prefixes.split(" ")) {
    const [first = "", last = first] = prefix.split("-");
    const range = [Number(first.padEnd(6, "0")), Number(last.padEnd(6, "9"))] as const;
    for (const length of lengths) RANGES.set(length, [...(RANGES.get(length) ?? []), range]);
  }
}

export const SHORTEST_CARD_NUMBER = 13;
export const LONGEST_CARD_NUMBER = 19;

/** Whether these digits are a card's: of a network's range and length, and with its check digit. */
export function isCardNumber(digits: string): boolean {
  const ranges = RANGES.get(digits.length);
  if (!ranges) return false;
  const prefix = Number(digits.slice(0, 6));
  if (!ranges.some(([first, last]) => prefix >= first && prefix <= last)) return false;
  return passesLuhn(digits) && !(digits.length === 13 && isEan(digits));
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 0x30;
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/**
 * Whether 13 digits have the check digit of a product's EAN: Germany's begin with 4, as Visa's cards
 * do. https://www.gs1.org/services/how-calculate-check-digit-manually
 */
function isEan(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++)
    sum += (digits.charCodeAt(i) - 0x30) * (i % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}
