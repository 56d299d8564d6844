/** What the searches on dense and on sparse rows share. */

/** Where a search writes its answer: k places per item. */
export interface Answer {
  readonly k: number;
  readonly ids: number;
  readonly values: number;
  /** Whether only the strongest matters, and what equals it: other places are unspecified. */
  readonly leading?: boolean;
}

/** What went before and whether more follows, where filters or rows come in blocks. */
export interface More {
  readonly known: boolean;
  readonly last: boolean;
}
