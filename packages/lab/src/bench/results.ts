/**
 * What the benchmark measures, as plain data: the committed results/bench.json. Every figure is kept run by run; medians
 * and ranges are made where they are shown.
 */

/** The calls that are timed. */
export type PhaseName = "fit" | "predict" | "probabilities" | "transform";

/** Seconds of one call: processor time of all threads together, and time on the clock. */
export interface Phase {
  readonly cpu: number;
  readonly wall: number;
}

/** One process, measured from inside. */
export interface RunResult {
  readonly phases: { readonly [name in PhaseName]?: Phase };
  /** Most resident memory so far, in bytes: with the data loaded, and after each phase. */
  readonly peak: { readonly [name in PhaseName | "start"]?: number };
  readonly scores: { readonly macroF1?: number };
  readonly facts: { readonly [name: string]: number | string | boolean };
  /** Processor seconds of the whole process. */
  readonly cpu: number;
  /** Cores that other processes kept busy meanwhile, on average. Absent where it cannot be told. */
  readonly others?: number;
}

/** One system at one piece of work. */
export interface Measurement {
  readonly work: string;
  readonly system: string;
  readonly runs: readonly RunResult[];
  /** Why there are no runs, or fewer than planned. */
  readonly failure?: string;
}

/** One search kernel over the rows and filters of the classifier's work. */
export interface KernelRate {
  readonly kernel: string;
  readonly rows: number;
  readonly filters: number;
  readonly features: number;
  readonly k: number;
  /** Processor seconds of each run. */
  readonly cpu: readonly number[];
  /** Share of row-filter pairs whose exact product was not computed. */
  readonly pruned: number;
  readonly failure?: string;
}

/** One start of a process that loads the saved classifier and predicts one row, in milliseconds. */
export interface StartUp {
  /** From the process's birth to the first line of the module: the engine's own start. */
  readonly engine: number;
  /** From there until the library is imported, until the model is loaded, until the first prediction. */
  readonly imported: number;
  readonly loaded: number;
  readonly predicted: number;
  /** Processor time from the first line to the first prediction, all threads together. */
  readonly cpu: number;
}

/** One synthetic training, for growth curves and the memory formula. */
export interface GrowthPoint {
  readonly axis: "rows" | "features" | "filters";
  readonly rows: number;
  readonly features: number;
  readonly filters: number;
  readonly runs: readonly RunResult[];
  readonly failure?: string;
}

/** A peer that was not measured, and why. */
export interface Missing {
  readonly name: string;
  readonly why: string;
}

/** The python3 side: versions and the BLAS setting that was fastest of those tried. */
export interface PythonFacts {
  readonly python: string;
  readonly versions: { readonly [module: string]: string | null };
  /** Value of OPENBLAS_CORETYPE, "unset" for none. */
  readonly coreType: string;
  /** Multiply-adds a second of a float32 matrix product, one thread, by setting. */
  readonly rates: { readonly [coreType: string]: number };
}

/** The machine and what ran on it. */
export interface MachineFacts {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  readonly v8: string;
  readonly packages: { readonly [name: string]: string };
}

/** A whole session of measurements on one machine. */
export interface BenchResults {
  readonly format: 1;
  readonly date: string;
  readonly commit: string;
  readonly quick: boolean;
  readonly seconds: number;
  readonly machine: MachineFacts;
  readonly python: PythonFacts | undefined;
  readonly missing: readonly Missing[];
  readonly measurements: readonly Measurement[];
  readonly kernels: readonly KernelRate[];
  readonly startUp: readonly StartUp[];
  readonly growth: readonly GrowthPoint[];
}

/** Middle value; the mean of the two middle ones for an even count. Of nothing: undefined. */
export function median(values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** The runs of one system at one piece of work; none if it was not measured. */
export function runsOf(results: BenchResults, work: string, system: string): readonly RunResult[] {
  return results.measurements.find((m) => m.work === work && m.system === system)?.runs ?? [];
}

/** One figure of every run that has it. */
export function figures(runs: readonly RunResult[], figure: (run: RunResult) => number | undefined): readonly number[] {
  return runs.map(figure).filter((value) => value !== undefined);
}
