import { invalidInteger, invalidRequest } from "./errors.ts";
import type { Answer } from "./errors.ts";
import type { PaymentMethod } from "./payment-methods.ts";

/**
 * The most digits of an amount: https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts.
 * Cards take twelve in every currency, American Express nine, and other methods these, or eight.
 */
const digitsOfOtherMethods: Record<string, number | undefined> = { idr: 12, cop: 10, inr: 9 };

/** Amounts have to be multiples of these, in minor units: https://docs.stripe.com/currencies#special-cases and #three-decimal. */
const steps: Record<string, number | undefined> = {
  ...each(10, "bhd, jod, kwd, omr, tnd"),
  ...each(100, "isk, ugx"),
};

/** The smallest charge in minor units, from the same page. A currency that is not listed has no minimum of its own here. */
const smallestAmounts: Record<string, number | undefined> = {
  ...each(30, "gbp"),
  ...each(
    50,
    "ars, aud, brl, cad, chf, cop, eur, idr, ils, inr, jpy, krw, nzd, php, rub, sgd, usd, zar",
  ),
  ...each(200, "aed, myr, pln, ron"),
  ...each(250, "dkk"),
  ...each(300, "nok, sek"),
  ...each(400, "hkd"),
  ...each(1000, "mxn, thb"),
  ...each(1500, "czk"),
  ...each(17500, "huf"),
};

function each(value: number, currencies: string): Record<string, number> {
  return Object.fromEntries(currencies.split(", ").map((currency) => [currency, value]));
}

/** Presentment currencies, in the order of Stripe's own error message: https://docs.stripe.com/currencies. */
const currencies =
  "usd, aed, afn, all, amd, ang, aoa, ars, aud, awg, azn, bam, bbd, bdt, bgn, bhd, bif, bmd, bnd, bob, brl, bsd, bwp, byn, bzd, " +
  "cad, cdf, chf, clp, cny, cop, crc, cve, czk, djf, dkk, dop, dzd, egp, etb, eur, fjd, fkp, gbp, gel, gip, gmd, gnf, gtq, gyd, " +
  "hkd, hnl, htg, huf, idr, ils, inr, isk, jmd, jod, jpy, kes, kgs, khr, kmf, krw, kwd, kyd, kzt, lak, lbp, lkr, lrd, lsl, mad, " +
  "mdl, mga, mkd, mmk, mnt, mop, mur, mvr, mwk, mxn, myr, mzn, nad, ngn, nio, nok, npr, nzd, omr, pab, pen, pgk, php, pkr, pln, " +
  "pyg, qar, ron, rsd, rub, rwf, sar, sbd, scr, sek, sgd, shp, sle, sos, srd, std, szl, thb, tjs, tnd, top, try, ttd, twd, tzs, " +
  "uah, ugx, uyu, uzs, vnd, vuv, wst, xaf, xcd, xcg, xof, xpf, yer, zar, zmw";

const supported = new Set(currencies.split(", "));

/** What is wrong with `amount` and `currency` as they were sent, in Stripe's words where they are known. */
export function moneyProblem(
  amount: string,
  currency: string,
  method: PaymentMethod | undefined,
): Answer | undefined {
  if (!/^-?\d+$/.test(amount)) {
    return invalidInteger(`Invalid integer: ${amount}`, "amount");
  }
  if (Number(amount) < 1) {
    return invalidInteger("This value must be greater than or equal to 1.", "amount");
  }
  // Stripe accepts either case and answers in lower case.
  const code = currency.toLowerCase();
  if (!supported.has(code)) {
    const message = `Invalid currency: ${currency}. Stripe currently supports these currencies: ${currencies}`;
    return invalidRequest(message, { param: "currency" });
  }
  const smallest = smallestAmounts[code] ?? 1;
  if (Number(amount) < smallest) {
    const message = `Amount must be at least ${inWords(smallest, code)} ${code}`;
    return invalidRequest(message, { param: "amount", code: "amount_too_small" });
  }
  const largest = 10 ** mostDigits(code, method) - 1;
  if (Number(amount) > largest) {
    const message = `Amount must be no more than ${inWords(largest, code)}`;
    return invalidRequest(message, { param: "amount", code: "amount_too_large" });
  }
  const step = steps[code] ?? 1;
  if (Number(amount) % step !== 0) {
    // The documents have the rule and not the words.
    const message = `Invalid amount: ${amount} ${code} is not evenly divisible by ${step}`;
    return invalidInteger(message, "amount");
  }
  return undefined;
}

function mostDigits(currency: string, method: PaymentMethod | undefined): number {
  if (method?.type === "us_bank_account") return digitsOfOtherMethods[currency] ?? 8;
  return method?.mostDigits ?? 12;
}

function inWords(amount: number, currency: string): string {
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
  // Stripe writes ISK and UGX with two decimals, which ISO 4217 does not.
  const digits =
    steps[currency] === 100 ? 2 : (format.resolvedOptions().maximumFractionDigits ?? 2);
  return format.format(amount / 10 ** digits);
}
