/**
 * The packages where people use them: packed, put into a project of their own, built by its tools and run. Tools that this workspace has no
 * use for itself come by `npm install --prefix scripts/environments`; what needs one that is missing is skipped by name.
 */

import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM } from "../../playground/test/find-chromium.ts";

const exec = promisify(execFile);
const root = resolve(import.meta.dirname, "../../..");
const tools = join(root, "scripts/environments/node_modules");
const isBuilt = existsSync(join(root, "packages/cli/dist/single/index.js"));
const has = (path: string) => existsSync(join(tools, path));
const PACKAGES = ["core", "gpu", "data", "vq", "learn", "export", "cli"];

/** What every environment runs: it trains, keeps, loads and asks; typed arrays of another realm among it where there is one. */
const JOB = (entry = "ranksim") => `
import { Dense, loadModel, saveModel, train } from "${entry}";
export async function answer() {
  const x = Dense.of(Float64Array.of(5, 1, 0, 4, 2, 1, 0, 2, 6, 1, 3, 5), 4, 3);
  const { model } = await train({ x, y: ["left", "left", "right", "right"] });
  const again = loadModel(saveModel(model));
  const labels = await again.predict([[6, 2, 1], [0, 1, 9]]);
  const { label } = await again.explain([[6, 2, 1]]);
  return [...labels, label].join();
}
`;
const ANSWER = "left,right,left";

let packed = "";
const folders: string[] = [];

