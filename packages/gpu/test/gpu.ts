/**
 * A GPU for tests: the software adapter of Chromium (SwiftShader) through the package `webgpu`, or whatever GPU the environment
 * points at. Suites are skipped, by name, where there is none.
 */

import { existsSync } from "node:fs";
import type { Backend } from "@ranksim/core";
import { openWasm } from "../../core/src/backends/wasm/backend.ts";
import type { Platform } from "../../core/test/platforms.ts";
import { isFull } from "../../core/test/tier.ts";
import { openDevice } from "../src/adapter.ts";
import { openGpu } from "../src/backend.ts";

/** Where Debian's chromium has its software adapter. */
const SOFTWARE = "/usr/lib/chromium/vk_swiftshader_icd.json";

if (!process.env.VK_ICD_FILENAMES && !process.env.VK_DRIVER_FILES && existsSync(SOFTWARE)) {
  process.env.VK_ICD_FILENAMES = SOFTWARE;
}

/** Whether the GPU is a program that plays one. */
export let isSoftware = false;

/** Why there is no GPU here; undefined if there is one. */
export const gpuRefusal: string | undefined = await openDevice().then(
  (opened) => {
    isSoftware = opened.isSoftware;
    opened.device.destroy();
    return undefined;
  },
  (error: Error) => error.message,
);

/** The title of a suite that needs a GPU. */
export function onGpu(title: string): string {
  return gpuRefusal ? `${title} (skipped: ${gpuRefusal})` : title;
}

/** The GPU, for suites that run on every back end, in the full tier. */
export const gpuPlatforms: readonly Platform[] = isFull ? [{ title: onGpu("gpu"), open: () => openGpu(openWasm) }] : [];

/** A back end for what the GPU does not do, and how often it was given rows. */
export function countedHost(): { readonly open: () => Promise<Backend>; readonly holds: () => number } {
  let holds = 0;
  const open = async (): Promise<Backend> => {
    const host = await openWasm();
    return {
      ...host,
      hold: (rows, plan) => {
        holds++;
        return host.hold(rows, plan);
      },
    };
  };
  return { open, holds: () => holds };
}
