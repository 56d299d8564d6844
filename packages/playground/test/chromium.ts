/**
 * The page, built once for all suites and served on loopback as `ranksim play` serves it, in a real Chromium. Where there is no
 * Chromium the suites that need it are skipped by name.
 */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { inject } from "vitest";
import { type Served, type ServeOptions, servePage } from "../../cli/src/play/serve.ts";
import { CHROMIUM } from "./find-chromium.ts";

/** Flags for a browser that talks to nobody but the page. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-gpu",
];

/** Milliseconds to wait for what the page should show: it catches what hangs, and a busy machine takes its time. */
const PATIENCE = 120_000;

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

/** Serves the page and starts the browser. */
export async function openStage(): Promise<Stage> {
  const folder = inject("page");
  const served = await servePage({ folder });
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM as string,
    args: FLAGS,
  });
  const others: Served[] = [];
  return {
    folder,
    address: served.address,
    async open(hash = "", options = {}) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, ...options });
      context.setDefaultTimeout(PATIENCE);
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
    },
  };
}

/** Waits until a model is there and judged. */
export async function untilTrained(page: Page): Promise<void> {
  await page.getByTestId("result").waitFor();
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

/** Trains and waits for the result. */
export async function train(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Train", exact: true }).click();
  await untilTrained(page);
}

/** Strokes on the painter, in shares of its width and height. */
export async function draw(
  page: Page,
  ...strokes: readonly (readonly (readonly [x: number, y: number])[])[]
): Promise<void> {
  await page.getByTestId("painter").scrollIntoViewIfNeeded();
  const box = await page.getByTestId("painter").boundingBox();
  if (!box) throw new Error("there is no painter");
  for (const [first, ...rest] of strokes) {
    await page.mouse.move(box.x + first[0] * box.width, box.y + first[1] * box.height);
    await page.mouse.down();
    for (const [x, y] of rest) await page.mouse.move(box.x + x * box.width, box.y + y * box.height, { steps: 2 });
    await page.mouse.up();
  }
}

/** Waits until the drawing is read as a label. */
export async function expectAnswer(page: Page, label: string): Promise<void> {
  await page
    .getByTestId("verdict")
    .locator(".answer", { hasText: new RegExp(`^${label}$`) })
    .waitFor();
}

/** A fault as axe reports it. */
interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

const axe = readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Faults that axe finds, in words. */
export async function faults(page: Page): Promise<string[]> {
  await page.evaluate(await axe);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 120)} ${failureSummary}`),
  );
}
