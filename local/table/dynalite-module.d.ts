// dynalite 4 ships no types: only what local/table uses of it is declared.
declare module "dynalite" {
  import type { Server } from "node:http";
  const dynalite: (options: { createTableMs: number; deleteTableMs: number }) => Server;
  export default dynalite;
}

declare module "dynalite/db/index.js" {
  type Item = Record<string, Record<string, unknown>>;
  type Refusal = Error & { statusCode: number; body: Record<string, unknown> };
  const db: {
    checkConditional: (
      data: { ReturnValuesOnConditionCheckFailure?: string },
      existing: Item | undefined,
    ) => Refusal | null | undefined;
  };
  export default db;
}

declare module "dynalite/validations/*" {
  const validation: { types: Record<string, { type: string; enum?: string[] }> };
  export default validation;
}
