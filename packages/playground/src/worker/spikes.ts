/** The model as a network of spikes: one sample step by step, and how soon the class of many rows is certain. */

import { type Label, RanksimError, toDense } from "@ranksim/core";
import { pickRows } from "@ranksim/data";
import { simulateSpikes, summarizeSpikes, traceSpikes } from "@ranksim/export";
import type { Sample, SpikeSavings, SpikeView } from "../protocol.ts";
import { type LoadedData, pickLabels } from "./data.ts";
import type { Subject } from "./subject.ts";

/** Weights of a network that are written out, at most: two copies of 8 bytes each. */
const MOST_WEIGHTS = 8_000_000;

/** Rows that are simulated, and the additions that they may take together. */
const MOST_ROWS = 300;
const MOST_EVENTS = 3e8;

/** Follows a sample from its first spike to the last. */
export async function followSpikes(subject: Subject, sample: Sample): Promise<SpikeView> {
  const { network, row } = await spikingRow(subject, sample);
  const { features, times, end, settledAt, settledAfter, racers, moments, isPooled } = traceSpikes(network, row);
  return {
    ...{ isPooled, features, times, end, settledAt, settledAfter, moments },
    racers: racers.map(({ label, filter, potentials }) => ({ label: String(label), filter, potentials })),
  };
}

/** Simulates rows spread evenly over the data. `listen` lets other calls in. */
export async function saveSpikes(
  subject: Subject,
  data: LoadedData,
  rows: Uint32Array,
  heldOut: boolean,
  listen: () => Promise<void>,
): Promise<SpikeSavings> {
  const { bank } = subject.filters;
  const affordable = Math.max(20, Math.floor(MOST_EVENTS / (bank.filters * bank.features)));
  const count = Math.min(rows.length, MOST_ROWS, affordable);
  const picked = Uint32Array.from({ length: count }, (_, j) => rows[Math.floor((j * rows.length) / count)]);
  const network = networkOf(subject);
  const given = await pickRows(data.set, picked);
  const x = subject.parts.patches && given.form === "matrix" ? given.x : await subject.parts.prepare(given);
  const run = await simulateSpikes(network, toDense(x), { onProgress: listen });
  const y = data.y && !data.multilabel ? (pickLabels(data.y, picked) as Label[]) : undefined;
  const { curve, spikes, spikesNeeded } = summarizeSpikes(run, y);
  return { rows: count, heldOut, needed: spikesNeeded / Math.max(1, spikes), curve };
}

/** Images go into the layer of patches themselves, all else as the filters take it. */
async function spikingRow(subject: Subject, sample: Sample) {
  const network = networkOf(subject);
  if (subject.parts.patches && sample.form === "dense") return { network, row: sample.values };
  return { network, row: await subject.prepared(sample) };
}

function networkOf({ parts, filters: model }: Subject) {
  if (model.bank.filters * model.bank.features > MOST_WEIGHTS) {
    throw new RanksimError(
      "unsupported",
      `As spikes, ${model.bank.filters} filters of ${model.bank.features} features are too many for this page; ranksim spikes takes them.`,
    );
  }
  return parts.patches ? parts.whole : model;
}
