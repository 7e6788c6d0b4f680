// The front of every local server, and its faults, on a service that counts what it applies.

import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";

import { expect, onTestFinished, test } from "vitest";

import type { Phase } from "../../local/faults.ts";
import { startHttpServer } from "../../local/http-server.ts";
import type { Listening } from "../../local/http-server.ts";
import { failureOf } from "./aws-fixture.ts";

/** Longer than any test may take: what waits for this is never waited for. */
const NEVER_MS = 3_600_000;

type Own = { kind: "refuse" } | { kind: "odd" };

async function started(listening: Listening = {}) {
  const applied: string[] = [];
  const injected: string[] = [];
  const server = await startHttpServer<{ id: string }, Own>({
    ...listening,
    phaseOfOwn: ({ kind }) => (kind === "refuse" ? "arriving" : "received"),
    read({ url }) {
      const id = url.slice(1);
      return {
        seen: { id },
        onFault: (kind) => injected.push(kind),
        takes: () => id !== "normal",
        refuse: ({ kind }) =>
          kind === "refuse" ? { status: 503, headers: {}, body: "refused" } : undefined,
        apply(faults) {
          applied.push(id);
          const body = faults.map(({ kind }) => kind).join() || `applied ${id} é`;
          return { status: 200, headers: {}, body };
        },
      };
    },
  });
  onTestFinished(() => server.stop().catch(() => {}));
  /** Status and body, or "cut": node:http, as fetch would repeat a request whose connection was cut. */
  const send = (id = "a", options: { signal?: AbortSignal } = {}) =>
    new Promise<string>((resolve) => {
      const sent = request(`${server.url}/${id}`, { method: "POST", ...options }, (response) => {
        text(response).then(
          (body) => resolve(`${response.statusCode} ${body}`),
          () => resolve("cut"),
        );
      });
      sent.on("error", () => resolve("cut")).end();
    });
  return { server, applied, injected, send };
}

test.each([
  ["dropBefore", { kind: "dropBefore" }, "cut", 0],
  ["dropAfter", { kind: "dropAfter" }, "cut", 1],
  ["delayArrival", { kind: "delayArrival", ms: 5 }, "200 applied a é", 1],
  ["delayBefore", { kind: "delayBefore", ms: 5 }, "200 applied a é", 1],
  ["delayAfter", { kind: "delayAfter", ms: 5 }, "200 applied a é", 1],
  ["slowBody", { kind: "slowBody", ms: 5 }, "200 applied a é", 1],
  ["a fault of its own that ends it", { kind: "refuse" }, "503 refused", 0],
  ["a fault of its own that does not", { kind: "odd" }, "200 odd", 1],
] as const)(
  "%s happens once, and the next request is as usual",
  async (_name, fault, end, times) => {
    const { server, applied, injected, send } = await started();
    const armed = server.faults.add({}, fault);

    const first = await send();
    const appliedByFirst = applied.length;
    const second = await send();

    expect([first, appliedByFirst, second]).toEqual([end, times, "200 applied a é"]);
    expect([armed.happened(), injected]).toEqual([1, [fault.kind]]);
  },
);

test.each([
  ["delayArrival", 0],
  ["delayBefore", 0],
  ["delayAfter", 1],
  ["slowBody", 1],
] as const)("a request under %s is held, and the next one overtakes it", async (kind, times) => {
  const { server, applied, injected, send } = await started();
  server.faults.add({ id: "slow" }, { kind, ms: NEVER_MS });

  const slow = send("slow");
  await expect.poll(() => injected).toEqual([kind]);
  const fast = await send("fast");

  expect(fast).toBe("200 applied fast é");
  expect(applied.filter((id) => id === "slow")).toHaveLength(times);
  await server.stop();
  expect(await slow).toBe("cut");
});

test("slowBody sends the headers at once", async () => {
  const { server } = await started();
  server.faults.add({}, { kind: "slowBody", ms: NEVER_MS });

  const response = await fetch(`${server.url}/a`);

  expect(response.status).toBe(200);
  await response.body?.cancel();
});

test("a delayed request is applied although its client has given up", async () => {
  const { server, applied, injected, send } = await started();
  server.faults.add({}, { kind: "delayBefore", ms: 500 });
  const givingUp = new AbortController();
  const call = send("a", { signal: givingUp.signal });
  await expect.poll(() => injected).toEqual(["delayBefore"]);

  givingUp.abort();

  expect([await call, applied]).toEqual(["cut", []]);
  await expect.poll(() => applied).toEqual(["a"]);
});

test.each([
  ["arriving", []],
  ["received", []],
  ["applied", ["a"]],
] as [Phase, string[]][])(
  "a hook at %s runs then, and the request waits for it",
  async (at, now) => {
    const { server, applied, send } = await started();
    const gate = Promise.withResolvers<void>();
    let seen: unknown;
    const run = ({ id }: { id: string }) => {
      seen = { id, applied: [...applied] };
      return gate.promise;
    };
    server.faults.add({}, { kind: "hook", at, run });
    let answer: string | undefined;

    const call = send().then((end) => (answer = end));
    await expect.poll(() => seen).toEqual({ id: "a", applied: now });
    await send("other");
    expect(answer).toBeUndefined();
    gate.resolve();

    expect(await call).toBe("200 applied a é");
  },
);

