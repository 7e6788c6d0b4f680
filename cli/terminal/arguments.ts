// What a command takes: options that are read, checked and explained from one definition.
import { parseArgs } from "node:util";

import { UsageError } from "./command.ts";
import { readInstant } from "./instant.ts";
import { labeled } from "./print.ts";
import { wrap } from "./table.ts";

export type Option<Value> = {
  /** The placeholder of its value in the help; absent for a flag, which has none. */
  value?: string;
  /** Empty: left out of the help. */
  help: string;
  multiple?: boolean;
  /** `given` is empty when the option was not. @throws UsageError */
  read: (name: string, given: readonly string[]) => Value;
};

export const flag = (help: string): Option<boolean> => ({
  help,
  read: (_, given) => given.length > 0,
});

export function text<Fallback extends string | undefined = undefined>(
  value: string,
  help: string,
  fallback?: Fallback,
): Option<string | Fallback> {
  return {
    value,
    help: explain(help, fallback),
    read: (_, [given]) => given ?? (fallback as Fallback),
  };
}

export const texts = (value: string, help: string): Option<readonly string[]> => ({
  value,
  help: `${help}; may be repeated`,
  multiple: true,
  read: (_, given) => given,
});

type Range = readonly [min: number, max: number];

export function number<Fallback extends number | undefined = undefined>(
  value: string,
  help: string,
  [min, max]: Range,
  fallback?: Fallback,
  [noun, pattern]: readonly [string, RegExp] = ["a number", /^\d+(\.\d+)?$/],
): Option<number | Fallback> {
  return {
    value,
    help: explain(help, fallback),
    read(name, [given]) {
      if (given === undefined) return fallback as Fallback;
      const number = pattern.test(given) ? Number(given) : NaN;
      if (number >= min && number <= max) return number;
      throw new UsageError(`${name} must be ${noun} from ${min} to ${max}, not "${given}".`);
    },
  };
}

export const integer = <Fallback extends number | undefined = undefined>(
  value: string,
  help: string,
  range: Range,
  fallback?: Fallback,
): Option<number | Fallback> => number(value, help, range, fallback, ["an integer", /^\d{1,15}$/]);

export function choice<Value extends string>(
  value: string,
  help: string,
  values: readonly Value[],
  fallback: Value,
): Option<Value> {
  return {
    value,
    help: explain(`${help}: ${values.join(", ")}`, fallback),
    read(name, [given = fallback]) {
      const known = values.find((one) => one === given);
      if (known !== undefined) return known;
      throw new UsageError(`${name} must be one of ${values.join(", ")}, not "${given}".`);
    },
  };
}

/** A point in time, as epoch ms: see `readInstant`. */
export function instant<Fallback extends string | undefined = undefined>(
  value: string,
  help: string,
  fallback?: Fallback,
): Option<number | (Fallback extends string ? never : undefined)> {
  return {
    value,
    help: explain(help, fallback),
    read(name, [given = fallback]) {
      const at = given === undefined ? undefined : readInstant(name, given, Date.now());
      return at as number;
    },
  };
}

export const queueUrl = (value: string, help: string): Option<string | undefined> => ({
  value,
  help,
  read(name, [given]) {
    if (given === undefined || /^https?:$/.test(URL.parse(given)?.protocol ?? "")) return given;
    throw new UsageError(`${name} must be the URL of a queue.`);
  },
});

function explain(help: string, fallback: string | number | undefined): string {
  return fallback === undefined ? help : `${help} (default ${fallback})`;
}

type Options = Record<string, Option<unknown>>;

type Values<Own extends Options> = {
  [Name in keyof Own]: Own[Name] extends Option<infer Value> ? Value : never;
};

/** What a command's options are read as. */
export type ValuesOf<Command extends { options: Options }> = Values<Command["options"]>;

