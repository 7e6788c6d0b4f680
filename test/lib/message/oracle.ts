// The rules of a message, stated a second time and with nothing of lib/: what must be true of a
// body before it may be charged. Slow, and only for tests.

import { CARDS } from "./strange.ts";

export type Valid = { id: string; sentAt: number; payment: Record<string, unknown> };

const DAY = 86_400_000;

/** Some of ISO 4217. The generators draw from these and from codes that it does not have. */
export const CURRENCIES = ["EUR", "USD", "JPY", "KWD", "CLP", "GBP", "SEK", "XAF", "HUF", "ISK"];

// Under this symbol, which no body can have, a number keeps the characters that it was written in.
const LITERAL = Symbol("literal");
type Literal = { [LITERAL]: string };

/** What must be charged for the body, or undefined when it is invalid. `now` is in epoch ms. */
export function verdict(body: string, now: number): Valid | undefined {
  return message(parse(body), now, 0);
}

function message(value: unknown, now: number, layers: number): Valid | undefined {
  if (!isRecord(value) || layers > 3) return undefined;
  if (value["Type"] === "Notification") {
    const text = value["Message"];
    return typeof text === "string" ? message(parse(text), now, layers + 1) : undefined;
  }
  if (has(value, "detail-type")) return message(value["detail"], now, layers + 1);
  if (holdsCardData(value)) return undefined;

  if (has(value, "specversion")) {
    if (value["specversion"] !== "1.0" || has(value, "data_base64")) return undefined;
    return complete(value["id"], rfc3339(value["time"]), value["data"], now);
  }
  if ((has(value, "job") || has(value, "urn")) && has(value, "meta")) {
    const meta = value["meta"];
    if (!isRecord(meta) || literal(meta["schema_version"]) !== "1") return undefined;
    // BabelQueue's blanks are ASCII's: trim() would take a no-break space for one too.
    const named = (urn: unknown) =>
      typeof urn === "string" && [...urn].some((char) => !" \t\n\v\f\r".includes(char));
    if (!named(value["job"]) && !named(value["urn"])) return undefined;
    const created = literal(meta["created_at"]);
    const time = /^[0-9]+$/.test(created) ? Number(created) : NaN;
    return complete(meta["id"], time, value["data"], now);
  }
  const { id, createdAt, ...payment } = value;
  return complete(id, rfc3339(createdAt), payment, now);
}

function complete(id: unknown, time: number, data: unknown, now: number): Valid | undefined {
  if (typeof id !== "string" || id.length < 1 || id.length > 255) return undefined;
  if ([...id].some((char) => char <= " " || char > "~")) return undefined;
  if (!(time <= now + 300_000 && time >= now - 30 * DAY)) return undefined;

  if (!isRecord(data)) return undefined;
  const { amount, currency, customer, paymentMethod, ...rest } = data;
  const { description, statementDescriptorSuffix, metadata, ...unknown } = rest;
  if (Object.keys(unknown).length > 0) return undefined;

  const minor = Number(literal(amount));
  if (String(minor) !== literal(amount) || minor < 1 || minor > 999_999_999_999) return undefined;
  if (!Number.isInteger(minor)) return undefined;
  if (typeof currency !== "string" || !CURRENCIES.some((code) => sameCode(code, currency)))
    return undefined;
  const code = currency.toLowerCase();
  if (/bhd|jod|kwd|omr|tnd/.test(code) && !literal(amount).endsWith("0")) return undefined;
  if (/isk|ugx/.test(code) && !literal(amount).endsWith("00")) return undefined;
  if (!isCustomer(customer) || !isPaymentMethod(paymentMethod)) return undefined;

  const payment: Record<string, unknown> = {
    amount: minor,
    currency: currency.toLowerCase(),
    customer,
    paymentMethod,
  };
  if (has(data, "description")) {
    if (!isText(description, 1000)) return undefined;
    payment["description"] = description;
  }
  if (has(data, "statementDescriptorSuffix")) {
    if (!isSuffix(statementDescriptorSuffix)) return undefined;
    payment["statementDescriptorSuffix"] = statementDescriptorSuffix;
  }
  if (has(data, "metadata")) {
    if (!isRecord(metadata) || Object.keys(metadata).length > 49) return undefined;
    for (const [key, item] of Object.entries(metadata)) {
      if (key === "message_id" || !isText(key, 40) || /[[\]]/.test(key)) return undefined;
      if (!isText(item, 500)) return undefined;
    }
    payment["metadata"] = metadata;
  }
  return { id, sentAt: time, payment };
}

