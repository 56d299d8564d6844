/** NIR graphs, read back and run step by step: the potentials end at x·w, and the first filter to fire silences the others. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClassifierModel, type Dense, expandFilter, RankSimilarityClassifier } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import h5wasm, { type Dataset, type Group } from "h5wasm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportNir } from "../src/nir.ts";
import { pythonWith } from "./python.ts";

const folder = mkdtempSync(join(tmpdir(), "ranksim-nir-"));
afterAll(() => rmSync(folder, { recursive: true }));

const digits = await loadDigits();
const x = digits.x as Dense;
let model: ClassifierModel;
beforeAll(async () => {
  model = await new RankSimilarityClassifier({ filters: 30, classWeight: "uniform" }).fit(x, digits.y as number[]);
});

interface Node {
  readonly type: string;
  readonly weight?: Float32Array;
  readonly sides?: readonly number[];
  readonly threshold?: Float32Array;
  readonly shape?: readonly number[];
}

interface GraphRead {
  readonly nodes: { readonly [name: string]: Node };
  readonly edges: readonly (readonly [string, string])[];
}

/** A graph as the file has it. */
async function read(bytes: Uint8Array): Promise<GraphRead> {
  const { FS } = await h5wasm.ready;
  FS.writeFile("read.nir", bytes);
  const file = new h5wasm.File("read.nir", "r");
  try {
    const value = (path: string) => (file.get(path) as Dataset).value;
    expect(value("version")).toMatch(/^\d+\.\d+\.\d+$/);
    expect(value("node/type")).toBe("NIRGraph");
    const list = value("node/edges") as string[];
    const edges = Array.from({ length: list.length / 2 }, (_, j) => [list[2 * j], list[2 * j + 1]] as const);
    const nodes: { [name: string]: Node } = {};
    for (const name of (file.get("node/nodes") as Group).keys()) {
      const at = `node/nodes/${name}`;
      const keys = (file.get(at) as Group).keys();
      nodes[name] = {
        type: value(`${at}/type`) as string,
        ...(keys.includes("weight")
          ? {
              weight: value(`${at}/weight`) as Float32Array,
              sides: (file.get(`${at}/weight`) as Dataset).shape as number[],
            }
          : {}),
        ...(keys.includes("v_threshold") ? { threshold: value(`${at}/v_threshold`) as Float32Array } : {}),
        ...(keys.includes("shape") ? { shape: Array.from(value(`${at}/shape`) as BigInt64Array, Number) } : {}),
      };
    }
    return { nodes, edges };
  } finally {
    file.close();
    FS.unlink("read.nir");
  }
}

function times(weight: Float32Array, [rows, columns]: readonly number[], v: ArrayLike<number>): Float64Array {
  return Float64Array.from({ length: rows }, (_, j) => {
    let sum = 0;
    for (let i = 0; i < columns; i++) sum += weight[j * columns + i] * v[i];
    return sum;
  });
}

/** Steps of length 1 from the first spike to the time x_max: the potentials at the end, and who fired when. */
function simulate(
  { nodes }: GraphRead,
  row: ArrayLike<number>,
): { potentials: Float64Array; fired: [number, number][] } {
  const { weights, potentials: neurons, inhibition } = nodes;
  const m = (weights.sides as number[])[0];
  const last = Math.max(...Array.from(row));
  const currents = new Float64Array(m);
  const potentials = new Float64Array(m);
  const fired: [number, number][] = [];
  for (let t = 0; t < last; t++) {
    const spikes = Array.from(row, (value) => Number(value > 0 && last - value === t));
    for (const [f, added] of times(weights.weight as Float32Array, weights.sides as number[], spikes).entries()) {
      currents[f] += added;
    }
    for (let f = 0; f < m; f++) potentials[f] += currents[f];
    if (!neurons.threshold || !inhibition) continue;
    const now = Array.from(potentials, (v, f) => Number(v > (neurons.threshold as Float32Array)[f]));
    now.forEach((spike, f) => {
      if (spike === 0) return;
      fired.push([t, f]);
      potentials[f] = 0;
    });
    for (const [f, taken] of times(inhibition.weight as Float32Array, inhibition.sides as number[], now).entries()) {
      currents[f] += taken;
    }
  }
  return { potentials, fired };
}

