/**
 * Makes the JSON schema of what --json prints from the types in packages/cli/src/output.ts. Without an argument it becomes
 * packages/cli/output.schema.json, which is published; with one, that file.
 */

import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createGenerator } from "ts-json-schema-generator";

const here = (path) => fileURLToPath(new URL(`../packages/cli/${path}`, import.meta.url));

const schema = createGenerator({
  path: here("src/output.ts"),
  tsconfig: here("tsconfig.json"),
  type: "Output",
  skipTypeCheck: true, // tsc has checked them
  additionalProperties: false,
  expose: "all",
}).createSchema("Output");
await writeFile(
  process.argv[2] ?? here("output.schema.json"),
  `${JSON.stringify({ title: "What ranksim prints with --json", ...schema }, null, 2)}\n`,
);
