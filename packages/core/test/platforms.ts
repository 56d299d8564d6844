/** The back ends every suite runs on. One that cannot run here is skipped by name, never silently. */

import { type Backend, type BackendName, openBackend } from "@ranksim/core";

export interface Platform {
  readonly title: string;
  readonly open: () => Promise<Backend>;
}

const NAMES: readonly BackendName[] = ["reference", "wasm", "threads"];

export const platforms: readonly Platform[] = NAMES.map((name) => ({ title: name, open: () => openBackend(name) }));
