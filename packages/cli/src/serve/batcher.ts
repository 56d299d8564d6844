/**
 * Joins rows of requests that arrive together into one search. While a search runs, others gather; a request of many rows is
 * cut, so that no request waits for all of it. Answers are those of single calls, because rows do not know of one another.
 */

import { canJoin, type Rows, sliceRows } from "./input.ts";
import type { Limits } from "./limits.ts";
import type { Answers, Wanted } from "./served-model.ts";

interface Job {
  readonly rows: Rows;
  readonly wanted: Wanted;
  readonly settle: (answers: Answers) => void;
  readonly fail: (error: unknown) => void;
}

type Search = (parts: readonly Rows[], wanted: Wanted) => Promise<Answers>;

/** A queue in front of one model. */
export class Batcher {
  readonly #limits: Limits;
  readonly #search: Search;
  #waiting: Job[] = [];
  #isScheduled = false;
  #waitingRows = 0;
  /** Searches so far, and the rows they had. */
  searches = 0;
  searchedRows = 0;

  constructor(limits: Limits, search: Search) {
    this.#limits = limits;
    this.#search = search;
  }

  /** Rows that wait. */
  get waitingRows(): number {
    return this.#waitingRows;
  }

  /** Resolves when the rows have been searched. */
  async add(rows: Rows, wanted: Wanted): Promise<Answers> {
    const { batchRows } = this.#limits;
    if (rows.rows <= batchRows) return this.#enqueue(rows, wanted);
    const parts: Answers[] = [];
    // One after the other: the pieces of one request do not push those of others aside.
    for (let from = 0; from < rows.rows; from += batchRows) {
      parts.push(await this.#enqueue(sliceRows(rows, from, Math.min(rows.rows, from + batchRows)), wanted));
    }
    return joinAnswers(parts);
  }

  #enqueue(rows: Rows, wanted: Wanted): Promise<Answers> {
    return new Promise((settle, fail) => {
      this.#waiting.push({ rows, wanted, settle, fail });
      this.#waitingRows += rows.rows;
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const { batchMs } = this.#limits;
    // After the current events: requests that have arrived by then are searched together.
    if (batchMs === 0) setImmediate(() => void this.#work());
    else setTimeout(() => void this.#work(), batchMs);
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const jobs = this.#take();
      await this.#answer(jobs);
      // Sockets are read between two searches.
      if (this.#waiting.length > 0) await new Promise((next) => setImmediate(next));
    }
    this.#isScheduled = false;
  }

  /** The first jobs that can share a search, up to the limit of rows. */
  #take(): Job[] {
    const first = this.#waiting[0];
    let count = 1;
    let rows = first.rows.rows;
    while (
      count < this.#waiting.length &&
      canJoin(first.rows, this.#waiting[count].rows) &&
      rows + this.#waiting[count].rows.rows <= this.#limits.batchRows
    ) {
      rows += this.#waiting[count++].rows.rows;
    }
    const jobs = this.#waiting.splice(0, count);
    this.#waitingRows -= rows;
    // Those who want the same stand together, so that probabilities are found only for who asks.
    return jobs.sort((a, b) => weight(b.wanted) - weight(a.wanted));
  }

  async #answer(jobs: readonly Job[]): Promise<void> {
    for (let from = 0, to = 0; from < jobs.length; from = to) {
      while (to < jobs.length && weight(jobs[to].wanted) === weight(jobs[from].wanted)) to++;
      await this.#answerAlike(jobs.slice(from, to));
    }
  }

  async #answerAlike(jobs: readonly Job[]): Promise<void> {
    try {
      const rows = jobs.reduce((sum, job) => sum + job.rows.rows, 0);
      this.searches++;
      this.searchedRows += rows;
      const found = await this.#search(
        jobs.map((job) => job.rows),
        jobs[0].wanted,
      );
      if (jobs.length === 1) return jobs[0].settle(found);
      let at = 0;
      for (const { rows: own, settle } of jobs) {
        settle(sliceAnswers(found, at, at + own.rows, rows));
        at += own.rows;
      }
    } catch (error) {
      // One bad request must not fail the others it was joined with.
      if (jobs.length > 1) for (const job of jobs) await this.#answerAlike([job]);
      else jobs[0].fail(error);
    }
  }
}

const weight = ({ labels, probabilities, similarities }: Wanted): number =>
  Number(labels) + 2 * Number(probabilities) + 4 * Number(similarities);

function sliceAnswers(
  { labels, probabilities, similarities }: Answers,
  from: number,
  to: number,
  rows: number,
): Answers {
  const part = (values: Float64Array | undefined) => {
    const width = values ? values.length / rows : 0;
    return values?.subarray(from * width, to * width);
  };
  return { labels: labels.slice(from, to), probabilities: part(probabilities), similarities: part(similarities) };
}

function joinAnswers(parts: readonly Answers[]): Answers {
  const join = (pick: (part: Answers) => Float64Array | undefined): Float64Array | undefined => {
    const lists = parts.map(pick);
    if (lists.some((list) => list === undefined)) return undefined;
    const out = new Float64Array(lists.reduce((sum, list) => sum + (list as Float64Array).length, 0));
    let at = 0;
    for (const list of lists as Float64Array[]) {
      out.set(list, at);
      at += list.length;
    }
    return out;
  };
  return {
    labels: parts.flatMap(({ labels }) => labels),
    probabilities: join(({ probabilities }) => probabilities),
    similarities: join(({ similarities }) => similarities),
  };
}