export type CommandSpec<Own extends Options> = {
  /** As in `"x" is not an option of NAME`. */
  name: string;
  /** How it is called: the first line of the help. */
  usage: string;
  /** What it does. Paragraphs are parted by empty lines; an indented line stays as it is. */
  about: string;
  options: Own;
  /** What an argument is, as in "A message id is empty"; absent when it takes none. */
  positionals?: string;
  notes?: string;
  examples?: readonly string[];
};

/**
 * Reads a command's arguments. Prints its help and exits 0 on --help.
 *
 * @throws UsageError for an argument that is not known, or is not what it must be
 */
export function readArguments<Own extends Options>(
  spec: CommandSpec<Own>,
  args: readonly string[] = process.argv.slice(2),
): { values: Values<Own>; positionals: string[] } {
  const { name, options, positionals: noun } = spec;
  const { given, positionals } = parse(options, args);
  if (given["help"]) {
    process.stdout.write(helpOf(spec, process.stdout.columns));
    process.exit(0);
  }
  const [unexpected] = positionals;
  if (unexpected !== undefined && noun === undefined) {
    throw new UsageError(`"${unexpected}" is not an option of ${name}. See --help.`);
  }
  if (positionals.some((one) => one.trim() === "")) {
    throw new UsageError(`A ${noun} is empty: set it first.`);
  }
  const values = Object.entries(options).map(([option, { read }]) => {
    const texts = [given[option] ?? []].flat().map(String);
    if (texts.some((one) => one.trim() === "")) {
      throw new UsageError(`--${option} is empty: set it first.`);
    }
    return [option, read(`--${option}`, texts)];
  });
  return { values: Object.fromEntries(values) as never, positionals };
}

function parse(options: Options, args: readonly string[]) {
  const config = Object.fromEntries(
    Object.entries(options).map(([option, { value, multiple = false }]) => [
      option,
      { type: value === undefined ? "boolean" : "string", multiple } as const,
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: joinNegative(args, options),
      options: { ...config, help: { type: "boolean", short: "h" } },
      allowPositionals: true,
    });
    return { given: values as Record<string, string | string[] | boolean>, positionals };
  } catch (error) {
    // Node's own advice is for arguments that do not exist here.
    const [sentence] = (error as Error).message.split(/\.(?:\s|$)/);
    throw new UsageError(`${sentence}. See --help.`, { cause: error });
  }
}

/** `--rate -1` as `--rate=-1`: its own check then says what is wrong with it. */
function joinNegative(args: readonly string[], options: Options): string[] {
  const takesValue = (arg = "") => options[arg.slice(2)]?.value !== undefined;
  return args.flatMap((arg, index) => {
    if (/^-\d/.test(arg) && takesValue(args[index - 1])) return [];
    const next = args[index + 1] ?? "";
    return takesValue(arg) && /^-\d/.test(next) ? [`${arg}=${next}`] : [arg];
  });
}

const WIDTH = 100;

/** The help, for a terminal of this width. */
export function helpOf(
  { usage, about, options, notes = "", examples = [] }: CommandSpec<Options>,
  columns = WIDTH,
): string {
  const width = Math.min(columns, WIDTH);
  const rows = Object.entries(options)
    .filter(([, { help }]) => help !== "")
    .map(([option, { value, help }]) => [`--${option}${value ? ` ${value}` : ""}`, help] as const);
  const sections = [
    `${usage}\n\n${reflow(about, width)}`,
    rows.length > 0 ? `Options\n${labeled(rows, width)}` : "",
    reflow(notes, width),
    examples.length > 0 ? ["Examples", ...examples.map((one) => `  ${one}`)].join("\n") : "",
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function reflow(text: string, width: number): string {
  return text
    .trim()
    .split("\n\n")
    .map((paragraph) =>
      paragraph.includes("\n  ") || paragraph.startsWith("  ")
        ? paragraph
        : wrap(paragraph.replaceAll("\n", " "), width).join("\n"),
    )
    .join("\n\n");
}
