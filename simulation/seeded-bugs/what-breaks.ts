// The page "what breaks if you drop this rule", from seeded bugs and their shortest schedules.

import { RULES } from "../checkers/rules.ts";
import type { Rule } from "../checkers/rules.ts";
import type { Edit, SeededBug } from "./load-worker.ts";

export type Shown = { bug: SeededBug; code: string; rule: Rule; trace: string };

/** The bugs on the page; the command prints the others. */
export const MOST_TELLING: readonly string[] = [
  "acknowledges a claim that is in progress",
  "reads before it claims, instead of a condition",
  "takes its own lost put for another worker's",
  "completes without being the owner",
  "deletes the record when it fails",
  "keys by SQS's MessageId",
  "takes an unknown result for a decline",
  "measures a payment's age by its record alone",
  "answers a repeat without sending the message again",
  "takes a conflict of transactions for a duplicate",
];

const HEAD = `# What breaks if you drop this rule

Ten bugs that people write into this protocol. Each is a small edit of the real code in \`lib/\`,
with the shortest schedule that the simulation found in which it breaks a rule: who did what, which
request failed, and what was broken in the end. The first column is the time since the start. \`A1\`
is worker A with the first event that was delivered; \`put\`, \`take over\`, \`complete\` and \`release\`
are its writes to the table, \`charge\` and \`look up\` its requests to Stripe. An owner is named after
what it received: \`sqs-1#2\` is the second receive of \`sqs-1\`. The door accepts a payment by a \`put\` of its
own, \`accept\`; the fulfillment applies an event by one transaction, \`transact\`.

\`npm run what-breaks -- --all\` prints these and the others of \`simulation/seeded-bugs\`;
\`npm run what-breaks\` writes this page.
`;

const LONGEST_TRACE = 32;

export function renderPage(shown: readonly Shown[]): string {
  return HEAD + shown.map((one) => `\n${renderSection(one)}`).join("");
}

export function renderSection({ bug: { name, lesson, edits }, code, rule, trace }: Shown): string {
  return `## It ${name}

${lesson}

\`\`\`diff
${edits.map(diffOf).join("\n")}
\`\`\`

Broken: **${RULES[rule]}**.

\`\`\`text
${shortened(trace)}
\`\`\`

\`npm run simulate -- --bug "${name}" --replay ${code}\`
`;
}

function diffOf({ file, find, replace }: Edit): string {
  return [`lib/${file}`, ...signed("-", find), ...signed("+", replace)].join("\n");
}

function signed(sign: string, text: string): string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => `${sign} ${line.trim()}`);
}

function shortened(trace: string): string {
  const lines = trace.split("\n");
  if (lines.length <= LONGEST_TRACE) return trace;
  const [head, tail] = [LONGEST_TRACE - 12, 10];
  const left = lines.length - head - tail;
  return [...lines.slice(0, head), `      … ${left} lines …`, ...lines.slice(-tail)].join("\n");
}