describe("a graph without a threshold", () => {
  it("ends in potentials that are x·w, so that the strongest gives the class of predict", async () => {
    const graph = await read(await exportNir(model));
    expect(graph.edges).toEqual([
      ["input", "weights"],
      ["weights", "currents"],
      ["currents", "potentials"],
      ["potentials", "output"],
    ]);
    expect(Object.fromEntries(Object.entries(graph.nodes).map(([name, { type }]) => [name, type]))).toEqual({
      input: "Input",
      weights: "Linear",
      currents: "I",
      potentials: "I",
      output: "Output",
    });
    expect([graph.nodes.input.shape, graph.nodes.output.shape]).toEqual([[64], [30]]);
    const weights = new Float64Array(64);
    for (const r of [0, 1, 2, 500, 1700]) {
      const { potentials } = simulate(graph, x.row(r));
      for (let f = 0; f < 30; f++) {
        expandFilter(model.bank, f, weights);
        expect(potentials[f]).toBe(weights.reduce((sum, w, i) => sum + w * x.row(r)[i], 0));
      }
    }
  });
});

describe("a graph with a threshold", () => {
  it("lets the first filter fire alone", async () => {
    const graph = await read(await exportNir(model, { threshold: 15_000 }));
    expect(graph.nodes.classes.sides).toEqual([10, 30]);
    expect(graph.edges).toContainEqual(["potentials", "inhibition"]);
    expect(graph.edges).toContainEqual(["inhibition", "currents"]);
    let firing = 0;
    for (let r = 0; r < 40; r++) {
      const { fired } = simulate(graph, x.row(r));
      if (fired.length === 0) continue;
      firing++;
      // Those that fire in the same step fire together; nobody else does afterwards.
      const first = fired.filter(([t]) => t === fired[0][0]).map(([, f]) => f);
      for (const [, f] of fired) expect(first).toContain(f);
    }
    expect(firing).toBeGreaterThan(20);
  });

  it("is refused where it is none", async () => {
    for (const threshold of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      await expect(exportNir(model, { threshold })).rejects.toThrow(/threshold: expected a number above 0/);
    }
  });
});

describe("what NIR cannot say", () => {
  it("is refused by name", async () => {
    const committee = await new RankSimilarityClassifier({ filters: 20, committee: 2 }).fit(x, digits.y as number[]);
    await expect(exportNir(committee)).rejects.toThrow(/nir: expected one bank, found a committee of 2/);
    const drawn = await new RankSimilarityClassifier({ filters: 20, distribution: "savage" }).fit(
      x,
      digits.y as number[],
    );
    await expect(exportNir(drawn)).rejects.toThrow(/nir: expected weights that are ranks/);
  });
});

const python = pythonWith("nir");
describe.skipIf(python === undefined)("the reference reader (needs Python with nir)", () => {
  it.each([undefined, 15_000])("reads a graph with threshold %s, types checked", async (threshold) => {
    const path = join(folder, "model.nir");
    writeFileSync(path, await exportNir(model, threshold === undefined ? {} : { threshold }));
    const script = `
import json, sys, nir
graph = nir.read(sys.argv[1])
names = {name: type(node).__name__ for name, node in graph.nodes.items()}
print(json.dumps([names, len(graph.edges), graph.nodes["weights"].weight.sum().item()]))`;
    const { stdout, stderr } = spawnSync(python as string, ["-c", script, path], { encoding: "utf8" });
    const [names, edges, sum] = JSON.parse(stdout || stderr);
    expect(names.potentials).toBe(threshold === undefined ? "I" : "IF");
    expect(edges).toBe(threshold === undefined ? 4 : 7);
    expect(sum).toBe(30 * 64 * 65);
  });
});
