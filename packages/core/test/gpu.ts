/**
 * A GPU for tests: the software adapter of Chromium (SwiftShader) through the package `webgpu`, or whatever GPU the environment
 * points at. Suites are skipped, by name, where there is none.
 */

import { existsSync } from "node:fs";
import { openBackend } from "@ranksim/core";
import { openDevice } from "../src/backends/gpu/adapter.ts";
import type { Platform } from "./platforms.ts";

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

/** Milliseconds that a test may take: a program that plays a GPU has seconds to do on a machine that may be busy. */
export const SLOW = 300_000;

/** The GPU, for suites that run on every back end. */
export const gpuPlatform: Platform = { title: onGpu("gpu"), open: () => openBackend("gpu") };
