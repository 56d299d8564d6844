/** Other classifiers of Fashion-MNIST beside the presets, on the same machine: what F1 costs. */

import { join } from "node:path";
import { saveData } from "@ranksim/data/node";
import { measureInPython } from "../../runner/process.ts";
import { medianOf, type Results } from "../../runner/results.ts";
import { number, table } from "../../runner/show.ts";
import type { AccuracyRow, AccuracyTable } from "../table.ts";
import { COSTS, frontOf, type Method, peersPicture } from "./peers-picture.ts";
import { presets } from "./presets.ts";

const peer = (name: string, system: string): AccuracyRow => ({
  name,
  measure: async (seed, { shelf, workshop, quick }) => {
    const set = quick ? "digits" : "fashion-mnist";
    const files: { [part: string]: string } = {};
    for (const part of ["train", "test"]) {
      const { x, y } = await shelf.numbers(`${set}:${part}`);
      files[part] = join(workshop.scratch, `${part}.npz`);
      await saveData(files[part], { form: "matrix", x, y });
    }
    return (await measureInPython(workshop, "image_peers.py", { system, seed, ...files })).figures;
  },
});

const PEERS = [
  peer("MLP of scikit-learn, 100 units, 10 epochs", "mlp"),
  peer("HOG and linear SVM", "hog"),
  peer("CNN of two layers in PyTorch, 10 epochs", "cnn"),
];

/** All methods with medians of their figures, as far as they were measured. */
function methodsOf(results: Results): Method[] {
  const own = presets.rows.filter(({ name }) => name.startsWith("Fashion-MNIST"));
  return [...own, ...PEERS].flatMap((row) => {
    const found = results.find(row);
    const of = (figure: string) => medianOf(found, figure) ?? Number.NaN;
    const costs = { fitCpu: of("fitCpu"), predictCpu: of("predictCpu"), bytes: of("bytes"), macs: of("macs") };
    return found ? [{ title: row.name, isOwn: own.includes(row), macro: of("macro"), ...costs }] : [];
  });
}

export const imagePeers: AccuracyTable = {
  name: "image-peers",
  title: "Images, beside other classifiers",
  columns: {},
  rows: PEERS,
  show: (results) => {
    const methods = methodsOf(results);
    const fronts = COSTS.map(({ figure, title }) => ({ title, front: frontOf(methods, figure) }));
    const beaten = (method: Method) => fronts.flatMap(({ title, front }) => (front.has(method) ? [title] : []));
    return table(
      ["method", "test macro F1", ...COSTS.map(({ title }) => title), "on the front of F1 against"],
      methods.map((method) => [
        method.title,
        method.macro.toFixed(4),
        ...COSTS.map(({ figure }) => number(method[figure])),
        beaten(method)
          .map((title) => title.replace(/, .*/, ""))
          .join(", ") || "–",
      ]),
    );
  },
  pictures: (results) => ({ "image-peers.svg": peersPicture(methodsOf(results)) }),
};
