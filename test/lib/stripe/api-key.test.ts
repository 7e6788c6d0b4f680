import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { mockClient } from "aws-sdk-client-mock";
import { beforeEach, expect, test, vi } from "vitest";

import { fixedKey, secretKeys } from "../../../lib/stripe/api-key.ts";

const client = new SecretsManagerClient({ region: "us-east-1" });
const secrets = mockClient(client);
beforeEach(() => secrets.reset());

type Answer = string | Error;

/** The keys of a secret that is read as these values, one after another, and then stays the last. */
function prepare(answers: Answer[], mode?: "live" | "test") {
  const [last, ...earlier] = answers.toReversed();
  const read = secrets.on(GetSecretValueCommand, { SecretId: "arn:secret" });
  for (const answer of earlier.toReversed()) {
    if (answer instanceof Error) read.rejectsOnce(answer);
    else read.resolvesOnce({ SecretString: answer });
  }
  if (last instanceof Error) read.rejects(last);
  else read.resolves({ SecretString: last });
  const clock = { now: 0 };
  return { clock, keys: secretKeys(client, "arn:secret", 1_000, () => clock.now, mode) };
}
const reads = () => secrets.commandCalls(GetSecretValueCommand).length;
const UNREACHABLE = new Error("unreachable");

test("a batch reads the secret once", async () => {
  const { keys } = prepare(["rk_live_1"]);

  const read = await Promise.all([keys.get(), keys.get(), keys.get()]);

  expect(read).toEqual(["rk_live_1", "rk_live_1", "rk_live_1"]);
  expect(reads()).toBe(1);
});

test("the key is kept for five minutes, and read again after", async () => {
  const { clock, keys } = prepare(["rk_live_1", "rk_live_2"]);
  await keys.get();

  clock.now = 299_999;
  const before = await keys.get();
  clock.now = 300_000;
  const after = await keys.get();

  expect([before, after]).toEqual(["rk_live_1", "rk_live_2"]);
});

test("a key that Stripe rejected is read again at once, and a late rejection leaves the new one", async () => {
  const { keys } = prepare(["rk_live_1", "rk_live_2"]);
  await keys.get();

  keys.drop("rk_live_1");
  expect(await keys.get()).toBe("rk_live_2");
  keys.drop("rk_live_1");
  await keys.get();

  expect(reads()).toBe(2);
});

test("a read of the secret gets the time it was given, and no more", async () => {
  const timeout = vi.spyOn(globalThis, "setTimeout");

  await prepare(["rk_live_1"]).keys.get();

  expect(timeout.mock.calls.map(([, ms]) => ms)).toEqual([1_000]);
  expect(secrets.commandCalls(GetSecretValueCommand)[0]?.args).toEqual([
    expect.anything(),
    { abortSignal: expect.any(AbortSignal) },
  ]);
});

test("a read that failed is not kept", async () => {
  const { keys } = prepare([UNREACHABLE, "rk_live_1"]);

  await expect(keys.get()).rejects.toThrow("unreachable");
  expect(await keys.get()).toBe("rk_live_1");
});

test("while Secrets Manager does not answer, the last key serves on, and it is asked every 30 s", async () => {
  const { clock, keys } = prepare(["rk_live_1", UNREACHABLE, "rk_live_2"]);
  await keys.get();

  clock.now = 300_000;
  const unreachable = await Promise.all([keys.get(), keys.get()]);
  clock.now = 329_999;
  const before = await keys.get();
  clock.now = 330_000;
  const after = await keys.get();

  expect(unreachable).toEqual(["rk_live_1", "rk_live_1"]);
  expect([before, after]).toEqual(["rk_live_1", "rk_live_2"]);
  expect(reads()).toBe(3);
});

test("a key that Stripe rejected does not serve on, nor one in the place of one that is wrong", async () => {
  const rejected = prepare(["rk_live_1", UNREACHABLE]);
  await rejected.keys.get();
  rejected.keys.drop("rk_live_1");
  await expect(rejected.keys.get()).rejects.toThrow("unreachable");

  secrets.reset();
  const wrong = prepare(["rk_live_1", "changeme"]);
  await wrong.keys.get();
  wrong.clock.now = 300_000;
  await expect(wrong.keys.get()).rejects.toMatchObject({ name: "NoStripeKey" });
});

test("a line break that was pasted with the key is not part of it", async () => {
  expect(await prepare([" sk_test_1\n"]).keys.get()).toBe("sk_test_1");
});

test("a secret of bytes is no Stripe key", async () => {
  const { keys } = prepare([]);
  secrets.on(GetSecretValueCommand).resolves({ SecretBinary: Buffer.from("sk_test_1") });

  await expect(keys.get()).rejects.toMatchObject({ name: "NoStripeKey" });
});

test.each([
  "",
  "changeme",
  "KEY=sk_live_secret",
  '{"key":"sk_live_secret"}',
  "pk_live_secret",
  "sk_live_se cret",
])("the secret %j is not a key, and is not quoted", async (secret) => {
  await expect(prepare([secret]).keys.get()).rejects.toMatchObject({
    name: "NoStripeKey",
    message:
      "The secret is not a Stripe API key: store the key itself (rk_… or sk_…) as the plain secret string.",
  });
});

test("a key from the environment stays, whatever Stripe says of it", async () => {
  const keys = fixedKey("sk_test_local");

  keys.drop("sk_test_local");

  expect(await keys.get()).toBe("sk_test_local");
});

test.each([
  ["live", "sk_test_1", "test"],
  ["live", "rk_test_1", "test"],
  ["test", "sk_live_1", "live"],
  ["test", "rk_live_1", "live"],
] as const)("for %s mode %s is never used", async (mode, secret, other) => {
  const wrong = {
    name: "WrongStripeMode",
    message: `The Stripe API key is a ${other} key, and STRIPE_MODE is ${mode}: store a ${mode} key, or deploy for ${other} mode.`,
  };

  await expect(prepare([secret], mode).keys.get()).rejects.toMatchObject(wrong);
  await expect(fixedKey(secret, mode).get()).rejects.toMatchObject(wrong);
});

test.each([
  ["live", "sk_live_1"],
  ["test", "rk_test_1"],
  ["live", "sk_test"], // no prefix of a mode: Stripe decides
  [undefined, "sk_test_1"],
  [undefined, "sk_live_1"],
] as const)("for mode %s %s is used", async (mode, secret) => {
  expect(await fixedKey(secret, mode).get()).toBe(secret);
});

test("a key of the wrong mode is read again at once, and its predecessor does not stay in use", async () => {
  const { clock, keys } = prepare(["rk_live_1", "rk_test_1", "rk_live_2"], "live");
  await keys.get();

  clock.now = 300_000;

  await expect(keys.get()).rejects.toMatchObject({ name: "WrongStripeMode" });
  expect(await keys.get()).toBe("rk_live_2");
});
