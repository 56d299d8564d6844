/** `npm run fuzz`: damaged files against readers and commands, for as long as it is given. Prints counts, and every finding with its number. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, stderr, stdout, version } from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { attack, newTally, type Tally } from "./attack.ts";
import { modelTarget } from "./models.ts";
import { readerTargets } from "./readers.ts";
import { watch } from "./watch.ts";

const HELP = `Damages good files and gives them to readers and commands. Nothing but an answer or a refusal may come back.

  npm run fuzz -- --minutes 10

  --minutes N   how long (1)
  --seed N      which damage (1); a finding is repeated by its seed and case
  --only TEXT   only targets whose name has this; may be repeated
  --case N      this case alone
  --from N      number of the first case (0)
  --keep        write the counts to results/fuzz.json and the table of RELIABILITY.md
  --help        this text

Ends with 1 where anything was found.
`;

/** Cases of one reader before the next has its turn; of models there are twice as many: three commands read each. */
const TURN = 200;
const SHARE_OF_MODELS = 2;

export const RESULTS = fileURLToPath(new URL("../../results/fuzz.json", import.meta.url));
const PAGE = fileURLToPath(new URL("../../../../RELIABILITY.md", import.meta.url));
const FIXTURES = new URL("../../../data/test/fixtures/", import.meta.url);

export interface FuzzResults {
  readonly seed: number;
  readonly node: string;
  readonly minutes: number;
  readonly peakBytes: number;
  readonly tallies: readonly Tally[];
}

/** The table of RELIABILITY.md. */
export function fuzzTable({ tallies }: FuzzResults): string {
  const rows = tallies.map(
    ({ target, cases, longestSeconds, findings }) =>
      `| ${target} | ${cases.toLocaleString("en")} | ${longestSeconds.toFixed(2)} s | ${findings.length} |`,
  );
  return ["| target | damaged files | longest | findings |", "| --- | ---: | ---: | ---: |", ...rows].join("\n");
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: argv.slice(2),
    options: {
      minutes: { type: "string", default: "1" },
      seed: { type: "string", default: "1" },
      only: { type: "string", multiple: true, default: [""] },
      case: { type: "string" },
      from: { type: "string", default: "0" },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    stdout.write(HELP);
    return;
  }
  const seed = Number(values.seed);
  const folder = mkdtempSync(join(tmpdir(), "ranksim-fuzz-"));
  const writeRows = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  try {
    const models = await modelTarget(writeRows);
    const all = [models, ...readerTargets(FIXTURES)];
    const targets = all.filter(({ name }) => values.only.some((text) => name.includes(text)));
    const tallies = targets.map(({ name }) => newTally(name));
    const end = performance.now() + Number(values.minutes) * 60_000;
    const isOver = () => performance.now() > end;
    const watching = watch(
      targets.map(({ name }) => name),
      seed,
    );
    const only = values.case === undefined ? undefined : Number(values.case);
    for (let turn = 0; !isOver(); turn++) {
      for (const [t, target] of targets.entries()) {
        const cases = target === models ? SHARE_OF_MODELS * TURN : TURN;
        const from = only ?? Number(values.from) + turn * cases;
        const to = only === undefined ? from + cases : from + 1;
        await attack(target, seed, from, to, tallies[t], isOver, (number) => watching.begin(t, number));
      }
      if (only !== undefined) break;
    }
    await watching.end();
    const peakBytes = 1024 * process.resourceUsage().maxRSS;
    const results: FuzzResults = { seed, node: version, minutes: Number(values.minutes), peakBytes, tallies };
    stdout.write(`${fuzzTable(results)}\n\nseed ${seed}, ${version}, peak ${Math.round(peakBytes / 1e6)} MB\n`);
    for (const { findings } of tallies) {
      for (const finding of findings.slice(0, 20)) stderr.write(`${JSON.stringify(finding)}\n`);
      if (findings.length > 0) process.exitCode = 1;
    }
    if (values.keep) keep(results);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts the counts where the page shows them. */
function keep(results: FuzzResults): void {
  writeFileSync(RESULTS, `${JSON.stringify(results, undefined, 1)}\n`);
  const page = readFileSync(PAGE, "utf8");
  const marks = /(<!-- fuzz -->\n)[\s\S]*?(<!-- end -->)/;
  writeFileSync(
    PAGE,
    page.replace(marks, (_, first: string, last: string) => `${first}${fuzzTable(results)}\n${last}`),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
