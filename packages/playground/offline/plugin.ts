/** Writes the service worker into the build: the files that were built, and a version that changes with any of them. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** What a link to the page is shown with: the page itself has no use for it. */
const LINK_PICTURE = "card.png";

export function offline(): Plugin {
  return {
    name: "ranksim-offline",
    apply: "build",
    generateBundle(_options, bundle) {
      const version = createHash("sha256");
      const built = Object.values(bundle).filter(({ fileName }) => !fileName.endsWith(".html"));
      for (const part of Object.values(bundle)) {
        version.update(part.fileName);
        version.update(part.type === "chunk" ? part.code : part.source);
      }
      const files = [
        "./",
        ...built.map(({ fileName }) => `./${fileName}`),
        ...readdirSync(here("../public")).flatMap((name) => (name === LINK_PICTURE ? [] : [`./${name}`])),
      ];
      const source = readFileSync(here("./service-worker.js"), "utf8")
        .replace('["__FILES__"]', JSON.stringify(files.sort()))
        .replace("__VERSION__", version.digest("hex").slice(0, 16));
      this.emitFile({ type: "asset", fileName: "service-worker.js", source });
    },
  };
}