test("a fault hits only the requests that match all of its conditions", async () => {
  const { server, send } = await started();
  const match = { id: "a", times: Infinity };
  const never = server.faults.add({ ...match, where: () => false }, { kind: "dropBefore" });
  const odd = server.faults.add({ id: "normal", times: Infinity }, { kind: "odd" });
  const fault = server.faults.add({ ...match, where: () => true }, { kind: "dropBefore" });

  const ends = [await send("b"), await send("normal"), await send("a")];

  expect(ends).toEqual(["200 applied b é", "200 applied normal é", "cut"]);
  expect([fault.happened(), never.happened(), odd.happened()]).toEqual([1, 0, 0]);
});

test("a fault happens once, a given number of times, or until it is removed", async () => {
  const { server, send } = await started();
  const drop = { kind: "dropBefore" } as const;
  const once = server.faults.add({ id: "once" }, drop);
  const twice = server.faults.add({ id: "twice", times: 2 }, drop);
  const always = server.faults.add({ id: "always", times: Infinity }, drop);
  const tries = async (id: string) => {
    const ends = [await send(id), await send(id), await send(id)];
    if (id === "always") always.remove();
    return [...ends, await send(id)].map((end) => end === "cut");
  };

  expect([await tries("always"), await tries("twice"), await tries("once")]).toEqual([
    [true, true, true, false],
    [true, true, false, false],
    [true, false, false, false],
  ]);
  expect([always.happened(), twice.happened(), once.happened()]).toEqual([3, 2, 1]);
});

test("after removeAll nothing is left armed", async () => {
  const { server, send } = await started();
  const faults = [
    server.faults.add({ times: Infinity }, { kind: "dropBefore" }),
    server.faults.add({}, { kind: "refuse" }),
  ];

  server.faults.removeAll();

  expect(await send()).toBe("200 applied a é");
  expect(faults.map((fault) => fault.happened())).toEqual([0, 0]);
});

test("faults happen in order, and one behind a fault that ended the exchange is left for later", async () => {
  const { server, injected, send } = await started();
  server.faults.add({}, { kind: "dropAfter" });
  server.faults.add({}, { kind: "hook", at: "arriving", run: () => {} });
  server.faults.add({}, { kind: "dropBefore" });
  server.faults.add({}, { kind: "refuse" });

  const ends = [await send(), await send(), await send(), await send()];

  expect(ends).toEqual(["cut", "503 refused", "cut", "200 applied a é"]);
  expect(injected).toEqual(["hook", "dropBefore", "refuse", "dropAfter"]);
});

test("what a hook throws cuts its request, and comes out of stop once", async () => {
  const { server, send } = await started();
  const run = () => {
    throw new Error("The assertion in the hook failed.");
  };
  server.faults.add({}, { kind: "hook", at: "received", run });

  const end = await send();

  expect(end).toBe("cut");
  expect((await failureOf(server.stop())).message).toBe("The assertion in the hook failed.");
  await server.stop();
});

test("stop does not wait for a delay or for a hook that never ends, and applies nothing late", async () => {
  const { server, applied, injected, send } = await started();
  server.faults.add({ id: "a" }, { kind: "delayBefore", ms: NEVER_MS });
  const run = () => new Promise<void>(() => {});
  server.faults.add({ id: "b" }, { kind: "hook", at: "arriving", run });
  const calls = [send("a"), send("b")];
  await expect.poll(() => injected.toSorted()).toEqual(["delayBefore", "hook"]);

  await server.stop();

  expect(await Promise.all(calls)).toEqual(["cut", "cut"]);
  expect(applied).toEqual([]);
});

test("connections are counted, and one that is kept alive counts once", async () => {
  const { server } = await started();
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const send = () =>
    new Promise((resolve) => {
      request(server.url, { agent }, (response) => response.resume().on("end", resolve)).end();
    });

  await send();
  await send();

  expect(server.connections()).toBe(1);
});

test("a stopped server frees its port, and a port that is taken is an error", async () => {
  const { server } = await started();
  const taken = await failureOf(started({ port: server.port }));
  await server.stop();

  const next = await started({ port: server.port });

  expect(taken["code"]).toBe("EADDRINUSE");
  expect(next.server.url).toBe(`http://127.0.0.1:${server.port}`);
});

test("it listens on 127.0.0.1 alone, and on another address when it is given one", async () => {
  const { server } = await started();
  const bridged = await started({ host: "127.0.0.2" });
  const at = (port: number) =>
    fetch(`http://127.0.0.2:${port}/a`).then(
      ({ status }) => status,
      () => "refused",
    );

  expect(await at(server.port)).toBe("refused");
  expect(await at(bridged.server.port)).toBe(200);
  expect(await bridged.send()).toBe("200 applied a é");
});
