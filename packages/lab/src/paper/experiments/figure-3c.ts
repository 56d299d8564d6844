/**
 * Figure 3 C: F1 against processor time on the whole of Fashion-MNIST, for RSC, RSPC and scikit-learn's classifiers at the best
 * parameters that the Fashion-MNIST benchmark reports, one thread.
 */

import { rowsFor } from "../../runner/data.ts";
import { table } from "../../runner/show.ts";
import { chart, type NamedPoint } from "../drawing/chart.ts";
import { COLORS, sheet } from "../drawing/plot.ts";
import { meanAndDeviation, showSeconds, summarize } from "../drawing/spread.ts";
import { type Claim, type Experiment, type Found, judge } from "../experiment.ts";
import type { Params, Point, Scale } from "../spec.ts";
import { ratio, tally } from "../wording.ts";
import { rawSvm } from "./figure-2ab.ts";
import { rscPoints } from "./figure-3ab.ts";
import { ours, peer, seedsFor } from "./plan.ts";
import { secondsOf } from "./score-and-time.ts";

interface Peer {
  readonly name: string;
  readonly system: string;
  readonly params: Params;
  readonly scale: Scale;
  /** Train on one of this many parts, where all rows take too long; the name says so. */
  readonly trainParts?: number;
  readonly late?: boolean;
}

const SVC = "SVC (20,000 rows)";

const scikit = (name: string, system: string, params: Params, more: Partial<Peer> = {}): Peer => ({
  name,
  system,
  params,
  scale: "none",
  ...more,
});
const STANDARD = { scale: "standard" } as const;
const SLOW = { ...STANDARD, late: true };
const FOREST = { criterion: "entropy", max_depth: 50, n_estimators: 100, random_state: 0 };

/** Parameters: the best of the benchmark's search for each class. The benchmark standardises pixels; so do those that gain by it. */
const PEERS: readonly Peer[] = [
  scikit("GaussianNB", "GaussianNB", {}),
  scikit("KNN", "KNeighborsClassifier", { n_neighbors: 5, weights: "distance", algorithm: "brute" }),
  scikit("DecisionTree", "DecisionTreeClassifier", { criterion: "entropy", max_depth: 10, random_state: 0 }),
  scikit("RandomForest", "RandomForestClassifier", FOREST),
  scikit("SGD", "SGDClassifier", { loss: "hinge", penalty: "l2", random_state: 0 }, STANDARD),
  scikit("MLP", "MLPClassifier", { activation: "relu", hidden_layer_sizes: [100], random_state: 0 }, SLOW),
  scikit("LogisticRegression", "LogisticRegression", { C: 1, solver: "lbfgs" }, SLOW),
  scikit(SVC, "SVC", { C: 10, kernel: "rbf" }, { ...SLOW, trainParts: 3 }),
];

/** That of figure 2, on bytes as the paper has it. */
const LINEAR_SVM = "linear SVM";

/** F1 at most this much below RSC's makes a peer worth comparing times with. */
const NEAR = 0.05;
/** F1 at most this much below another's is comparable. */
const COMPARABLE = 0.04;
/** Times faster that are almost an order of magnitude. */
const ALMOST_TEN = 8;

/** Those that a claim is about, for a quick run. */
function peersFor(quick: boolean): readonly Peer[] {
  return quick ? PEERS.filter(({ name }) => ["KNN", "MLP", "SGD"].includes(name)) : PEERS;
}

function rspcPoints(quick: boolean): readonly Point[] {
  return seedsFor(quick).map((seed) =>
    ours(`RSPC, seed ${seed}`, "fashion", rowsFor(quick, "fashion", { seed: 0 }), "rspc", { seed }),
  );
}

function peerPoint(quick: boolean, { name, system, params, scale, trainParts, late }: Peer): Point {
  const more = { scale, ...(late ? { late } : {}) };
  const rows = rowsFor(quick, "fashion", { seed: 0, ...(trainParts ? { trainParts } : {}) });
  return peer(name, "fashion", rows, system, params, more);
}

