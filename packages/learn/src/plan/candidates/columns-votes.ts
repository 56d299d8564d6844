/** Encoded columns and filters of classes: a refined committee, single filters that vote, or one refined filter of each class. */

import { type ClassifierParams, RankSimilarityClassifier } from "@ranksim/core";
import { type Chosen, filtersFor, given, named, probabilities, type Task } from "../task.ts";
import { type Candidate, entriesOf, filtersCost } from "./candidate.ts";
import { encoder, hasFilters, isClassified } from "./columns.ts";

const candidate = (
  name: string,
  isUsual: boolean,
  {
    params,
    ...counts
  }: {
    params(task: Task): Partial<ClassifierParams>;
    filters(task: Task, rows: number): number;
    epochs?: number;
    banks?: number;
  },
): Candidate => ({
  name,
  isUsual,
  suits: (task) => isClassified(task) && hasFilters(task),
  cost: (task, rows) => filtersCost(rows, entriesOf(task), { ...counts, filters: counts.filters(task, rows) }),
  purposes: ["update", "reject"],
  streams: true,
  make: (task): Chosen => {
    const classify = new RankSimilarityClassifier(given(task, { ...params(task), ...probabilities(task) }));
    const { voters, committee, refine } = classify.params;
    const several =
      voters > 1 ? `, ${voters} filters that vote` : committee > 1 ? `, ${committee} banks that vote` : "";
    return {
      estimator: named(encoder(task), ["classify", classify]),
      what: `columns encoded, ${refine ? "refined " : ""}filters${several}`,
    };
  },
});

const BANKS = 5;
const FILTERS = 400;
const EPOCHS = 12;

export const columnsCommittee = candidate("columns, refined committee", true, {
  params: (task) => ({
    filters: Math.max(BANKS * task.classes, filtersFor(task, Math.ceil(FILTERS / task.classes))),
    committee: BANKS,
    refine: true,
    refineEpochs: EPOCHS,
  }),
  filters: ({ classes }, rows) => Math.max(BANKS * classes, Math.min(FILTERS, rows / 2)),
  epochs: EPOCHS,
  banks: BANKS,
});

/**
 * Filters of a table that vote. Chosen on drawn tables (the lab's TABLES.md), where of 1, 3, 5 and 9 nine did best with any number of rows.
 */
export const TABLE_VOTERS = 9;

export const columnsVotes = candidate("columns, filters that vote", false, {
  params: ({ params }) => (params.committee === undefined ? { voters: TABLE_VOTERS } : {}),
  filters: (_, rows) => Math.min(1000, rows),
});

export const columnsSingle = candidate("columns, one refined filter of a class", false, {
  params: ({ classes }) => ({
    filters: classes,
    classWeight: "uniform",
    distribution: "savage",
    refine: true,
    refineEpochs: 24,
  }),
  filters: ({ classes }) => classes,
  epochs: 24,
});
