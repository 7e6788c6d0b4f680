// How a request in flight ends: with its reply, with its caller's death, or too late.

import { checkDone, consumerOf, doneOf } from "./consumers.ts";
import type { Call, Invocation, Reply } from "./invocation.ts";
import { askAgain, CLIENT_TIMEOUT_MS } from "./orders.ts";
import { checkpointOf } from "./outcomes.ts";
import { START } from "./scenario.ts";
import { disturbed, outcomesOf } from "./world.ts";
import type { World } from "./world.ts";

/** Carries a request out, and answers. */
export function answer(world: World, call: Call): void {
  const reply =
    call.reply ?? (isDown(world, call) ? unavailable(world, call) : carryOut(world, call));
  hand(world, call, reply);
}

function isDown({ scenario, now }: World, { request }: Call): boolean {
  const [from, until] = scenario.stripeDown ?? [0, 0];
  return request !== undefined && now >= START + from && now < START + until;
}

function unavailable({ stripe, recorder }: World, { by, name, request }: Call): Reply {
  if (!request) throw new Error("Bug! Only Stripe is down.");
  const value = stripe.failing(request, { status: 503, type: "api_error", stored: false }, false);
  recorder.trace?.(by.name, `${name}: ${describe({ value })}`);
  return { value };
}

/** Carries a request out, if that has not been done, as its caller. */
export function carryOut(world: World, call: Call): Reply {
  world.writer = call.by;
  const { trace } = world.recorder;
  try {
    const reply = (call.finish ?? call.receive())();
    trace?.(call.by.name, `${call.name}: ${describe(reply)}`);
    return reply;
  } catch (violation) {
    trace?.(call.by.name, call.name);
    throw violation;
  }
}

/** Hands a reply, or what a fault puts in its place, to the caller. */
export function hand(world: World, call: Call, reply: Reply): void {
  forget(world, call);
  if (!call.waiting) return;
  if (world.recorder.digests) {
    remember(call.by, `${call.name} ${describe(reply)} ${world.now}`);
  }
  call.resolve(reply);
}

export function forget(world: World, call: Call): void {
  const index = world.calls.indexOf(call);
  if (index >= 0) world.calls.splice(index, 1);
}

/** The caller gives up. A slow request is still carried out some time. */
export function expire(world: World, call: Call): void {
  world.recorder.trace?.(call.by.name, `${call.name}: no reply in time`);
  const { resolve } = call;
  if (call.state !== "slow") forget(world, call);
  call.waiting = false;
  if (world.recorder.digests) remember(call.by, `${call.name} timeout ${world.now}`);
  resolve({ error: timeoutOf(call) });
}

/** A slow request is done at last. */
export function finish(world: World, call: Call): void {
  disturbed(world);
  const reply = carryOut(world, call);
  if (call.waiting && call.by.frozenAt !== undefined) {
    Object.assign(call, { state: "answered", reply, finishBy: Infinity });
  } else {
    hand(world, call, reply);
  }
}

/** A worker is gone. What it sent may still arrive. */
export function kill(world: World, invocation: Invocation): void {
  disturbed(world);
  invocation.state = "dead";
  invocation.frozenAt = undefined;
  askAgain(world, invocation);
  for (const call of world.calls.filter(({ by }) => by === invocation)) {
    call.waiting = false;
    if (call.state === "slow") continue;
    if (call.state === "sent" && call.service !== "poller" && world.vary(2) === 1) {
      carryOut(world, call);
    }
    forget(world, call);
  }
}

export function connectionLost(call: Call): Reply {
  const error = new Error("socket hang up");
  return { error: Object.assign(error, call.service === "stripe" ? {} : { name: "TimeoutError" }) };
}

function timeoutOf(call: Call): Error {
  return call.service === "stripe"
    ? Object.assign(new Error("ETIMEDOUT"), { code: "ETIMEDOUT" })
    : Object.assign(new Error("The operation was aborted"), { name: "AbortError" });
}

/** After the handler's answer Lambda's poller deletes what succeeded, or sets its checkpoint. */
export function acknowledge(
  world: World,
  invocation: Invocation,
  failed: readonly string[] | undefined,
): void {
  invocation.state = "over";
  if (invocation.role === "publisher") {
    if (!failed) return; // Lambda bisects the batch
    const checkpoint = checkpointOf(invocation, failed);
    pollerCall(world, invocation, "checkpoint", () => {
      const outcomes = outcomesOf(world);
      outcomes.checkpoint = Math.max(outcomes.checkpoint, checkpoint);
      outcomes.unanswered = 0;
      outcomes.bisected = undefined;
      return { value: `at ${checkpoint}` };
    });
    return;
  }
  if (invocation.role === "door") {
    const { statusCode } = invocation.response ?? {};
    const heard = (reply: Reply) => {
      if ("error" in reply || statusCode === 503) askAgain(world, invocation);
    };
    const answered = () => ({ value: String(statusCode) });
    pollerCall(world, invocation, "answer", answered, heard, CLIENT_TIMEOUT_MS);
    return;
  }
  const done = doneOf(invocation, failed);
  pollerCall(world, invocation, done.length > 0 ? "acknowledge" : "return", () => {
    checkDone(world, invocation, failed);
    const queue = consumerOf(invocation.role).queue(world);
    for (const { receipt } of done) queue.remove(receipt);
    return { value: done.map(({ message }) => message.sqsMessageId).join() };
  });
}

function pollerCall(
  world: World,
  by: Invocation,
  name: string,
  done: () => Reply,
  resolve: Call["resolve"] = () => {},
  timeoutMs = Infinity,
): void {
  world.calls.push({
    by,
    service: "poller",
    name,
    state: "sent",
    timesOutAt: world.now + timeoutMs,
    waiting: true,
    finishBy: Infinity,
    receive: () => done,
    resolve,
  });
}

function remember(invocation: Invocation, what: string): void {
  let digest = invocation.seen;
  for (let i = 0; i < what.length; i++) digest = Math.imul(digest ^ what.charCodeAt(i), 0x01000193);
  invocation.seen = digest;
}

type Failed = { Item?: Record<string, Record<string, unknown>> } & Error;
type Answered = { status?: number; body?: string };
type Body = {
  id?: string;
  status?: string;
  error?: { code?: string; type?: string };
  data?: { id: string }[];
};

/** A reply in a few words. */
function describe(reply: Reply): string {
  if ("error" in reply) {
    const { Item, name, message } = reply.error as Failed;
    if (name !== "ConditionalCheckFailedException") return message;
    const attribute = (key: string) => String(Object.values(Item?.[key] ?? {})[0]);
    const [owner] = attribute("owner").split("@");
    const there = Item ? `, there is ${attribute("status")} by ${owner}` : "";
    return `condition failed${there}`;
  }
  if (typeof reply.value === "string") return reply.value || "nothing";
  const { status, body = "{}" } = reply.value as Answered;
  if (status === undefined) return "done";
  const { id, status: state, error, data } = JSON.parse(body) as Body;
  if (data) return data.map((one) => one.id).join() || "none found";
  return error ? `${status} ${error.code ?? error.type}` : `${id} ${state}`;
}
