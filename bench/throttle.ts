// A share of one CPU for a process, by the kernel's quota, as Lambda gives it: in proportion to the
// memory, one whole CPU at 1,769 MB, accounted in periods of 20 ms.
// https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
// https://github.com/pwrdrvr/lambda-throttling (the period, measured)

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PERIOD_US = 20_000;

export type Throttle = {
  /** From now on, the process gets what Lambda gives a handler with this much memory. */
  apply(pid: number, memoryMb: number): void;
  /** Ends the throttled processes that are still there, too. */
  remove(): Promise<void>;
};

/** A throttle of its own; undefined where this user may not make a CPU control group. */
export function createThrottle(): Throttle | undefined {
  const v2 = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const group = join(v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", `payment-bench-${process.pid}`);
  try {
    mkdirSync(group);
    const probe = join(group, v2 ? "cpu.max" : "cpu.cfs_quota_us");
    if (!existsSync(probe)) throw new Error(`no ${probe}`);
  } catch {
    return undefined;
  }
  return {
    apply(pid, memoryMb) {
      const quotaUs = Math.round((PERIOD_US * memoryMb) / 1_769);
      if (v2) writeFileSync(join(group, "cpu.max"), `${quotaUs} ${PERIOD_US}`);
      else {
        writeFileSync(join(group, "cpu.cfs_period_us"), String(PERIOD_US));
        writeFileSync(join(group, "cpu.cfs_quota_us"), String(quotaUs));
      }
      writeFileSync(join(group, "cgroup.procs"), String(pid));
    },
    async remove() {
      const members = () => readFileSync(join(group, "cgroup.procs"), "utf8").match(/\d+/g) ?? [];
      while (members().length > 0) {
        for (const pid of members()) process.kill(Number(pid), "SIGKILL");
        await sleep(10);
      }
      rmdirSync(group);
    },
  };
}
