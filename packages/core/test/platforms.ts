/** The back ends every suite runs on. One that cannot run here is skipped by name, never silently. */

import { type Backend, type BackendName, openBackend } from "@ranksim/core";
import { isFull } from "./tier.ts";

export interface Platform {
  readonly title: string;
  readonly open: () => Promise<Backend>;
}

const NAMES: readonly BackendName[] = isFull ? ["reference", "wasm", "threads"] : ["reference", "wasm"];

export const platforms: readonly Platform[] = NAMES.map((name) => ({ title: name, open: () => openBackend(name) }));
