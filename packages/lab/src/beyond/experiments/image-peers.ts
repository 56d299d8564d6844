/** Presets on Fashion-MNIST beside other classifiers of images, measured on the same machine: what F1 costs. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { multiplyAdds } from "@ranksim/core";
import { type Preset, type RecipeOptions, train } from "@ranksim/data";
import { saveData } from "@ranksim/data/node";
import { ONE_THREAD, pythonScript, run as runProgram } from "../../bench/launch.ts";
import { median } from "../../bench/results.ts";
import { table } from "../../bench/show.ts";
import { type Bench, type Experiment, type Figures, figuresOf, type ResultsOf } from "../experiment.ts";
import { COSTS, frontOf, type Method, peersPicture } from "../peers-picture.ts";
import { SMALL } from "./recipes.ts";

const PEERS = {
  mlp: "MLP of scikit-learn, 100 units, 10 epochs",
  hog: "HOG and linear SVM",
  cnn: "CNN of two layers in PyTorch, 10 epochs",
};
type Peer = keyof typeof PEERS;

/** Presets, the experiments that have their figures, and parameters given by hand. */
const OWN: readonly {
  readonly name: string;
  readonly title: string;
  readonly preset: Preset;
  readonly params: object;
  readonly patches?: RecipeOptions["patches"];
}[] = [
  { name: "small", title: "ranksim in 64 KB", preset: "fast", ...SMALL },
  { name: "fast", title: "ranksim, `fast`", preset: "fast", params: {} },
  { name: "balanced", title: "ranksim, `balanced`", preset: "balanced", params: {} },
  { name: "best", title: "ranksim, `best`", preset: "best", params: {} },
];
const RESULTS: { readonly [name: string]: string } = {
  small: "recipe-fashion-small",
  fast: "recipe-fashion-fast",
  balanced: "recipe-fashion",
  best: "recipe-fashion-best",
};

const LONGEST = 7200;
/** Multiply-adds do not depend on the rows, if there are enough for all filters. */
const FEW_ROWS = 2000;

async function measure(seed: number, { shelf, backend, quick }: Bench): Promise<Figures> {
  const name = quick ? "digits" : "fashion-mnist";
  const parts = [await shelf.numbers(`${name}:train`), await shelf.numbers(`${name}:test`)];
  const figures: Record<string, number> = {};
  const side = Math.sqrt(parts[0].x.features);
  const few = {
    form: "matrix" as const,
    x: parts[0].x.slice(0, Math.min(FEW_ROWS, parts[0].x.rows)),
    y: parts[0].y.slice(0, FEW_ROWS),
    imageSize: { width: side, height: side },
  };
  for (const { name, preset, params, patches = {} } of OWN) {
    const given = { ...params, refineEpochs: 1, calibrate: "none" };
    const { model } = await train(few, { preset, seed, params: given, patches, backend });
    figures[`${name}Macs`] = await multiplyAdds(model, few.x, { backend });
  }
  if (quick) return figures;
  const scratch = mkdtempSync(join(tmpdir(), "ranksim-peers-"));
  try {
    const paths = [join(scratch, "train.npz"), join(scratch, "test.npz")];
    for (const [j, { x, y }] of parts.entries()) await saveData(paths[j], { form: "matrix", x, y });
    for (const peer of Object.keys(PEERS) as Peer[]) {
      const found = await ask(peer, seed, paths);
      for (const [figure, value] of Object.entries(found)) figures[`${peer}${capital(figure)}`] = value;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return figures;
}

const capital = (name: string): string => name[0].toUpperCase() + name.slice(1);

/** A process of its own, which times fit and predict alone. */
async function ask(peer: Peer, seed: number, paths: readonly string[]): Promise<Figures> {
  const args = [pythonScript("image_peers.py"), peer, String(seed), ...paths];
  const ended = await runProgram("/usr/bin/python3", args, { ...process.env, ...ONE_THREAD }, LONGEST);
  if (!ended.ok) throw new Error(`${PEERS[peer]}: ${ended.why}`);
  return JSON.parse(ended.text) as Figures;
}

/** All methods with medians of their figures; presets as far as they were measured. */
function methodsOf(runs: readonly Figures[], resultsOf: ResultsOf): Method[] {
  const middle = (of: readonly Figures[], name: string) => median(figuresOf(of, name)) ?? Number.NaN;
  const peers = (Object.keys(PEERS) as Peer[]).map((peer) => {
    const of = (figure: string) => middle(runs, `${peer}${capital(figure)}`);
    const costs = { fitCpu: of("fitCpu"), predictCpu: of("predictCpu"), bytes: of("bytes"), macs: of("macs") };
    return { title: PEERS[peer], isOwn: false, macro: of("macro"), ...costs };
  });
  const own = OWN.map(({ name, title }) => {
    const found = resultsOf(RESULTS[name]);
    const of = (figure: string) => middle(found, figure);
    const costs = { fitCpu: of("fitCpu"), predictCpu: of("predictCpu"), bytes: of("bytes") };
    return { title, isOwn: true, macro: of("macro"), ...costs, macs: middle(runs, `${name}Macs`) };
  });
  return [...own, ...peers].filter(({ macro }) => Number.isFinite(macro));
}

export const imagePeers: Experiment = {
  name: "image-peers",
  title: "Images, beside other classifiers",
  about:
    "Fashion-MNIST, 60,000 training and 10,000 test images, processor seconds of one thread. Presets as in the tables above; scikit-learn's MLP (100 units, 10 epochs), HOG (8 directions, cells of 4 pixels) with a linear SVM, and a convolutional network of two layers (32 and 64 channels of 3 x 3, a layer of 128) in PyTorch, all with their default settings and run by the system's python3 (Debian: python3-sklearn, python3-skimage, python3-torch). Bytes are those of the model file, for the others of the weights as 32-bit numbers. A method is on the front of a cost if no other is as good and as cheap, and better in one of these.",
  columns: [],
  measure,
  show: (runs, resultsOf) => {
    const methods = methodsOf(runs, resultsOf);
    const fronts = COSTS.map(({ figure, title }) => ({ title, front: frontOf(methods, figure) }));
    const count = (value: number) => Math.round(value).toLocaleString("en-US");
    return [
      table(
        ["method", "test macro F1", ...COSTS.map(({ title }) => title), "on the front of F1 against"],
        methods.map((method) => [
          method.title,
          method.macro.toFixed(4),
          method.fitCpu.toFixed(1),
          method.predictCpu.toFixed(2),
          count(method.bytes),
          count(method.macs),
          fronts.flatMap(({ title, front }) => (front.has(method) ? [title.replace(/, .*/, "")] : [])).join(", ") ||
            "–",
        ]),
      ),
      "![F1 against the seconds of fit and predict, bytes and multiply-adds](results/image-peers.svg)",
    ].join("\n\n");
  },
  pictures: (runs, resultsOf) => [{ name: "image-peers.svg", svg: peersPicture(methodsOf(runs, resultsOf)) }],
  targets: (runs, resultsOf) => {
    const methods = methodsOf(runs, resultsOf);
    return COSTS.map(({ figure, title }) => {
      const front = frontOf(methods, figure);
      const own = methods.filter((method) => method.isOwn && front.has(method));
      return {
        name: `Fashion-MNIST, presets on the front of F1 against ${title}`,
        wanted: "≥ 1",
        measured: String(own.length),
        met: own.length > 0,
      };
    });
  },
};
