// The table's expressions, on one item.

import { expect, test } from "vitest";

import { plainItem, typedItem } from "../../local/table/attribute-value.ts";
import { conditionOf } from "../../local/table/condition.ts";
import { normalNumber } from "../../local/table/numbers.ts";
import { project, projectionOf } from "../../local/table/projection.ts";
import { updateOf } from "../../local/table/update.ts";
import { writeOf } from "../../local/table/write.ts";

const ITEM = {
  messageId: "m-1",
  owner: "a",
  lease: 1000,
  outcome: { result: "declined", code: { kind: "card" } },
};
const item = typedItem(ITEM);
const given = {
  ExpressionAttributeNames: { "#owner": "owner", "#r": "result", "#c": "code" },
  ExpressionAttributeValues: {
    ...typedItem({ ":a": "a", ":b": "b", ":n": 1000, ":m": 1001, ":text": "1000" }),
    ...typedItem({ ":two": 2, ":declined": "declined", ":list": ["end"] }),
  },
};

test.each([
  ["#owner = :a", true],
  ["#owner = :b", false],
  ["lease = :n", true],
  ["lease = :text", false],
  ["absent = :a", false],
  ["absent <> :a", true],
  ["#owner <> :b", true],
  ["lease < :m", true],
  ["lease < :n", false],
  ["lease <= :n", true],
  ["lease > :n", false],
  ["lease >= :n", true],
  ["lease > :text", false],
  ["absent < :n", false],
  ["lease BETWEEN :two AND :m", true],
  ["lease between :m and :m", false],
  ["#owner IN (:b, :a)", true],
  ["#owner IN (:b)", false],
  ["attribute_exists(#owner)", true],
  ["attribute_exists(absent)", false],
  ["attribute_not_exists(absent)", true],
  ["attribute_not_exists(outcome.#r)", false],
  ["begins_with(outcome.#r, :declined)", true],
  ["begins_with(#owner, :b)", false],
  ["outcome.#r = :declined", true],
  ["outcome.#c.kind = :declined", false],
  ["NOT #owner = :b", true],
  ["NOT (#owner = :a OR lease = :n)", false],
  ["#owner = :b OR #owner = :a AND lease = :n", true],
  ["(#owner = :b OR #owner = :a) AND lease = :m", false],
  ["(#owner = :b AND lease = :n) OR (#owner = :a AND lease = :n)", true],
])("the condition %s is %s", (expression, expected) => {
  expect(conditionOf(expression).holds(item, given)).toBe(expected);
});

test.each([
  ["attribute_not_exists(#owner)", true],
  ["#owner <> :a", true],
  ["#owner = :a", false],
])("of no item, %s is %s", (expression, expected) => {
  expect(conditionOf(expression).holds(undefined, given)).toBe(expected);
});

test.each([
  ["SET #owner = :b, lease = :n REMOVE outcome", { owner: "b", outcome: undefined }],
  ["set lease = lease + :two", { lease: 1002 }],
  ["SET lease = lease - :two, formerly = lease", { lease: 998, formerly: 1000 }],
  ["SET lease = if_not_exists(lease, :two)", { lease: 1000 }],
  ["SET attempt = if_not_exists(attempt, :two) + :two", { attempt: 4 }],
  ["SET outcome.#r = :b", { outcome: { result: "b", code: { kind: "card" } } }],
  ["REMOVE outcome.#c.kind", { outcome: { result: "declined", code: {} } }],
  ["REMOVE absent", {}],
  ["ADD lease :two", { lease: 1002 }],
  ["ADD paid :two", { paid: 2 }],
])("the update %s makes %o of it", (expression, changes) => {
  const before = structuredClone(item);

  const after = plainItem(updateOf(expression).apply(item, given));

  expect(after).toEqual({ ...plainItem(before), ...changes });
  expect(item).toEqual(before);
});

test.each([
  ["SET lease = absent", "refers to an attribute that does not exist in the item"],
  ["ADD #owner :n", "An operand in the update expression has an incorrect data type"],
  ["SET lease = #owner + :n", "An operand in the update expression has an incorrect data type"],
  ["SET absent.deep = :a", "The document path provided in the update expression is invalid"],
  ["SET #owner.deep = :a", "The document path provided in the update expression is invalid"],
])("the update %s of an item that does not allow it is invalid", (expression, message) => {
  expect(() => updateOf(expression).apply(item, given)).toThrow(message);
});

test.each([
  ["outcome", { outcome: ITEM.outcome }],
  ["outcome.#r, lease", { outcome: { result: "declined" }, lease: 1000 }],
  ["absent", {}],
])("the projection %s shows %o", (expression, expected) => {
  expect(plainItem(project(item, projectionOf(expression).paths, given))).toEqual(expected);
});