/** A project with the packages installed, and its files. */
function project(files: { readonly [path: string]: string }): string {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-project-"));
  folders.push(folder);
  cpSync(join(packed, "node_modules"), join(folder, "node_modules"), { recursive: true, verbatimSymlinks: true });
  const all = { "package.json": '{"private":true,"type":"module"}', ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

async function run(folder: string, program: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await exec(program, args, { cwd: folder, maxBuffer: 2 ** 26 }).catch((error) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  });
  return stdout.trim() || stderr.trim();
}
const node = (folder: string, ...args: string[]) => run(folder, process.execPath, ...args);
const tool = (path: string) => join(tools, path);

const MAIN = 'import { answer } from "./job.js"; answer().then((found) => console.log(found));';

describe.runIf(isBuilt)("the packed packages", () => {
  beforeAll(async () => {
    packed = mkdtempSync(join(tmpdir(), "ranksim-packed-"));
    folders.push(packed);
    const modules = join(packed, "node_modules");
    for (const name of PACKAGES) {
      const directory = join(root, "packages", name);
      const { stdout } = await exec("npm", ["pack", "--silent", "--pack-destination", packed], { cwd: directory });
      const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
      const place = join(modules, manifest.name);
      mkdirSync(place, { recursive: true });
      await exec("tar", [
        "xf",
        join(packed, stdout.trim().split("\n").at(-1) as string),
        "--strip-components=1",
        "-C",
        place,
      ]);
      for (const other of Object.keys(manifest.dependencies ?? {})) {
        if (other.startsWith("@ranksim/") || existsSync(join(modules, other))) continue;
        mkdirSync(dirname(join(modules, other)), { recursive: true });
        symlinkSync(join(root, "node_modules", other), join(modules, other));
      }
    }
  });
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  test("Node, as a module", async () => {
    expect(await node(project({ "job.js": JOB(), "main.js": MAIN }), "main.js")).toBe(ANSWER);
  });

  test("Node, in one file", async () => {
    expect(await node(project({ "job.js": JOB("ranksim/single"), "main.js": MAIN }), "main.js")).toBe(ANSWER);
  });

  test.runIf((process.features as { require_module?: boolean }).require_module)("Node, by require()", async () => {
    const main = JOB()
      .replace(/import (.*) from (.*);/, "const $1 = require($2);")
      .replace("export ", "");
    const folder = project({ "package.json": "{}", "main.cjs": `${main}answer().then(console.log);` });
    expect(await node(folder, "--no-warnings", "main.cjs")).toBe(ANSWER);
  });

  test("another realm of Node, with its own typed arrays", async () => {
    const main = `
import { createContext, runInContext } from "node:vm";
import { Csr, Dense, loadModel, RankSimilarityClassifier, saveModel } from "ranksim";
const there = (code) => runInContext(code, createContext({ bytes: [] }));
const x = Dense.of(there("Float32Array.of(5, 1, 0, 4, 2, 1, 0, 2, 6, 1, 3, 5)"), 4, 3);
const model = await new RankSimilarityClassifier().fit(x, there("['left', 'left', 'right', 'right']"));
const sparse = Csr.of(there("Uint32Array.of(0, 1, 2)"), there("Uint32Array.of(0, 2)"), there("Uint8Array.of(6, 9)"), 3);
const bytes = runInContext("Uint8Array.from(bytes)", createContext({ bytes: [...saveModel(model)] }));
console.log([...(await loadModel(bytes).predict(sparse)), ...(await loadModel(bytes.buffer).predict(there("[[6, 1, 0]]")))].join());`;
    expect(await node(project({ "main.js": main }), "main.js")).toBe(ANSWER);
  });

  test("Vite, a page and a worker as they come", async () => {
    const { build } = await import("vite");
    const folder = project({
      "job.js": JOB(),
      "single-job.js": JOB("ranksim/single"),
      "index.html": '<script type="module" src="/main.js"></script>',
      "worker.js":
        'import { answer } from "./single-job.js"; answer().then((found) => postMessage(found), (error) => postMessage(String(error)));',
      "main.js": `import { answer } from "./job.js";
const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = async ({ data }) => { document.title = data + ";" + (await answer()); };`,
    });
    await build({ root: folder, configFile: false, logLevel: "error" });
    expect(readdirSync(join(folder, "dist"))).toContain("index.html");
    if (CHROMIUM) expect(await titleOf(join(folder, "dist"))).toBe(`${ANSWER};${ANSWER}`);
  });

  test.runIf(CHROMIUM)("a page whose policy refuses WebAssembly: plain loops, with a note", async () => {
    const { build } = await import("vite");
    const folder = project({
      "index.html": '<script type="module" src="/main.js"></script>',
      "main.js": `import { RankSimilarityClassifier, openBackend } from "ranksim";
const x = [[5, 1, 0], [4, 2, 1], [0, 2, 6], [1, 3, 5]];
const model = await new RankSimilarityClassifier().fit(x, ["left", "left", "right", "right"]);
const refusal = await openBackend("wasm").catch((error) => error.code);
document.title = [...(await model.predict([[6, 2, 1]])), model.report.fallbacks, refusal].join(";");`,
    });
    await build({ root: folder, configFile: false, logLevel: "error", build: { target: "esnext" } });
    expect(await titleOf(join(folder, "dist"), "default-src 'self'")).toBe(
      "left;WebAssembly is not allowed here: plain loops were run;no-backend",
    );
  });

  test.runIf(has("react-dom"))("React, rendered by a server that Vite built", async () => {
    const { build } = await import("vite");
    const main = `import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { answer } from "./job.js";
const found = await answer();
console.log(renderToString(createElement("b", null, found)));`;
    const folder = project({ "job.js": JOB(), "main.js": main });
    for (const name of ["react", "react-dom", "scheduler"]) symlinkSync(tool(name), join(folder, "node_modules", name));
    await build({ root: folder, configFile: false, logLevel: "error", build: { ssr: "main.js" } });
    expect(await node(folder, "dist/main.js")).toBe(`<b>${ANSWER}</b>`);
  });

  test.runIf(has("webpack"))("webpack, without a warning", async () => {
    const config =
      'export default { mode: "production", target: "node", entry: "./main.js", output: { filename: "main.cjs" }, performance: false };';
    const script = `import { createRequire } from "node:module";
const webpack = createRequire(${JSON.stringify(`${tools}/`)})("webpack");
const { default: config } = await import("./webpack.config.js");
webpack({ ...config, context: process.cwd() }, (error, stats) => { if (error) throw error; console.log(stats.toString({ all: false, errors: true, warnings: true })); });`;
    const folder = project({ "job.js": JOB(), "main.js": MAIN, "webpack.config.js": config, "build.js": script });
    expect(await node(folder, "build.js")).toBe("");
    expect(await node(folder, "dist/main.cjs")).toBe(ANSWER);
  });

  test.runIf(has("esbuild"))("esbuild, in pieces", async () => {
    const folder = project({ "job.js": JOB(), "main.js": MAIN });
    const flags = [
      "--bundle",
      "--splitting",
      "--format=esm",
      "--platform=browser",
      "--minify",
      "--outdir=out",
      "--log-level=warning",
    ];
    expect(await run(folder, tool("@esbuild/linux-x64/bin/esbuild"), "main.js", ...flags)).toBe("");
    expect(await node(folder, "out/main.js")).toBe(ANSWER);
  });

  test.runIf(has("jest-environment-jsdom")).each(["node", "jsdom"])(
    "Jest in an environment of %s",
    async (environment) => {
      const folder = project({
        "job.js": JOB(),
        "job.test.js": `import { answer } from "./job.js"; test("answers", async () => { expect(await answer()).toBe("${ANSWER}"); }, 60000);`,
      });
      // jsdom has no decoders of text: docs/troubleshooting.md has these lines.
      const setup =
        'import { TextDecoder, TextEncoder } from "node:util";\nObject.assign(globalThis, { TextDecoder, TextEncoder });';
      writeFileSync(join(folder, "setup.js"), setup);
      const where =
        environment === "jsdom"
          ? [`--env=${tool("jest-environment-jsdom")}`, "--setupFiles=./setup.js"]
          : ["--env=node"];
      const said = await node(
        folder,
        "--experimental-vm-modules",
        "--no-warnings",
        tool("jest/bin/jest.js"),
        "--rootDir",
        folder,
        "--transform={}",
        ...where,
      );
      expect(said).toMatch(/Tests: +1 passed/);
    },
  );

  const denos = has("@deno") ? readdirSync(join(tools, "@deno"), { withFileTypes: true }) : [];
  const deno = denos.find(({ name }) => name.startsWith("linux"));
  test.runIf(deno)("Deno, checked and run without permissions", async () => {
    const program = tool(`@deno/${deno?.name}/deno`);
    const folder = project({
      "job.js": JOB(),
      "main.ts": `import { answer } from "./job.ts";\nconsole.log(await answer());`,
      "job.ts": JOB(),
    });
    await run(folder, program, "check", "--quiet", "main.ts");
    expect(await run(folder, program, "run", "--quiet", "main.ts")).toBe(ANSWER);
  });

  test.runIf(has("@oven/bun-linux-x64"))("Bun", async () => {
    const folder = project({ "job.js": JOB(), "main.js": MAIN });
    expect(await run(folder, tool("@oven/bun-linux-x64/bin/bun"), "main.js")).toBe(ANSWER);
  });

  test.runIf(has("@cloudflare/workerd-linux-64"))(
    "workerd, which refuses WebAssembly that is compiled there",
    async () => {
      const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = ( services = [ (name = "main", worker = .main) ], sockets = [ ( name = "http", address = "*:0", http = (), service = "main" ) ] );
const main :Workerd.Worker = ( modules = [ (name = "main", esModule = embed "main.js"), (name = "job.js", esModule = embed "job.js"), (name = "ranksim/single", esModule = embed "node_modules/ranksim/dist/single/index.js") ], compatibilityDate = "2025-09-01" );`;
      const main =
        'import { answer } from "./job.js"; export default { async test() { const found = await answer(); if (found !== "' +
        ANSWER +
        '") throw new Error(found); } };';
      const folder = project({ "job.js": JOB("ranksim/single"), "main.js": main, "config.capnp": config });
      expect(await run(folder, tool("@cloudflare/workerd-linux-64/bin/workerd"), "test", "config.capnp")).toContain(
        "PASS",
      );
    },
  );
});

/** The title that a page gives itself, served with a policy if one is given. */
async function titleOf(folder: string, policy?: string): Promise<string> {
  const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript" };
  const server = createServer((request, response) => {
    const path = join(folder, request.url === "/" ? "index.html" : (request.url as string));
    if (!existsSync(path)) return void response.writeHead(404).end();
    response.setHeader("Content-Type", types[extname(path)] ?? "application/octet-stream");
    if (policy) response.setHeader("Content-Security-Policy", policy);
    response.end(readFileSync(path));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const browser = await chromium.launch({ executablePath: CHROMIUM as string, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(`http://127.0.0.1:${(server.address() as { port: number }).port}/`);
    await page
      .waitForFunction(
        () => (globalThis as unknown as { document: { title: string } }).document.title !== "",
        undefined,
        { timeout: 60_000 },
      )
      .catch((error) => {
        throw new Error([...errors, String(error)].join("\n"));
      });
    return await page.title();
  } finally {
    await browser.close();
    server.close();
  }
}
