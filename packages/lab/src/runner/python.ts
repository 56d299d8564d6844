/** Finds out what python3 here can do, and under which setting of OpenBLAS its matrix products are fastest. */

import { ONE_THREAD, pythonScript, run } from "./process.ts";

/** OpenBLAS picks its kernels by the processor's name and may not know a new one; these are tried, "unset" is its own choice. */
const CORE_TYPES = ["unset", "SkylakeX", "Zen", "Haswell"];

/** python3 as found. */
export interface Python {
  /** The environment to start it in. */
  readonly env: { readonly [name: string]: string };
  /** Versions and setting, for a line about the machine. */
  readonly about: string;
  /** Why a module cannot be measured; undefined where it can. */
  readonly lacks: (module: string) => string | undefined;
}

interface Found {
  readonly python: string;
  readonly versions: { readonly [module: string]: string | null };
  /** Multiply-adds a second of a float32 matrix product. */
  readonly rate?: number;
}

/** Starts python3 once for each setting and keeps the fastest. `packagePath` is where the authors' package is looked for. */
export async function findPython(program: string, packagePath: string | undefined): Promise<Python> {
  const args = [pythonScript("machine.py"), ...(packagePath === undefined ? [] : [packagePath])];
  let best: { readonly found: Found; readonly coreType: string } | undefined;
  try {
    for (const coreType of CORE_TYPES) {
      const found = JSON.parse(await run(program, args, { ...process.env, ...envFor(coreType) }, 60)) as Found;
      if (best === undefined || (found.rate ?? 0) > (best.found.rate ?? 0)) best = { found, coreType };
      if (found.rate === undefined) break;
    }
  } catch (error) {
    const why = `${program}: ${error instanceof Error ? error.message : error}`;
    return { env: {}, about: "", lacks: () => why };
  }
  const { found, coreType } = best as NonNullable<typeof best>;
  const { python, versions } = found;
  const blas = coreType === "unset" ? "as it comes" : `as ${coreType}`;
  return {
    env: envFor(coreType),
    about: `; Python ${python}, numpy ${versions.numpy}, scikit-learn ${versions.sklearn}, OpenBLAS ${blas}`,
    lacks: (module) => (versions[module] ? undefined : `python3 cannot load ${module}`),
  };
}

function envFor(coreType: string): Record<string, string> {
  return { ...ONE_THREAD, ...(coreType === "unset" ? {} : { OPENBLAS_CORETYPE: coreType }) };
}
