// The page "what breaks if you drop this rule", from the mistakes and their shortest schedules.

import type { Edit, Mistake } from "./load-worker.ts";
import { RULES } from "./rules.ts";
import type { Rule } from "./rules.ts";

export type Shown = { mistake: Mistake; code: string; rule: Rule; trace: string };

const HEAD = `# What breaks if you drop this rule

Mistakes that people make in this protocol. Each is a small edit of the real code in \`lib/\`, and
each has the shortest schedule that the simulation found in which it breaks the promise: who did
what, which request failed, and what was broken in the end. The first column is the time since the
start. \`A1\` is worker A with the first event that was delivered; \`put\`, \`take over\`, \`complete\`
and \`release\` are its writes to the table, \`charge\` and \`look up\` its requests to Stripe.
An owner is told by what it received: \`sqs-1#2\` is the second receive of \`sqs-1\`.

\`npm run what-breaks\` writes this page. The command under a schedule tells it again.
`;

const LONGEST_TRACE = 32;

export function renderWhatBreaks(shown: readonly Shown[]): string {
  const sections = shown.map(
    ({ mistake: { name, lesson, edits }, code, rule, trace }) => `
## It ${name}

${lesson}

\`\`\`diff
${edits.map(diffOf).join("\n")}
\`\`\`

Broken: **${RULES[rule]}**.

\`\`\`text
${shortened(trace)}
\`\`\`

\`npm run simulate -- --mistake "${name}" --replay ${code}\`
`,
  );
  return HEAD + sections.join("");
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
