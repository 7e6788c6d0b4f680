// How large a message may be. Checked before its JSON is parsed, so that a body beyond the bounds
// costs no more than one look at its characters, and the other messages of its batch are charged.

import type { Rule } from "./rules.ts";

/**
 * In UTF-16 units. The largest payment there is (a description of 1,000 characters, 49 metadata of
 * 540) takes 110 KB of UTF-8. 256 KiB is what SNS takes, and SQS took before it took 1 MiB:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
 */
const MAX_LENGTH = 262_144;

/** Names, values, arrays and objects. The largest payment in three wrappings has 150. */
const MAX_VALUES = 1_000;

/** Far deeper than any shape of message, and far shallower than the stack of a recursive parser. */
const MAX_LEVELS = 64;

/** In characters. Doubles have 24, 128-bit integers 40. */
const MAX_NUMBER = 100;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The bound that a JSON text exceeds, if any. It stops where it finds out. */
export function exceededBound(text: string): Rule | undefined {
  if (text.length > MAX_LENGTH) return "body_length";
  let [values, levels, literal] = [0, 0, 0];
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) inString = false;
      continue;
    }
    literal = code > 0x20 ? literal + 1 : 0;
    switch (code) {
      case QUOTE:
        inString = true;
        literal = 0;
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        levels++;
        values++;
        literal = 0;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        levels--;
        literal = 0;
        break;
      case COMMA:
      case COLON:
        values++;
        literal = 0;
        break;
    }
    if (levels > MAX_LEVELS) return "nesting";
    if (values > MAX_VALUES) return "values";
    if (literal > MAX_NUMBER) return "number_length";
  }
  return undefined;
}
