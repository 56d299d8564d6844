/** `ranksim export`: a model as a file that other tools read. */

import { basename } from "node:path";
import { type Labels, RanksimError } from "@ranksim/core";
import type { BitsCheck, RowType, WeightBits } from "@ranksim/export";
import { type Command, InvalidArgumentError, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { checkWritable, pieces, writeTo } from "../files/output.ts";
import { addReadingOptions, type ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import { readModel } from "../model/store.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { bytes, count } from "../terminal/numbers.ts";

type Format = "onnx" | "c" | "nir";

type Options = ComputeOptions &
  ReadingOptions & {
    readonly to: Format;
    readonly out: string;
    readonly rows?: RowType;
    readonly probabilities: boolean;
    readonly name?: string;
    readonly bits?: WeightBits;
    readonly check?: string;
    readonly threshold?: number;
  };

/** Flags that one format alone has a use for. */
const OF_FORMAT: { readonly [flag in "rows" | "name" | "bits" | "check" | "threshold"]: Format } = {
  rows: "onnx",
  name: "c",
  bits: "c",
  check: "c",
  threshold: "nir",
};

/** Adds the command. */
export function addExport(program: Command, io: Io): void {
  const command = program
    .command("export")
    .summary("write a model for other tools: ONNX, C, NIR")
    .description(
      "Writes a model as a file that other tools read: ONNX (labels and probabilities from raw rows), one C header (whole numbers only, for microcontrollers), or a NIR graph (for simulators of spiking neurons; needs the package h5wasm).",
    )
    .argument("<model>", "model file")
    .addOption(
      new Option("--to <format>", "what to write")
        .choices(["onnx", "c", "nir"] satisfies Format[])
        .makeOptionMandatory(),
    )
    .requiredOption("-o, --out <file>", "where it goes; - for standard output")
    .addOption(
      new Option(
        "--rows <type>",
        "ONNX: element type of rows; uint8 is the smallest and fastest (default: float64)",
      ).choices(["uint8", "float32", "float64"] satisfies RowType[]),
    )
    .option("--no-probabilities", "ONNX: labels alone")
    .option("--name <name>", "C: begins every name in the header (default: the name of the file)")
    .addOption(
      new Option("--bits <n>", "C: bits of a weight, 8 or 16 (default: the fewest that are exact)").argParser(bitsOf),
    )
    .option(
      "--check <data>",
      "C: 8 bits if they are as often right as predict on these rows, which were not trained on",
    )
    .addOption(
      new Option("--threshold <n>", "NIR: potential at which a filter fires and silences the others").argParser(Number),
    );
  addCommonOptions(addComputeOptions(addReadingOptions(command, io))).action((modelPath: string, options: Options) =>
    exportModel(modelPath, options, io),
  );
}

async function exportModel(modelPath: string, options: Options, io: Io): Promise<void> {
  const session = new Session(io, options);
  for (const [flag, format] of Object.entries(OF_FORMAT)) {
    if (options[flag as keyof typeof OF_FORMAT] !== undefined && options.to !== format) {
      throw usageError(`--${flag}: expected --to ${format} with it, found --to ${options.to}`);
    }
  }
  if (options.bits !== undefined && options.check !== undefined) throw usageError("--bits or --check, not both");
  await checkWritable(options.out, io, [modelPath]);
  const { model } = await readModel(modelPath, io);
  const { content, facts, lines } = await formats[options.to](model, modelPath, options, session);
  await writeTo(options.out, pieces(content), io);
  if (options.out === "-") return;
  const told = { to: options.to, out: options.out, bytes: content.byteLength, ...facts };
  await session.print("export", told, () =>
    [`${bytes(content.byteLength)} in ${options.out}`, ...lines, ""].join("\n"),
  );
}

interface Written {
  readonly content: Uint8Array;
  readonly facts: object;
  /** For people. */
  readonly lines: readonly string[];
}

type Writer = (
  model: Awaited<ReturnType<typeof readModel>>["model"],
  path: string,
  options: Options,
  session: Session,
) => Promise<Written>;

const INEXACT =
  "weights of this model, or its scaled rows, are fractions, and programs that run ONNX files add them up in an order of their own: a label can differ from that of predict where two filters respond alike";

/** The package is loaded when it is wanted: other commands start without it. */
const formats: { readonly [format in Format]: Writer } = {
  onnx: async (model, _, { rows, probabilities }, session) => {
    const { areResponsesExact, exportOnnx } = await import("@ranksim/export");
    const content = exportOnnx(model, { ...(rows ? { rows } : {}), probabilities });
    if (!areResponsesExact(model)) await session.note(INEXACT);
    return { content, facts: {}, lines: [] };
  },
  c: async (model, path, options, session) => {
    const { exportC } = await import("@ranksim/export");
    const check = options.check === undefined ? undefined : await judge(model, options, session);
    const bits = options.bits ?? check?.bits;
    const header = exportC(model, { name: options.name ?? nameOf(path), ...(bits ? { bits } : {}) });
    const { text, ...facts } = header;
    return {
      content: new TextEncoder().encode(text),
      facts: { ...facts, ...(check ? { check } : {}) },
      lines: [
        `weights of ${header.bits} bits${header.isExact ? ", exact" : ""}; ${bytes(header.flashBytes)} of flash, ${bytes(header.ramBytes)} of RAM`,
        ...(check ? [wordsOf(check)] : []),
      ],
    };
  },
  nir: async (model, _, { threshold }) => {
    const { exportNir } = await import("@ranksim/export/nir");
    return { content: await exportNir(model, threshold === undefined ? {} : { threshold }), facts: {}, lines: [] };
  },
};

async function judge(model: Parameters<Writer>[0], options: Options, session: Session): Promise<BitsCheck> {
  const { checkBits } = await import("@ranksim/export");
  const { set } = await openData(options.check as string, options, session, { model, labelled: true });
  if (set.form !== "matrix") throw new RanksimError("bad-matrix", "--check: expected rows of numbers, found text");
  return session.compute("checking", options, (run) => checkBits(model, set.x, set.y as Labels, run));
}

function wordsOf({ rows, right, rightIn8Bits, changed }: BitsCheck): string {
  return `on ${count(rows)} rows 8 bits are right on ${count(rightIn8Bits)}, the model on ${count(right)}; ${count(changed)} labels differ`;
}

/** The name of a file as a name of C. */
function nameOf(path: string): string {
  const stem = basename(path).replace(/\.[^.]*$/, "");
  return stem.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=[0-9])|^$/, "model_");
}

function bitsOf(text: string): WeightBits {
  if (text !== "8" && text !== "16") throw new InvalidArgumentError("Expected 8 or 16.");
  return Number(text) as WeightBits;
}
