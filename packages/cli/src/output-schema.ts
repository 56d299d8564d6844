/** What --json prints is described by output.schema.json beside the package's manifest; this is its version. */
export const OUTPUT_SCHEMA = 1;

/** Commands by the names that their results carry. */
export type CommandName =
  | "train"
  | "predict"
  | "evaluate"
  | "explain"
  | "report"
  | "update"
  | "transform"
  | "cross-validate"
  | "tune"
  | "inspect"
  | "export"
  | "spikes"
  | "doctor"
  | "data list"
  | "data info"
  | "data path"
  | "data fetch"
  | "play"
  | "serve"
  | "demo";
