/**
 * A classifier as a NIR graph (the Neuromorphic Intermediate Representation, in HDF5): spikes in, potentials or classes out.
 * A feature of value x spikes once, at the time x_max - x. `currents` integrates weighted spikes into currents that stay,
 * `potentials` integrates the currents; at the time x_max the potential of a filter is x·w.
 */

import { type Model, RanksimError } from "@ranksim/core";
import { classifierOf, denseWeights, isRanked, refuseLarge } from "../parts.ts";

/** How a graph is written. */
export interface NirOptions {
  /**
   * The potential at which a filter fires and silences all others: the first to fire gives the class, which need not be that
   * of `predict`. Without, nothing fires and the potentials are the output: the largest at the time x_max is that of `predict`.
   */
  readonly threshold?: number;
}

/** Weights take four bytes each, and inhibition filters x filters of them. */
const MOST_BYTES = 2 ** 28;

/** The version of NIR whose reader was read for this. */
const NIR_VERSION = "1.0.7";

/**
 * The model as the bytes of an HDF5 file. Needs the package h5wasm (code "unsupported" where it is not installed) and a
 * classifier of one bank whose weights are ranks.
 */
export async function exportNir(model: Model, { threshold }: NirOptions = {}): Promise<Uint8Array> {
  const classifier = classifierOf(model, "nir");
  const { bank, filterClass, classes } = classifier;
  if (classifier.committee > 1) {
    throw new RanksimError(
      "unsupported",
      `nir: expected one bank, found a committee of ${classifier.committee}; train with committee 1, or export to ONNX or C`,
    );
  }
  if (!isRanked(bank))
    throw new RanksimError(
      "unsupported",
      'nir: expected weights that are ranks; train with distribution "rank", or export to ONNX',
    );
  if (threshold !== undefined && !(threshold > 0 && Number.isFinite(threshold))) {
    throw new RanksimError("bad-params", `threshold: expected a number above 0, found ${threshold}`);
  }
  const { filters: m, features: n } = bank;
  refuseLarge(bank, "nir", 4, MOST_BYTES);
  if (threshold !== undefined) refuseLarge({ ...bank, features: m }, "nir, inhibition", 4, MOST_BYTES);
  const ones = new Float32Array(m).fill(1);
  const nodes: Nodes = {
    input: { type: "Input", shape: { values: BigInt64Array.of(BigInt(n)), sides: [1] } },
    weights: { type: "Linear", weight: { values: Float32Array.from(denseWeights(bank)), sides: [m, n] } },
    currents: { type: "I", r: { values: ones, sides: [m] } },
  };
  const edges = [
    ["input", "weights"],
    ["weights", "currents"],
    ["currents", "potentials"],
  ];
  if (threshold === undefined) {
    nodes.potentials = { type: "I", r: { values: ones, sides: [m] } };
    nodes.output = { type: "Output", shape: { values: BigInt64Array.of(BigInt(m)), sides: [1] } };
    edges.push(["potentials", "output"]);
  } else {
    const [limit, zero] = [new Float32Array(m).fill(threshold), new Float32Array(m)];
    nodes.potentials = {
      type: "IF",
      r: { values: ones, sides: [m] },
      v_threshold: { values: limit, sides: [m] },
      v_reset: { values: zero, sides: [m] },
    };
    nodes.inhibition = { type: "Linear", weight: { values: inhibition(m, n), sides: [m, m] } };
    nodes.classes = {
      type: "Linear",
      weight: { values: membership(filterClass, classes.length), sides: [classes.length, m] },
    };
    nodes.output = { type: "Output", shape: { values: BigInt64Array.of(BigInt(classes.length)), sides: [1] } };
    edges.push(
      ["potentials", "inhibition"],
      ["inhibition", "currents"],
      ["potentials", "classes"],
      ["classes", "output"],
    );
  }
  return writeHdf5(nodes, edges);
}

/** A spike of one filter takes from the current of every other more than all spikes to come can give. */
function inhibition(m: number, n: number): Float32Array {
  const weight = new Float32Array(m * m).fill(-2 * n * (n + 1));
  for (let f = 0; f < m; f++) weight[f * m + f] = 0;
  return weight;
}

/** classes x filters: 1 where the filter is of the class. */
function membership(filterClass: Uint32Array, classes: number): Float32Array {
  const weight = new Float32Array(classes * filterClass.length);
  for (const [f, c] of filterClass.entries()) weight[c * filterClass.length + f] = 1;
  return weight;
}

interface Tensor {
  readonly values: Float32Array | BigInt64Array;
  readonly sides: number[];
}

type Nodes = { [name: string]: { readonly type: string; readonly [field: string]: string | Tensor } };

async function writeHdf5(nodes: Nodes, edges: readonly (readonly string[])[]): Promise<Uint8Array> {
  const h5 = await loadH5wasm();
  const { FS } = await h5.ready;
  const path = `ranksim-${crypto.randomUUID()}.nir`;
  const file = new h5.File(path, "w");
  try {
    file.create_dataset({ name: "version", data: NIR_VERSION, shape: [] });
    const graph = file.create_group("node");
    graph.create_dataset({ name: "type", data: "NIRGraph", shape: [] });
    graph.create_dataset({ name: "edges", data: edges.flat(), shape: [edges.length, 2] });
    const all = graph.create_group("nodes");
    for (const [name, fields] of Object.entries(nodes)) {
      const group = all.create_group(name);
      for (const [field, value] of Object.entries(fields)) {
        if (typeof value === "string") group.create_dataset({ name: field, data: value, shape: [] });
        else group.create_dataset({ name: field, data: value.values, shape: value.sides });
      }
    }
  } finally {
    file.close();
  }
  try {
    return FS.readFile(path);
  } finally {
    FS.unlink(path);
  }
}

async function loadH5wasm(): Promise<typeof import("h5wasm").default> {
  try {
    return (await import("h5wasm")).default;
  } catch (error) {
    throw new RanksimError(
      "unsupported",
      "nir: the package h5wasm writes HDF5 and is not installed; npm install h5wasm",
      {
        cause: error,
      },
    );
  }
}
