/**
 * Teaches dynalite `ReturnValuesOnConditionCheckFailure: ALL_OLD`: a failed condition answers with the
 * item that failed it.
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html
 */
import db from "dynalite/db/index.js";
import deleteItem from "dynalite/validations/deleteItem.js";
import putItem from "dynalite/validations/putItem.js";
import updateItem from "dynalite/validations/updateItem.js";

let taught = false;

/** Changes the loaded dynalite, so once in a process and for every server in it. */
export function teachOldItem(): void {
  if (taught) return;
  taught = true;

  // dynalite strips the fields that its validations do not name.
  for (const { types } of [putItem, updateItem, deleteItem]) {
    types["ReturnValuesOnConditionCheckFailure"] = { type: "String", enum: ["ALL_OLD", "NONE"] };
  }

  // The actions call this while they hold the key's lock, with the item they read under it: the old
  // item is exactly the one that the condition was checked against.
  const { checkConditional } = db;
  db.checkConditional = (data, existing) => {
    const refusal = checkConditional(data, existing);
    if (refusal && existing && data.ReturnValuesOnConditionCheckFailure === "ALL_OLD") {
      refusal.body["Item"] = existing;
    }
    return refusal;
  };
}