function systems(quick: boolean): readonly { readonly name: string; readonly points: readonly Point[] }[] {
  return [
    { name: "RSC", points: rscPoints(quick, 60_000) },
    { name: "RSPC", points: rspcPoints(quick) },
    { name: LINEAR_SVM, points: rawSvm(quick, 60_000, "none") },
    ...peersFor(quick).map((one) => ({ name: one.name, points: [peerPoint(quick, one)] })),
  ];
}

/** A classifier that was measured: mean F1 and mean seconds of training and predicting. */
interface Known {
  readonly name: string;
  readonly f1: number;
  readonly total: number;
}

function measuredSystems({ find, quick }: Found) {
  return systems(quick).map(({ name, points }) => {
    const runs = points.map(find);
    return {
      name,
      f1: summarize(runs.map((run) => run?.macroF1)),
      train: summarize(runs.map((run) => run?.seconds?.train)),
      apply: summarize(runs.map((run) => run?.seconds?.apply)),
      total: summarize(runs.map(secondsOf)),
    };
  });
}

export const figure3c: Experiment = {
  panels: ["figure-3c"],
  title: "Figure 3 C: F1 against time, RSC, RSPC and other classifiers",
  points: (quick) => systems(quick).flatMap(({ points }) => points),
  section: (found) => {
    const all = measuredSystems(found);
    const known = all.flatMap(({ name, f1, total }) => (f1 && total ? [{ name, f1: f1.mean, total: total.mean }] : []));
    const named: NamedPoint[] = known.map(({ name, f1, total }) => ({
      x: total,
      y: f1,
      name,
      ...(name === "RSC"
        ? { color: COLORS.vermilion, sign: "star", size: 7, bold: true }
        : name === "RSPC"
          ? { color: COLORS.blue, sign: "diamond", size: 6, bold: true }
          : { color: name === LINEAR_SVM ? COLORS.black : COLORS.grey, sign: "circle" }),
    }));
    const plot = sheet(
      "figure-3c.svg",
      "F1 against processor time of classifiers on Fashion-MNIST",
      [
        chart({
          width: 640,
          height: 400,
          x: { label: "processor time, s (train on 60,000 rows, predict 10,000; one thread)", log: true },
          y: { label: "macro F1", format: ".2f" },
          named,
        }),
      ],
      [
        { name: "RSC (mean of 3 seeds)", color: COLORS.vermilion, sign: "star", dash: "none" },
        { name: "RSPC (mean of 3 seeds)", color: COLORS.blue, sign: "diamond", dash: "none" },
        { name: "linear SVM", color: COLORS.black, sign: "circle", dash: "none" },
        { name: "scikit-learn", color: COLORS.grey, sign: "circle", dash: "none" },
      ],
    );
    return {
      text: [
        table(
          ["classifier", "macro F1", "train 60,000", "predict 10,000", "together"],
          all.map(({ name, f1, train, apply, total }) => [
            name,
            meanAndDeviation(f1),
            showSeconds(train?.mean),
            showSeconds(apply?.mean),
            showSeconds(total?.mean),
          ]),
        ),
        "Processor time of one thread. RSC and RSPC: default parameters, mean of 3 seeds. Linear SVM: ours on bytes, as in figure 2; SGD has the same loss. scikit-learn: one run each, parameters as the benchmark's search found them (KNN: 5 neighbours by distance, with the Euclidean metric in place of its marginally better Manhattan one, which takes ten minutes; random forest: 100 trees of depth 50; SVC: RBF, C = 10, trained on 20,000 rows, which is a lower bound of its F1 and of its time). The benchmark standardises pixels, and so do SGD, MLP, logistic regression and SVC here. LinearSVC and GradientBoosting, which the benchmark also lists, were left out for their time; the linear SVM stands for the former.",
        "RSC here is ranksim: its time is that of the method and of WebAssembly together. The authors' package, of the same method, takes 7.2 s to train and predict ([front page](../../README.md#numbers)), half the time of the logistic regression.",
      ].join("\n\n"),
      plots: known.length > 0 ? [plot] : [],
      claims: claims(known, [LINEAR_SVM, ...peersFor(found.quick).map(({ name }) => name)]),
    };
  },
};

