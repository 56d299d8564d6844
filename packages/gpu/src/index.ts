/**
 * The GPU as a back end, through WebGPU: the browser's own, or in Node the package `webgpu`. Pass the opener to `openBackend`
 * of `@ranksim/core`.
 *
 * ```ts
 * const backend = await openBackend("auto", { openers: { gpu: openGpu } }); // the GPU where it pays
 * ```
 *
 * @packageDocumentation
 */

export { type GpuBackend, openGpu } from "./backend.ts";
export type { GpuLimits } from "./context.ts";
