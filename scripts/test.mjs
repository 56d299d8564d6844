/**
 * Runs a tier of the tests: node scripts/test.mjs short | full | release. Parts run beside each other where none needs what
 * another makes. All of them run to their end, whatever fails, and a table at the end has the seconds and the outcome of each.
 * The release tier has its own files alone, one after the other: it is run beside the full one.
 */

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { delimiter, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const tier = process.argv[2];
const TIERS = ["short", "full", "release"];
if (!TIERS.includes(tier)) throw new Error(`expected a tier, one of ${TIERS.join(", ")}, found ${tier}`);

const folder = mkdtempSync(join(tmpdir(), "ranksim-tests-"));
const reportFile = join(folder, "report.json");
/** Browsers and commands take memory of their own. */
const workers = Math.min(8, Math.max(2, availableParallelism()));

const vitest = (flags) => `vitest run ${flags} --reporter default --reporter json --outputFile.json ${reportFile}`;

/** A part's name, its command, and the parts that it comes after. */
const built = [
  ["kernels", "npm run build:kernels --silent"],
  ["build", "npm run build:code --silent", "kernels"],
];
const releaseParts = [...built, ["tests", vitest("--project node --maxWorkers 1"), "build"]];
const allParts = [
  ...built,
  ["page", "npm run build:playground --silent", "kernels"],
  ["style", "biome check ."],
  ["tests", vitest(`--maxWorkers ${workers}`), "build", "page"],
  ["types", "tsc -p packages/playground && tsc -p tsconfig.test.json", "build"],
  ["packages", "node scripts/check-packages.mjs", "build", "page"],
];

const environment = {
  ...process.env,
  RANKSIM_TIER: tier,
  PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
};

/** Runs a part; what it prints comes at once from the tests, which take longest, and in one piece from the others. */
function run(name, command) {
  const began = performance.now();
  const output = [];
  return new Promise((done) => {
    const child = spawn(command, { cwd: root, env: environment, shell: true, stdio: ["ignore", "pipe", "pipe"] });
    const take = (chunk) => (name === "tests" ? process.stdout.write(chunk) : output.push(chunk));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", take);
    child.on("close", (code) => {
      const seconds = (performance.now() - began) / 1000;
      process.stdout.write(`\n--- ${name}: ${code === 0 ? "passed" : "FAILED"} after ${seconds.toFixed(0)} s\n`);
      process.stdout.write(Buffer.concat(output));
      done({ name, passed: code === 0, seconds });
    });
  });
}

/** Where the names of test files say that a tier runs them. */
function filesOf(tier) {
  const all = readdirSync(join(root, "packages"))
    .flatMap((name) => {
      const tests = join(root, "packages", name, "test");
      return existsSync(tests)
        ? readdirSync(tests, { recursive: true }).map((file) => relative(root, join(tests, file)))
        : [];
    })
    .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules"));
  const isRelease = (file) => file.endsWith(".release.test.ts");
  const isFull = (file) => file.endsWith(".full.test.ts");
  return all.filter((file) => (tier === "release") === isRelease(file) && (tier !== "short" || !isFull(file)));
}

/** What the tests report: counts, the names of skipped suites, and what is wrong with the tier itself. */
function judge() {
  if (!existsSync(reportFile))
    return { passed: 0, failed: 1, skipped: 0, suites: [], wrong: ["no report was written"] };
  const report = JSON.parse(readFileSync(reportFile, "utf8"));
  const results = report.testResults.map(({ name, status, assertionResults }) => ({
    file: relative(root, name),
    status,
    tests: assertionResults,
  }));
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const suites = new Map();
  for (const { file, status, tests } of results) {
    for (const test of tests) {
      const outcome = test.status === "passed" || test.status === "failed" ? test.status : "skipped";
      counts[outcome]++;
      if (outcome !== "skipped") continue;
      const suite = `${file} > ${test.ancestorTitles[0] ?? test.title}`;
      suites.set(suite, (suites.get(suite) ?? 0) + 1);
    }
    // A file that cannot be loaded, or whose hooks fail, fails as one.
    if (status === "failed" && !tests.some((test) => test.status === "failed")) counts.failed++;
  }
  const expected = new Set(filesOf(tier));
  const found = new Set(results.map(({ file }) => file));
  const wrong = [
    ...[...expected].filter((file) => !found.has(file)).map((file) => `${file} belongs to this tier and did not run`),
    ...[...found].filter((file) => !expected.has(file)).map((file) => `${file} ran and belongs to another tier`),
  ];
  return { ...counts, suites: [...suites].map(([suite, count]) => `${suite} (${count})`), wrong };
}

const running = new Map();
for (const [name, command, ...after] of tier === "release" ? releaseParts : allParts) {
  running.set(
    name,
    Promise.all(after.map((each) => running.get(each))).then(() => run(name, command)),
  );
}
const outcomes = await Promise.all(running.values());
const { passed, failed, skipped, suites, wrong } = judge();
rmSync(folder, { recursive: true });

console.log(`\nThe ${tier} tier\n`);
for (const { name, passed, seconds } of outcomes) {
  console.log(`${name.padEnd(10)}${seconds.toFixed(0).padStart(6)} s  ${passed ? "passed" : "FAILED"}`);
}
for (const suite of suites) console.log(`skipped: ${suite}`);
for (const problem of wrong) console.log(`FAILED: ${problem}`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 && wrong.length === 0 && outcomes.every(({ passed }) => passed) ? 0 : 1;
