/**
 * The page, built once and served on loopback as `ranksim play` serves it, in a real Chromium. Where there is no Chromium the
 * suites that need it are skipped by name.
 */

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { type Served, type ServeOptions, servePage } from "../../cli/src/play/serve.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where the browser is, if there is one. */
export const CHROMIUM = [process.env.RANKSIM_CHROMIUM ?? "", ...PLACES].find((path) => path !== "" && existsSync(path));

/** Flags for a browser that talks to nobody but the page. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Without a GPU, or with the program that Chromium brings to play one. */
const GPU_FLAGS = {
  none: ["--disable-gpu"],
  software: ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"],
} as const;

/** The built page in a browser. */
export interface Stage {
  readonly folder: string;
  readonly address: string;
  /** A page of its own, with everything its console said that should not have been said. */
  open(hash?: string, options?: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }>;
  /** Closes all pages that were opened: a page that nobody looks at still takes time from the next one. */
  leave(): Promise<void>;
  /** Serves the page once more, with other options. */
  serve(options: Omit<ServeOptions, "folder">): Promise<Served>;
  close(): Promise<void>;
}

/** Builds the page, serves it and starts the browser. */
export async function openStage(gpu: keyof typeof GPU_FLAGS = "none"): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "ranksim-playground-"));
  await build({
    configFile: resolve(import.meta.dirname, "../vite.config.ts"),
    logLevel: "error",
    build: { outDir: folder, emptyOutDir: true },
  });
  const served = await servePage({ folder });
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM as string,
    args: [...FLAGS, ...GPU_FLAGS[gpu]],
  });
  const others: Served[] = [];
  return {
    folder,
    address: served.address,
    async open(hash = "", options = {}) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
      });
      page.on("pageerror", (error) => complaints.push(error.message));
      await page.goto(/^(https?|about):/.test(hash) ? hash : served.address + hash);
      return { page, complaints };
    },
    async leave() {
      await Promise.all(browser.contexts().map((context) => context.close()));
    },
    async serve(options) {
      const other = await servePage({ folder, ...options });
      others.push(other);
      return other;
    },
    async close() {
      await browser.close();
      for (const each of [served, ...others]) await each.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until a model is there and judged. */
export async function untilTrained(page: Page): Promise<void> {
  await page.getByTestId("result").waitFor({ timeout: 30_000 });
}

/** A figure of the result, by its title. */
export async function figure(page: Page, title: string): Promise<string> {
  return (await page.getByTestId("result").locator("dl div", { hasText: title }).locator("dd").textContent()) ?? "";
}

/** Drops files on the page as a user would: the browser makes them, the page hears of a drop. */
export async function dropFiles(
  page: Page,
  files: readonly { name: string; content: string | Uint8Array }[],
): Promise<void> {
  const sent = files.map(({ name, content }) => ({ name, base64: Buffer.from(content).toString("base64") }));
  await page.evaluate((given) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of given) {
      transfer.items.add(new File([Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))], name));
    }
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, sent);
}
