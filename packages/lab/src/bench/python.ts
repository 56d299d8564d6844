/** Finds out what python3 here can do, and under which setting of OpenBLAS its matrix products are fastest. */

import { ONE_THREAD, pythonScript, run } from "./launch.ts";
import type { Missing, PythonFacts } from "./results.ts";

/** OpenBLAS picks its kernels by the processor's name and may not know a new one; these are tried, "unset" is its own choice. */
const CORE_TYPES = ["unset", "SkylakeX", "Zen", "Haswell"];

/** python3 as found: facts if it has numpy, the environment to start it in, and the systems that cannot be measured. */
export interface Python {
  readonly facts: PythonFacts | undefined;
  readonly env: { readonly [name: string]: string };
  readonly missing: readonly Missing[];
}

interface Found {
  readonly python: string;
  readonly versions: { readonly [module: string]: string | null };
  readonly rate?: number;
}

/** Starts python3 once for each setting and keeps the fastest. */
export async function findPython(program: string, packagePath: string | undefined): Promise<Python> {
  const args = [pythonScript("machine.py"), ...(packagePath === undefined ? [] : [packagePath])];
  const rates: Record<string, number> = {};
  let found: Found | undefined;
  for (const coreType of CORE_TYPES) {
    const ended = await run(program, args, { ...process.env, ...envFor(coreType) }, 60);
    if (!ended.ok) return { facts: undefined, env: {}, missing: [{ name: "python3", why: ended.why }] };
    found = JSON.parse(ended.text) as Found;
    if (found.rate === undefined) break;
    rates[coreType] = found.rate;
  }
  if (found === undefined) throw new Error("no setting of OpenBLAS to try");
  const missing = missingModules(found, packagePath);
  if (found.rate === undefined) return { facts: undefined, env: {}, missing };
  const coreType = Object.keys(rates).reduce((best, name) => (rates[name] > rates[best] ? name : best));
  return {
    facts: { python: found.python, versions: found.versions, coreType, rates },
    env: envFor(coreType),
    missing,
  };
}

function missingModules({ versions }: Found, packagePath: string | undefined): Missing[] {
  const missing: Missing[] = [];
  for (const name of ["numpy", "scipy", "sklearn"]) {
    if (versions[name] === null) missing.push({ name, why: "not installed for python3 (Debian: python3-sklearn)" });
  }
  if (versions.ranksim === null) {
    const why =
      packagePath === undefined
        ? "no checkout of rank-similarity given (--python-package PATH)"
        : "the folder given by --python-package has no module ranksim that loads";
    missing.push({ name: "the authors' Python package", why });
  }
  return missing;
}

function envFor(coreType: string): Record<string, string> {
  return { ...ONE_THREAD, ...(coreType === "unset" ? {} : { OPENBLAS_CORETYPE: coreType }) };
}