function claims(known: readonly Known[], planned: readonly string[]): Claim[] {
  const of = (name: string) => known.find((one) => one.name === name);
  const [rsc, rspc] = [of("RSC"), of("RSPC")];
  const peers = known.filter(({ name }) => planned.includes(name));
  const missing = planned.filter((name) => !of(name));
  const unknown = missing.length > 0 ? `; not measured: ${missing.join(", ")}` : "";
  /** Whether one of ours and each peer are as stated; undefined where one of both was not measured. */
  const each = (own: Known | undefined, holds: (own: Known, peer: Known) => boolean, names = planned) =>
    names.map((name) => {
      const one = of(name);
      return own && one && holds(own, one);
    });
  const faster = (own: Known | undefined) => each(own, (a, b) => a.total < b.total);
  const higher = (own: Known | undefined, names = planned) => each(own, (a, b) => a.f1 > b.f1, names);
  const quicker = (own: Known | undefined) => {
    const names = peers.filter(({ total }) => own && total < own.total);
    return names.map(({ name, f1, total }) => `${name} (${showSeconds(total)}, F1 ${f1.toFixed(3)})`).join(", ");
  };
  const near = peers.filter(({ f1 }) => rsc && f1 > rsc.f1 - NEAR);
  const fastest = near.length > 0 ? near.reduce((a, b) => (a.total < b.total ? a : b)) : undefined;
  const best = peers.length > 0 ? peers.reduce((a, b) => (a.f1 > b.f1 ? a : b)) : undefined;
  const show = (name: string) => `${name} ${of(name)?.f1.toFixed(3) ?? "–"}`;
  const isNear = (own: Known, one: Known) => own.f1 > one.f1 - COMPARABLE;
  return [
    {
      paper: "RSC is consistently much faster than the other classifiers",
      ours: `faster than ${tally(faster(rsc))}; faster than RSC: ${quicker(rsc) || "none"}${unknown}`,
      verdict: judge(faster(rsc)),
    },
    {
      paper: "RSC is almost an order of magnitude faster than other scikit-learn classifiers",
      ours: `${ratio(rsc && fastest && fastest.total / rsc.total)} faster than the fastest of those within ${NEAR} of its F1 or above (${fastest?.name ?? "–"})${unknown}`,
      verdict: judge(each(rsc, (own, one) => one.f1 <= own.f1 - NEAR || one.total / own.total >= ALMOST_TEN)),
    },
    {
      paper: "RSC has comparable classification performance",
      ours: `${rsc?.f1.toFixed(3) ?? "–"} against ${best?.f1.toFixed(3) ?? "–"} of the best (${best?.name ?? "–"}); above ${tally(higher(rsc))}${unknown}`,
      verdict: judge(each(rsc, isNear)),
    },
    {
      paper: "RSC is competitive with SVC and KNN in F1",
      ours: `${show("RSC")}, ${show(SVC)}, ${show("KNN")}; within ${COMPARABLE} counts`,
      verdict: judge(each(rsc, isNear, [SVC, "KNN"])),
    },
    {
      paper: "RSPC takes longer than RSC and has a lower F1",
      ours: `${showSeconds(rspc?.total)} and ${rspc?.f1.toFixed(3) ?? "–"} against ${showSeconds(rsc?.total)} and ${rsc?.f1.toFixed(3) ?? "–"}`,
      verdict: judge([rsc && rspc && rspc.total > rsc.total, rsc && rspc && rspc.f1 < rsc.f1]),
    },
    {
      paper: "RSPC is more efficient than the other classifiers",
      ours: `faster than ${tally(faster(rspc))}; faster than RSPC: ${quicker(rspc) || "none"}${unknown}`,
      verdict: judge(faster(rspc)),
    },
    {
      paper: "RSPC has a higher F1 than the linear SVM and the MLP",
      ours: `${show("RSPC")}, ${show(LINEAR_SVM)} on bytes, ${show("SGD")} (the same loss) and ${show("MLP")} on standardised pixels`,
      verdict: judge(higher(rspc, [LINEAR_SVM, "SGD", "MLP"])),
    },
  ];
}
