// Bugs that people write into this protocol, each as a small edit of the real code. The proof is
// worth something only if it catches every one.

import { ACKNOWLEDGING } from "./seeded-bugs/acknowledging.ts";
import { ANSWERS } from "./seeded-bugs/answers.ts";
import { CLAIMS } from "./seeded-bugs/claims.ts";
import type { SeededBug } from "./seeded-bugs/load-worker.ts";
import { LOOK_ALIKES } from "./seeded-bugs/look-alikes.ts";
import { LOST_RECORDS } from "./seeded-bugs/lost-records.ts";
import { MONEY } from "./seeded-bugs/money.ts";
import { ORDERS } from "./seeded-bugs/orders.ts";
import { OUTCOMES } from "./seeded-bugs/outcomes.ts";
import { WINDOWS } from "./seeded-bugs/windows.ts";

export const SEEDED_BUGS: readonly SeededBug[] = [
  ...ACKNOWLEDGING,
  ...CLAIMS,
  ...MONEY,
  ...LOOK_ALIKES,
  ...LOST_RECORDS,
  ...ANSWERS,
  ...WINDOWS,
  ...OUTCOMES,
  ...ORDERS,
];
