/** `npm run paper`: measures what is missing of the paper's tables and figures, draws them and writes the page. Prints progress. */

import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { machineFacts } from "../bench/machine.ts";
import { findPython, type Python } from "../bench/python.ts";
import { DataShelf } from "./data.ts";
import { chooseExperiments, MEASURING_ORDER } from "./experiments/all.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { makePage } from "./page.ts";
import { measureMissing } from "./runner.ts";
import { Store } from "./store.ts";

const LAB = fileURLToPath(new URL("../../", import.meta.url));
const RESULTS = "results/paper";
/** A folder of data beside the checkout is used where RANKSIM_DATA is not set. */
const BESIDE = join(LAB, "../../../shared/data");

const options = readOptions(argv.slice(2));
if (options.help) stdout.write(HELP);
else await reproduce(options);

async function reproduce(options: Options): Promise<void> {
  const began = performance.now();
  const scratch = mkdtempSync(join(tmpdir(), "ranksim-paper-"));
  try {
    const folder = options.results ?? (options.quick ? join(scratch, "results") : join(LAB, RESULTS));
    const store = new Store(folder);
    if (!options.page) await measure(options, store, scratch, began);
    const own = options.results === undefined && !options.quick;
    const page = makePage(store, options.quick, own ? RESULTS : ".");
    const path = own ? join(LAB, "PAPER.md") : join(folder, "PAPER.md");
    writeFileSync(`${path}.tmp`, page);
    renameSync(`${path}.tmp`, path);
    stdout.write(`${page.slice(page.indexOf("## Claims"), page.indexOf("\n## Figure 1"))}\n`);
    tell(
      `${own || options.results ? `page: ${path}; ` : ""}${((performance.now() - began) / 60_000).toFixed(1)} minutes`,
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measure(options: Options, store: Store, scratch: string, began: number): Promise<void> {
  const chosen = chooseExperiments(options.names);
  const folder = options.data ?? process.env.RANKSIM_DATA ?? (existsSync(BESIDE) ? BESIDE : undefined);
  const shelf = new DataShelf(scratch, folder);
  let python: Promise<Python> | undefined;
  const before = store.readSession();
  const keepFacts = async () => {
    const facts = (await python)?.facts ?? before?.python;
    store.writeSession({
      date: new Date().toISOString(),
      machine: machineFacts(),
      ...(facts ? { python: facts } : {}),
      data: { ...before?.data, ...(await shelf.opened()) },
    });
  };
  const findOnce = () => {
    python ??= findPython(options.python, undefined);
    return python;
  };
  const until = began + options.minutes * 60_000;
  await measureMissing(
    { scratch, shelf, store, program: options.python, python: findOnce, tell, keepFacts, only: options.only, until },
    MEASURING_ORDER.filter((experiment) => chosen.includes(experiment)),
    options.quick,
  );
}

function tell(message: string): void {
  stderr.write(`${message}\n`);
}
