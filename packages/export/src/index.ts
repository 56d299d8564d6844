/**
 * Rank similarity filters for other tools: ONNX files and C headers, and a simulator of the filters as a network of spiking
 * neurons. NIR graphs, which need the package h5wasm, are in `@ranksim/export/nir`.
 *
 * @packageDocumentation
 */

export { type CHeader, type COptions, exportC } from "./c/export.ts";
export { type BitsCheck, checkBits, type WeightBits } from "./c/whole-weights.ts";
export { areResponsesExact, exportOnnx, type OnnxOptions } from "./onnx/export.ts";
export type { RowType } from "./onnx/responses.ts";
export {
  type SpikeOptions,
  type SpikeRun,
  type SpikeSummary,
  simulateSpikes,
  summarizeSpikes,
} from "./spikes/simulate.ts";
export { type SpikeTrace, traceSpikes } from "./spikes/trace.ts";
