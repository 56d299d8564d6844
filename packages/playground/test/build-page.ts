/** Builds the page once for all suites that open it in a browser. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "vite";
import type { TestProject } from "vitest/node";
import { CHROMIUM } from "./find-chromium.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The folder of the built page; empty where there is no browser to open it. */
    page: string;
  }
}

export default async function buildPage(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!CHROMIUM) {
    project.provide("page", "");
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), "ranksim-playground-"));
  await build({
    configFile: resolve(import.meta.dirname, "../vite.config.ts"),
    logLevel: "error",
    build: { outDir: folder, emptyOutDir: true },
  });
  project.provide("page", folder);
  return () => rm(folder, { recursive: true, force: true });
}