/** Whether the codes are the same but for the case of ASCII letters. */
function sameCode(code: string, given: string): boolean {
  return given.length === code.length && /^[a-zA-Z]+$/.test(given) && given.toUpperCase() === code;
}

function isCustomer(value: unknown): boolean {
  return isWord(value, "_-.@:+") && !"_-.@:+".includes(String(value)[0] ?? "");
}

function isPaymentMethod(value: unknown): boolean {
  const [, kind, rest] = isWord(value, "_") ? (/^(.*?)_(.*)$/.exec(String(value)) ?? []) : [];
  return ["pm", "card", "src", "ba"].includes(kind ?? "") && rest !== "";
}

function isWord(value: unknown, others: string): boolean {
  if (typeof value !== "string" || value === "" || value.length > 255) return false;
  return [...value].every((char) => /^[a-zA-Z0-9]$/.test(char) || others.includes(char));
}

/** Whether a value is a string of 1 to `most` characters that UTF-8 and a form can carry. */
function isText(value: unknown, most: number): boolean {
  if (typeof value !== "string" || value === "" || value.includes("\u0000")) return false;
  const characters = [...value];
  const surrogate = (char: string) => char.length === 1 && char >= "\ud800" && char <= "\udfff";
  return characters.length <= most && !characters.some(surrogate);
}

// https://docs.stripe.com/get-started/account/statement-descriptors: Latin characters.
function isSuffix(value: unknown): boolean {
  if (typeof value !== "string" || value.length < 1 || value.length > 22) return false;
  const allowed = (char: string) =>
    (char >= " " && char <= "~" && !`<>\\'"*`.includes(char)) ||
    (char > "\u00a0" && char <= "\u024f");
  return [...value].every(allowed) && /[a-z]/i.test(value);
}

/** Epoch ms of an RFC 3339 time; NaN for anything else. */
function rfc3339(value: unknown): number {
  if (typeof value !== "string") return NaN;
  const parts =
    /^(.{4})-(.{2})-(.{2})T(.{2}):(.{2}):(.{2})(?:\.(\d{1,9}))?(Z|([+-])(.{2}):(.{2}))$/i;
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second,
    fraction = "0",
    zone,
    sign,
    zoneHour,
    zoneMinute,
  ] = parts.exec(value) ?? [];
  if (zone === undefined) return NaN;
  const fields = [year, month, day, hour, minute, second, zoneHour ?? "00", zoneMinute ?? "00"];
  if (!fields.every((field) => /^[0-9]+$/.test(field ?? ""))) return NaN;
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, zh = 0, zm = 0] = fields.map(Number);
  const days = [31, (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0 ? 29 : 28, 31, 30, 31, 30];
  const daysInMonth = [...days, 31, 31, 30, 31, 30, 31][mo - 1] ?? 0;
  if (d < 1 || d > daysInMonth || h > 23 || mi > 59 || s > 59 || zh > 23 || zm > 59) return NaN;
  const utc = Date.UTC(y, mo - 1, d, h, mi, s) + Math.floor(Number(`0.${fraction}`) * 1000);
  return utc - (sign === "-" ? -1 : 1) * (zh * 60 + zm) * 60_000;
}

/** Whether one of the card numbers that the generators know, or a security code, is in there. */
function holdsCardData(value: unknown): boolean {
  if (typeof value === "string") return hasCard(value);
  if (Array.isArray(value)) return value.some(holdsCardData);
  if (isLiteral(value)) return hasCard(value[LITERAL]);
  if (!isRecord(value)) return false;
  return Object.entries(value).some(
    ([name, item]) =>
      ["cvc", "card_cvc"].includes(name.toLowerCase()) || hasCard(name) || holdsCardData(item),
  );
}

const hasCard = (text: string) => CARDS.some((card) => text.includes(card));

/** The JSON value of a string; undefined when it is none. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { source: string }): unknown =>
      typeof value === "number" ? { [LITERAL]: context?.source ?? "" } : value,
    );
  } catch {
    return undefined;
  }
}

/** The characters of a number; "" for what is no number. */
function literal(value: unknown): string {
  return isLiteral(value) ? value[LITERAL] : "";
}

function isLiteral(value: unknown): value is Literal {
  return typeof value === "object" && value !== null && LITERAL in value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isLiteral(value);
}

function has(value: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(value, name);
}
