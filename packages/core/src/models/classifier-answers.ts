/** How a classifier answers: its strongest filter decides, or several vote, or the largest probability does. */

import type { Backend, RowSource } from "../backends/contract.ts";
import {
  banksOf,
  committeeScores,
  committeeVotes,
  type KeptCommitteeBank,
  keepBanks,
  keptCommitteeBank,
  scoresToProbabilities,
} from "../beyond/committee/committee.ts";
import { familiarityOf, meanWeight } from "../beyond/novelty/familiarity.ts";
import type { ScoreKind } from "../beyond/probabilities/calibration.ts";
import type { Dense } from "../matrix/dense.ts";
import type { Label } from "../matrix/labels.ts";
import type { Matrix } from "../matrix/matrix.ts";
import { type OnChunk, similarities, strongest } from "../paper/similarity.ts";
import { classProbabilities, lowestOfStrongest, voteBySimilarity, voteByStrongest, voteShares } from "../paper/vote.ts";
import { FilterAnswers } from "./answers.ts";
import type { ClassifierModel, ClassifierParts } from "./classifier-model.ts";
import type { Run } from "./estimator.ts";
import { quietRun } from "./run.ts";

/** Probabilities that `predict` has in memory at a time, where it needs them; with many classes this is few rows. */
const SCORE_ROOM = 2 ** 20;
const MOST_ROWS = 2 ** 14;

export class ClassifierAnswers extends FilterAnswers<Label, ClassifierParts> {
  readonly #model: ClassifierModel;
  #banks: readonly KeptCommitteeBank[] | undefined;
  #meanWeight: number | undefined;
  #hasAllClasses: boolean | undefined;

  constructor(parts: ClassifierParts, model: ClassifierModel) {
    super(parts);
    this.#model = model;
  }

  protected async *predictSome(x: RowSource, backend: Backend, tell: OnChunk, run: Run): AsyncGenerator<Label[]> {
    const { classes, filterClass, committee, voters } = this.#model;
    const c = classes.length;
    const named = (codes: Uint32Array) => Array.from(codes, (code) => classes[code]);
    const byProbability = this.keepsLeader;
    if (byProbability && !this.#isPlain) {
      const block = Math.max(1, Math.min(MOST_ROWS, Math.floor(SCORE_ROOM / c)));
      for (let from = 0; from < x.rows; from += block) {
        await tell(from / x.rows);
        const some = x.slice(from, Math.min(x.rows, from + block));
        const { values } = await this.probabilities(some, quietRun(run, backend));
        yield this.decide(values as Float64Array);
      }
    } else if (committee > 1) {
      for await (const { voted } of committeeVotes(x, this.byBank(), c, backend, tell)) yield named(voted);
    } else if (voters === 1) {
      const rule = byProbability ? lowestOfStrongest : voteByStrongest;
      for await (const { top, tied } of strongest(x, this.parts.filters.loaded, backend, tell)) {
        yield named(rule(top, tied, filterClass, c));
      }
    } else {
      // Similarities are scaled so that the strongest filter that does not vote has 0.
      for await (const { similar } of similarities(x, this.parts.filters.loaded, voters + 1, backend, tell)) {
        yield named(voteBySimilarity(similar, filterClass, c));
      }
    }
  }

  /**
   * Whether the strongest filters alone show which class is the most probable: where probabilities rise with the scores of classes and
   * every class has filters.
   */
  get #isPlain(): boolean {
    const { classes, filterClass } = this.#model;
    if (this.kind === "shares" || this.parts.calibration?.rising || this.#isOfSimilar) return false;
    this.#hasAllClasses ??= new Set(filterClass).size === classes.length;
    return this.#hasAllClasses;
  }

  /** Whether probabilities are those of similar filters: of one bank where none were fitted. */
  get #isOfSimilar(): boolean {
    return !this.parts.calibration && this.#model.committee === 1;
  }

  override async probabilities(x: RowSource, run: Run): Promise<Dense> {
    if (!this.#isOfSimilar) return super.probabilities(x, run);
    if (this.kind === "shares") return this.scores(x, run);
    const { classes, filterClass, nBest } = this.#model;
    return this.fromSimilar(x, nBest, run, (similar, out, at) =>
      classProbabilities(similar, filterClass, classes.length, out, at),
    );
  }

  protected override get keepsLeader(): boolean {
    return this.#model.decision === "probability";
  }

  protected override unfitted(scores: Float64Array, classes: number): void {
    scoresToProbabilities(scores, classes);
  }

  /** What probabilities are made of: shares of the votes where these decide by probability. */
  get kind(): ScoreKind {
    return this.keepsLeader && this.#model.voters > 1 ? "shares" : "responses";
  }

  scores(x: RowSource, run: Run): Promise<Dense> {
    if (this.kind === "responses") return this.classScores(x, run);
    const { classes, filterClass, voters } = this.#model;
    // Similarities are scaled so that the strongest filter that does not vote has 0.
    return this.fromSimilar(x, voters + 1, run, (similar, out, at) =>
      voteShares(similar, filterClass, classes.length, out, at),
    );
  }

  /** The strongest response of each class, in a committee added up over its banks. */
  override classScores(x: RowSource, run: Run): Promise<Dense> {
    const classes = this.parts.classes.length;
    return this.fill(x, run, (backend, tell, out) => committeeScores(x, this.byBank(), classes, backend, tell, out));
  }

  /** How much each row is like the filter it is most like. */
  async familiarity(x: Matrix, run: Run): Promise<Float64Array> {
    const scores = await this.classScores(x, run);
    const { bank, committee } = this.#model;
    const strongest = Float64Array.from({ length: x.rows }, (_, r) => {
      const row = scores.row(r) as Float64Array;
      return row.reduce((most, score) => Math.max(most, score)) / committee;
    });
    this.#meanWeight ??= meanWeight(bank);
    return familiarityOf(x, strongest, this.#meanWeight);
  }

  /** The banks of the committee with their classes apart; a single bank is a committee of one. */
  byBank(): readonly KeptCommitteeBank[] {
    const { bank, classes, filterBank, filterClass } = this.#model;
    this.#banks ??= filterBank
      ? keepBanks(banksOf(bank, filterClass, filterBank), classes.length)
      : [keptCommitteeBank(this.parts.filters.loaded, filterClass, classes.length)];
    return this.#banks;
  }
}
