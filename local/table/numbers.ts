// DynamoDB's numbers, as far as a JavaScript number holds them exactly: amounts, times and counters do
// not need DynamoDB's 38 digits.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html

import { invalid } from "./errors.ts";

const MOST_DIGITS = 15;

/** The one way to write this number, so that equal numbers are equal strings.
 * @throws DynamoDbError when it is none, or has too many digits */
export function normalNumber(text: string): string {
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) {
    throw invalid(`The parameter cannot be converted to a numeric value: ${text}`);
  }
  const digits = text.replace(/e.*$/i, "").replace(/\D/g, "").replace(/^0+/, "");
  if (digits.length > MOST_DIGITS) {
    throw invalid(`The local table holds numbers of up to ${MOST_DIGITS} digits, and not ${text}.`);
  }
  return String(number);
}
