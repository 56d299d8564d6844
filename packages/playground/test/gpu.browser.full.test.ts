/** WebGPU in a real browser, on the software adapter that Chromium brings: models that are WebAssembly's bit for bit. */

import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { createServer, type ViteDevServer } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM } from "./find-chromium.ts";

type Core = typeof import("@ranksim/core");
type Gpu = typeof import("@ranksim/gpu");
const CORE = fileURLToPath(new URL("../../core/src/index.ts", import.meta.url));
const GPU = fileURLToPath(new URL("../../gpu/src/index.ts", import.meta.url));

let server: ViteDevServer;
let browser: Browser;
let page: Page;
/** Whether the browser has an adapter: not all builds of Chromium bring one. */
let hasAdapter: boolean;

describe.skipIf(!CHROMIUM)("the GPU in Chromium (needs chromium with SwiftShader)", () => {
  beforeAll(async () => {
    const configFile = fileURLToPath(new URL("../vite.config.ts", import.meta.url));
    server = await createServer({ configFile, logLevel: "error", server: { port: 0, host: "127.0.0.1" } });
    await server.listen();
    browser = await chromium.launch({
      executablePath: CHROMIUM as string,
      args: [
        ...["--headless", "--no-sandbox", "--enable-unsafe-webgpu"],
        ...["--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"],
      ],
    });
    page = await browser.newPage();
    const address = new URL("/empty", server.resolvedUrls?.local[0]).href;
    await page.route(address, (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html>" }));
    await page.goto(address);
    hasAdapter = await page.evaluate(async () => (await navigator.gpu?.requestAdapter()) != null);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it("trains and answers as WebAssembly does", async ({ skip }) => {
    skip(!hasAdapter, "chromium gives no adapter");
    const core = await page.evaluateHandle<Core>(`import("/@fs${CORE}")`);
    const openers = await page.evaluateHandle<Gpu>(`import("/@fs${GPU}")`);
    const [gpu, wasm] = await page.evaluate(trainOnBoth, { core, openers });
    expect(gpu).toEqual(wasm);
    expect(new Set(gpu.labels).size).toBe(3);
  });
});

/** Runs in the page: the model file and the answers of each back end. */
async function trainOnBoth({ core, openers }: { core: Core; openers: Gpu }) {
  const { Dense, openBackend, RankSimilarityClassifier, saveModel } = core;
  const rows = Array.from({ length: 300 }, (_, r) =>
    Array.from({ length: 20 }, (_, i) => ((r * 7 + i * i * 13 + r * i) % 90) + (i % 3 === r % 3 ? 100 : 0)),
  );
  const x = Dense.fromRows(rows);
  const y = rows.map((_, r) => r % 3);
  const found = [];
  for (const name of ["gpu", "wasm"] as const) {
    const backend = await openBackend(name, { openers: { gpu: openers.openGpu } });
    try {
      const model = await new RankSimilarityClassifier({ filters: 24 }).fit(x, y, { backend });
      found.push({ file: Array.from(saveModel(model)), labels: await model.predict(x, { backend }) });
    } finally {
      await backend.close();
    }
  }
  return found;
}
