// Values that are wrong in a message, or nearly. The generators put them anywhere.

export const STRANGE_TEXTS = [
  "",
  " ",
  "\u0000",
  "\ud800",
  "x".repeat(2_000),
  "😀",
  "é",
  "a[b]",
  "80",
  "a<b",
  "4242424242424241",
  "9007199254740993",
];
export const CARDS = ["4242424242424242", "4242 4242 4242 4242", "378282246310005"];
const STRANGE_TIMES = [
  "2026-11-31T00:00:00Z",
  "2026-11-29",
  "2026-11-29T11:59:00",
  "2026-11-29T24:00:00Z",
  "2026-11-01T11:59:59Z",
  "2026-11-01T12:00:00Z",
  "2026-12-02T12:00:00Z",
  "29.11.2026",
  "2026-12-02T12:00:01Z",
  "2026-11-29t11:59:00z",
  "2026-11-29T11:59:00+0100",
  "1795953540000",
];
export const STRANGE_NUMBERS = [
  ..."0 -0 -1 80 80.0 8e1 78.4 7840.000000000001 9007199254740993 99999999 100000000".split(" "),
  ..."999999999999 1000000000000 1e400 1E2 0.1e3 4242424242424242 1795953540000".split(" "),
];

/** Values that are wrong, or nearly, for the field of that name. */
export const STRANGE: Record<string, readonly string[]> = {
  currency: ["EURO", "eu", "zzq", "ſek", "€", "e1r", "eur ", "ſEK", "huf\n"],
  customer: ["user-42", "a@b.c", "..", "_a", "a/b", "cus_é", "cus_a b", "a".repeat(256), "cus_a\n"],
  paymentMethod: ["pm_", "pm_a b", "PM_a", "card_a", "src_1", "ba_1", "tok_a", "pm_a\u0000"],
  createdAt: STRANGE_TIMES,
  time: STRANGE_TIMES,
  id: ["order 1", "order-😀", "a".repeat(255), "a".repeat(256), "a\n", "\u00a0"],
  specversion: ["1", "0.3", "1.0 "],
  statementDescriptorSuffix: ["123", "x".repeat(23), "a\nb", "a\u00a0", "日本"],
  description: ["x".repeat(1_000), "x".repeat(1_001), "😀".repeat(1_000), "a\ud800b"],
};

export const STRANGE_NAMES = [
  "",
  ..."amount currency tip cvc card_cvc Amount __proto__ constructor message_id id meta".split(" "),
  ..."specversion Type detail-type data_base64 toString 4242424242424242 a[b]".split(" "),
  ..."metadata urn job".split(" "),
];
