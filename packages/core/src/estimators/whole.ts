/** Training on all rows together, as the transform and the probabilistic classifier do. */

import type { Backend, RowSource } from "../backends/contract.ts";
import { RanksimError } from "../errors.ts";
import { countFilters } from "../paper/allocate.ts";
import { resolveDistribution } from "../paper/distribution.ts";
import { type Trained, type TrainOptions, trainBank } from "../paper/train.ts";
import { Streams } from "../random.ts";
import { bankKeeper } from "./checkpoint.ts";
import type { Run } from "./estimator.ts";
import type { FilterParams, WholeParams } from "./params.ts";
import { shapeNotes } from "./report.ts";
import { advance } from "./run.ts";

/** A bank trained on all rows, with the distribution it draws from and the advice that arose. */
export interface Whole {
  readonly trained: Trained;
  readonly distribution: Float64Array | undefined;
  readonly notes: string[];
}

/** What else is known of the call. */
interface WholeCall {
  /** Progress runs from 0 to this. */
  readonly share: number;
  /** The same rows without their weights; absent: they have none. */
  readonly unweighted?: RowSource;
}

/** Trains one bank on the rows of `x`. */
export async function trainWhole(
  x: RowSource,
  params: WholeParams,
  run: Run,
  backend: Backend,
  { share, unweighted = x, ...wanted }: WholeCall & Pick<TrainOptions, "beforeWinners" | "keepBank">,
): Promise<Whole> {
  const notes = shapeNotes(x.features);
  const initialRows = params.initialRows && checkInitialRows(params.initialRows, x.rows);
  const filters = initialRows?.length ?? chooseCount(x.rows, params, notes);
  const streams = new Streams(params.seed);
  await advance(run, { stage: "distribution", share: 0 });
  const distribution = await resolveDistribution(
    unweighted,
    params.distribution,
    params,
    streams.distribution(),
    run.signal,
  );
  await advance(run, { stage: "initialize", share: 0 });
  const rounds = params.iterations + 1;
  const trained = await trainBank(
    x,
    filters,
    {
      ...params,
      initialRows,
      distribution,
      ...wanted,
    },
    streams.training(),
    backend,
    (filters, step) =>
      advance(run, {
        stage: step ? "spread" : "initialize",
        ...step,
        filters,
        share: (share * (1 + (step?.iteration ?? 0))) / rounds,
      }),
    bankKeeper(run, "bank"),
  );
  return { trained, distribution, notes };
}

/** The number of filters; where a start from rows cannot give that many, what it can give, with a note. */
function chooseCount(rows: number, params: FilterParams, notes: string[]): number {
  const filters = countFilters(rows, params.filters, params.fastFilters, params.maxFilters);
  refuseFullPlusplus(params, filters, rows);
  if (filters <= rows || params.initialize === "weightedAverage") return filters;
  notes.push(
    `${filters} filters were asked for ${rows} rows; initialize: "weightedAverage" allows more filters than rows`,
  );
  return rows;
}

/** `plusplus` chooses among rows, so it needs more rows than filters. */
export function refuseFullPlusplus(params: FilterParams, filters: number, rows: number): void {
  if (params.initialize !== "plusplus" || filters < rows) return;
  throw new RanksimError(
    "bad-params",
    `initialize: "plusplus" expects fewer filters than rows, found ${filters} filters for ${rows} rows; set filters, or use "random"`,
  );
}

/** Row numbers below `rows`, as an index array. */
export function checkInitialRows(initialRows: readonly number[], rows: number): Uint32Array {
  for (const row of initialRows) {
    if (!(row < rows)) throw new RanksimError("bad-params", `initialRows: expected rows below ${rows}, found ${row}`);
  }
  return Uint32Array.from(initialRows);
}
