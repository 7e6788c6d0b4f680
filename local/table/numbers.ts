// DynamoDB's numbers: decimal strings of up to 38 digits, which JavaScript's numbers cannot hold.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html

import { invalid } from "./errors.ts";

/** The value is `digits` × 10^`exponent`. */
type Decimal = { digits: bigint; exponent: number };

/** An integer that is in its normal form, and small enough for JavaScript's arithmetic. */
const SMALL = /^(?:0|-?[1-9]\d{0,14})$/;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;
const MOST_DIGITS = 38;
const GREATEST_EXPONENT = 125;
const LEAST_EXPONENT = -130;

/** The one way to write this number, so that equal numbers are equal strings.
 * @throws DynamoDbError when it is none, too long, too great or too small */
export function normalNumber(text: string): string {
  return SMALL.test(text) ? text : print(parse(text));
}

/** Below 0, 0 or above 0. */
export function compareNumbers(a: string, b: string): number {
  if (SMALL.test(a) && SMALL.test(b)) return Number(a) - Number(b);
  const [left, right] = aligned(parse(a), parse(b));
  return left === right ? 0 : left < right ? -1 : 1;
}

export function addNumbers(a: string, b: string, sign: 1 | -1 = 1): string {
  const first = parse(a);
  const second = parse(b);
  const [left, right] = aligned(first, second);
  const exponent = Math.min(first.exponent, second.exponent);
  return print({ digits: left + BigInt(sign) * right, exponent });
}

function parse(text: string): Decimal {
  const [, sign, whole = "", fraction = "", power = "0"] = NUMBER.exec(text) ?? [];
  if (`${whole}${fraction}` === "") {
    throw invalid(`The parameter cannot be converted to a numeric value: ${text}`);
  }
  const digits = BigInt(`${whole}${fraction}`);
  return {
    digits: sign === "-" ? -digits : digits,
    exponent: Number(power) - fraction.length,
  };
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint] {
  const exponent = Math.min(a.exponent, b.exponent);
  const scaled = (x: Decimal) => x.digits * 10n ** BigInt(x.exponent - exponent);
  return [scaled(a), scaled(b)];
}

function print({ digits, exponent }: Decimal): string {
  if (digits === 0n) return "0";
  const sign = digits < 0n ? "-" : "";
  const all = String(digits < 0n ? -digits : digits);
  const significant = all.replace(/0+$/, "");
  // The power of ten of the first digit.
  const magnitude = all.length - 1 + exponent;
  if (magnitude > GREATEST_EXPONENT) {
    throw invalid(
      "Number overflow. Attempting to store a number with magnitude larger than supported range",
    );
  }
  if (magnitude < LEAST_EXPONENT) {
    throw invalid(
      "Number underflow. Attempting to store a number with magnitude smaller than supported range",
    );
  }
  if (significant.length > MOST_DIGITS) {
    throw invalid("Attempting to store more than 38 significant digits in a Number");
  }
  const point = magnitude + 1;
  if (point >= significant.length) return sign + significant.padEnd(point, "0");
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${significant}`;
  return `${sign}${significant.slice(0, point)}.${significant.slice(point)}`;
}
