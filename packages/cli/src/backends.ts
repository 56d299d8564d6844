/** The back ends of the command: those of core, and the GPU, whose package is imported when it is first needed. */

import { BACKEND_NAMES, type Backend, type BackendName, type OpenOptions, openBackend } from "@ranksim/core";

export type CommandBackend = BackendName | "gpu";

/** Their names. */
export const COMMAND_BACKENDS: readonly CommandBackend[] = [...BACKEND_NAMES, "gpu"];

const OPENERS: NonNullable<OpenOptions["openers"]> = {
  gpu: async (openProcessor) => (await import("@ranksim/gpu")).openGpu(openProcessor),
};

/** Opens one of them; "auto" takes the GPU where it pays. */
export function openNamed(name: CommandBackend, options: Pick<OpenOptions, "threads"> = {}): Promise<Backend> {
  return openBackend(name, { ...options, openers: OPENERS });
}
