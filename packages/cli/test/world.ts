/** A world for commands under test: a folder of their own, outputs kept as text, standard input as given. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Io, Output, Processes } from "../src/io.ts";
import { run } from "../src/run.ts";

/** What a command did. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as it was written. */
  readonly bytes: Uint8Array;
}

/** How a command is run. */
export interface Circumstances {
  readonly stdin?: string | Uint8Array | AsyncIterable<Uint8Array>;
  readonly env?: { readonly [name: string]: string };
  readonly isTerminal?: boolean;
  /** Of standard error, where it is not as standard output. */
  readonly isErrorTerminal?: boolean;
  readonly colourDepth?: Output["colourDepth"];
  readonly columns?: number;
  readonly signal?: AbortSignal;
  readonly processes?: Processes;
}

/** A folder that is removed at the end, and a way to run commands in it. */
export interface World {
  readonly folder: string;
  readonly path: (name: string) => string;
  readonly ranksim: (line: string | readonly string[], circumstances?: Circumstances) => Promise<Outcome>;
  readonly remove: () => void;
}

/** Makes a world. Data sets are looked for nowhere but in the program itself and where `env` says. */
export function makeWorld(): World {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-test-"));
  return {
    folder,
    path: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
    ranksim: async (line, circumstances = {}) => {
      const out = keep(circumstances);
      const err = keep({
        ...circumstances,
        isTerminal: circumstances.isErrorTerminal ?? circumstances.isTerminal ?? false,
      });
      const { stdin = "", env = {}, signal = new AbortController().signal, processes } = circumstances;
      const io: Io = {
        stdin:
          typeof stdin === "string"
            ? once(new TextEncoder().encode(stdin))
            : stdin instanceof Uint8Array
              ? once(stdin)
              : stdin,
        stdout: out.output,
        stderr: err.output,
        env: { XDG_CACHE_HOME: join(folder, "cache"), ...env },
        cwd: folder,
        signal,
        ...(processes ? { processes } : {}),
      };
      const code = await run(typeof line === "string" ? words(line) : line, io);
      return { code, stdout: out.text(), stderr: err.text(), bytes: out.bytes() };
    },
  };
}

/** A command line's words; quotes hold words together as in a shell. */
export function words(line: string): string[] {
  return Array.from(
    line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
    ([, single, double, plain]) => single ?? double ?? plain,
  );
}

function keep({ isTerminal = false, colourDepth = 1, columns = 100 }: Circumstances) {
  const chunks: Buffer[] = [];
  const output: Output = {
    write: async (chunk) => {
      chunks.push(Buffer.from(chunk as string));
    },
    isTerminal,
    colourDepth,
    columns,
  };
  return { output, text: () => Buffer.concat(chunks).toString(), bytes: () => new Uint8Array(Buffer.concat(chunks)) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

/** The files that the documented examples read. */
export const EXAMPLE_CONTENTS = {
  "plants.csv": plants(),
  "reviews.csv": reviews(),
  "new-reviews.txt": "a lovely film with a wonderful cast\nthe plot was dull and boring\n",
};

/** Ten measures of 60 plants of 3 species; a species has its own order of measures, with a little unevenness. */
function plants(): string {
  const lines = [`${Array.from({ length: 10 }, (_, i) => `measure ${i}`).join(",")},species`];
  for (let row = 0; row < 60; row++) {
    const species = row % 3;
    const values = Array.from({ length: 10 }, (_, i) => ((i * (species * 2 + 3)) % 11) + ((row * 7 + i * 5) % 9) / 10);
    lines.push(`${values.join(",")},${["setosa", "versicolor", "virginica"][species]}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Forty reviews, half of them kind, in words that come round. */
function reviews(): string {
  const kind = ["lovely", "wonderful", "moving", "charming", "funny"];
  const unkind = ["dull", "boring", "clumsy", "weak", "bland"];
  const neutral = ["film", "plot", "cast", "music", "ending"];
  const lines = ["review,stars"];
  for (let row = 0; row < 40; row++) {
    const mood = row % 2 === 0 ? kind : unkind;
    const pick = (list: readonly string[], step: number) => list[(row * step + step) % list.length];
    lines.push(
      `"a ${pick(mood, 1)}, ${pick(mood, 3)} ${pick(neutral, 2)} and ${pick(neutral, 4)}",${row % 2 === 0 ? 5 : 1}`,
    );
  }
  return `${lines.join("\n")}\n`;
}

/** A table of words, dates, decimal commas and gaps. Good ones are large, late and rarely grey; some cells are empty. */
export function mixed(rows = 120): string {
  const lines = ["key;colour;when;size;flag;quality"];
  for (let i = 0; i < rows; i++) {
    const good = i % 2 === 0;
    const colour = i % 11 === 0 ? "" : ["red", "blue", "green"][i % 3];
    const day = 10 + ((i * 7) % 19);
    const size = i % 13 === 0 ? "NA" : ((good ? 50 : 20) + ((i * 5) % 17)) / 10;
    const cells = [`k-${i}`, good ? colour : i % 4 === 1 ? "grey" : colour, `${day}.${good ? 11 : 2}.2023`];
    lines.push(
      [...cells, String(size).replace(".", ","), i % 5 < (good ? 4 : 1) ? "yes" : "no", good ? "good" : "bad"].join(
        ";",
      ),
    );
  }
  return `${lines.join("\n")}\n`;
}

/** Notes without those that only rows in memory are looked at for. */
export const notesOfAnyRows = (notes: readonly string[]): readonly string[] =>
  notes.filter((note) => !/equal another row|alone tells every row's label/.test(note));
