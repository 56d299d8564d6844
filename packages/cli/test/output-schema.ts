/** What --json may print, by the schema that the build makes of its types. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";

interface Schema {
  readonly definitions: { readonly [name: string]: { readonly properties?: { readonly command?: { const: string } } } };
}

export const outputSchema: Schema = made();

const fits = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }).compile(outputSchema);

/** Why the value does not fit the schema, place by place; empty where it does. */
export function misfits(value: unknown): string[] {
  if (fits(value)) return [];
  return (fits.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

function made(): Schema {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-schema-"));
  try {
    const file = join(folder, "output.schema.json");
    execFileSync(process.execPath, [resolve(import.meta.dirname, "../../../scripts/make-output-schema.mjs"), file]);
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