const SYNTAX = "Invalid ConditionExpression: Syntax error; token: ";
test.each([
  ["", "Invalid ConditionExpression: The expression can not be empty;"],
  ["#owner =", `${SYNTAX}"<EOF>", near: "="`],
  ["#owner = = :a", `${SYNTAX}"=", near: "= = :a"`],
  ["#owner :a", `${SYNTAX}":a", near: "#owner :a"`],
  ["#owner = :a lease", `${SYNTAX}"lease", near: ":a lease"`],
  ["(#owner = :a", `${SYNTAX}"<EOF>", near: ":a"`],
  ["#owner ? :a", `${SYNTAX}"?", near: "#owner ? :a"`],
  ["status = :a", "Attribute name is a reserved keyword; reserved keyword: status"],
  ["outcome.Name = :a", "Attribute name is a reserved keyword; reserved keyword: Name"],
  ["#no = :a", "name used in the document path is not defined; attribute name: #no"],
  ["#owner = :no", "value used in expression is not defined; attribute value: :no"],
  ["contains(#owner, :a)", "The local table does not know the function contains."],
  ["attribute_exists(:a)", "requires a document path; operator or function: attribute_exists"],
  ["begins_with(#owner, :n)", "operator or function: begins_with, operand type: N"],
  [
    "lease < :list",
    "Incorrect operand type for operator or function; operator: <, operand type: L",
  ],
  ["((#owner = :a))", "The expression has redundant parentheses;"],
])("the condition %s is invalid", (ConditionExpression, message) => {
  expect(() => writeOf("Put", { ...given, ConditionExpression }, "messageId")).toThrow(message);
});

test.each([
  ["lease = :n", 'Invalid UpdateExpression: Syntax error; token: "lease", near: "lease ="'],
  ["SET lease :n", 'Syntax error; token: ":n", near: "lease :n"'],
  ["SET lease = :n SET lease = :a", 'The "SET" section can only be used once'],
  ["SET #owner = :a REMOVE #owner", "path one: [owner], path two: [owner]"],
  ["SET outcome.#r = :a REMOVE outcome", "path one: [outcome, result], path two: [outcome]"],
  ["SET messageId = :a", "attribute messageId. This attribute is part of the key"],
])("the update %s is invalid", (UpdateExpression, message) => {
  expect(() => writeOf("Update", { ...given, UpdateExpression }, "messageId")).toThrow(message);
});

// Powertools' own condition, as it sends it: the bench compares with it on this table.
test.each([
  ["no record", undefined, true],
  ["a claim that has expired", { in_progress_expiration: 999_999 }, true],
  ["a claim that is live", { in_progress_expiration: 1_000_001 }, false],
  ["an outcome", { status: "COMPLETED" }, false],
  ["an outcome that has expired", { status: "COMPLETED", expiration: 999 }, true],
])("Powertools' condition on %s is %s", (_name, record, expected) => {
  const condition = conditionOf(
    "attribute_not_exists(#id) OR #expiry < :now OR (#status = :inprogress AND attribute_exists(#in_progress_expiry) AND #in_progress_expiry < :now_in_millis)",
  );
  const claimed = record && { messageId: "m", status: "INPROGRESS", expiration: 9000, ...record };

  const holds = condition.holds(claimed && typedItem(claimed), {
    ExpressionAttributeNames: {
      "#id": "messageId",
      "#expiry": "expiration",
      "#status": "status",
      "#in_progress_expiry": "in_progress_expiration",
    },
    ExpressionAttributeValues: typedItem({
      ":now": 1000,
      ":now_in_millis": 1_000_000,
      ":inprogress": "INPROGRESS",
    }),
  });

  expect(holds).toBe(expected);
});

test.each([
  ["1.50", "1.5"],
  ["-0012.0", "-12"],
  ["1e3", "1000"],
  ["0.000", "0"],
  ["999999999999999", "999999999999999"],
])("the number %s is kept as %s", (text, expected) => {
  expect(normalNumber(text)).toBe(expected);
});

test.each([
  ["", "The parameter cannot be converted to a numeric value: "],
  ["12a", "The parameter cannot be converted to a numeric value: 12a"],
  ["1e999", "The parameter cannot be converted to a numeric value: 1e999"],
  ["9007199254740993", "The local table holds numbers of up to 15 digits"],
])("the number %s is invalid", (text, message) => {
  expect(() => normalNumber(text)).toThrow(message);
});
