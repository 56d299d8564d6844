/**
 * Joins rows of requests that arrive together into one search. While a search runs, others gather. A request of many rows is
 * cut, and small ones are searched between its pieces; large ones are answered one after the other, so that too many of them
 * delay some and not all. Rows that wait for nobody are dropped. Answers are those of single calls, because rows do not know of
 * one another.
 */

import { Gone } from "./http-error.ts";
import { canJoin, type Rows, sliceRows } from "./input.ts";
import type { Limits } from "./limits.ts";
import type { Answers, Wanted } from "./served-model.ts";

/** Who asks. */
export interface Asker {
  /** Whether it does not wait any more. */
  readonly isGone: boolean;
}

interface Job {
  /** The number of the request. */
  readonly request: number;
  readonly rows: Rows;
  readonly wanted: Wanted;
  readonly asker: Asker | undefined;
  readonly settle: (answers: Answers) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Milliseconds that a search should take at most. A slow model is asked about fewer rows at a time, so that others do not wait
 * long for rows of a large request, least of all where nobody waits for these any more. The answers do not depend on it.
 */
const LONG_MS = 100;

/** A request of at most this part of the rows of a search is a small one. */
const SMALL = 16;

type Search = (parts: readonly Rows[], wanted: Wanted) => Promise<Answers>;

/** A queue in front of one model. */
export class Batcher {
  readonly #limits: Limits;
  readonly #search: Search;
  /** Whole requests, and the next pieces of large ones, the first request first. */
  readonly #waiting: Job[] = [];
  readonly #pieces: Job[] = [];
  #isTurnOfPiece = false;
  #requests = 0;
  #isScheduled = false;
  #waitingRows = 0;
  /** Rows of one search at most. */
  #most: number;
  /** Searches so far, and the rows they had. */
  searches = 0;
  searchedRows = 0;

  constructor(limits: Limits, search: Search) {
    this.#limits = limits;
    this.#most = limits.batchRows;
    this.#search = search;
  }

  /** Rows that wait. */
  get waitingRows(): number {
    return this.#waitingRows;
  }

  /** Resolves when the rows have been searched. */
  async add(rows: Rows, wanted: Wanted, asker?: Asker): Promise<Answers> {
    const request = this.#requests++;
    const job = { request, wanted, asker };
    if (rows.rows * SMALL <= this.#limits.batchRows || rows.rows === 1)
      return this.#enqueue({ ...job, rows }, this.#waiting);
    const parts: Answers[] = [];
    for (let from = 0; from < rows.rows; ) {
      const to = Math.min(rows.rows, from + this.#most);
      parts.push(await this.#enqueue({ ...job, rows: sliceRows(rows, from, to) }, this.#pieces));
      from = to;
    }
    return joinAnswers(parts);
  }

  #enqueue(job: Omit<Job, "settle" | "fail">, queue: Job[]): Promise<Answers> {
    return new Promise((settle, fail) => {
      const after = queue.findLastIndex(({ request }) => request < job.request);
      queue.splice(after + 1, 0, { ...job, settle, fail });
      this.#waitingRows += job.rows.rows;
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
    const areWaiting = () => this.#waiting.length + this.#pieces.length > 0;
    while (areWaiting()) {
      this.#dropGone(this.#waiting);
      this.#dropGone(this.#pieces);
      if (areWaiting()) await this.#answer(this.#take());
      // Sockets are read between two searches.
      if (areWaiting()) await new Promise((next) => setImmediate(next));
    }
    this.#isScheduled = false;
  }

  /** Takes out the rows that nobody waits for. */
  #dropGone(queue: Job[]): void {
    let kept = 0;
    for (const job of queue) {
      if (!job.asker?.isGone) queue[kept++] = job;
      else {
        this.#waitingRows -= job.rows.rows;
        job.fail(new Gone());
      }
    }
    queue.length = kept;
  }

  /** The next piece of the first large request, and then the first small ones that can share a search, up to the limit of rows. */
  #take(): Job[] {
    this.#isTurnOfPiece = this.#pieces.length > 0 && (!this.#isTurnOfPiece || this.#waiting.length === 0);
    if (this.#isTurnOfPiece) {
      const piece = this.#pieces.shift() as Job;
      this.#waitingRows -= piece.rows.rows;
      return [piece];
    }
    const first = this.#waiting[0];
    let count = 1;
    let rows = first.rows.rows;
    while (
      count < this.#waiting.length &&
      canJoin(first.rows, this.#waiting[count].rows) &&
      rows + this.#waiting[count].rows.rows <= this.#most
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

  /** Fits the rows of a search to the time that one took. */
  #fit(rows: number, ms: number): void {
    if (ms > LONG_MS) this.#most = Math.ceil(this.#most / 2);
    else if (ms < LONG_MS / 4 && 2 * rows >= this.#most) this.#most = Math.min(this.#limits.batchRows, 2 * this.#most);
  }

  async #answerAlike(jobs: readonly Job[]): Promise<void> {
    try {
      const rows = jobs.reduce((sum, job) => sum + job.rows.rows, 0);
      this.searches++;
      this.searchedRows += rows;
      const began = performance.now();
      const found = await this.#search(
        jobs.map((job) => job.rows),
        jobs[0].wanted,
      );
      this.#fit(rows, performance.now() - began);
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
