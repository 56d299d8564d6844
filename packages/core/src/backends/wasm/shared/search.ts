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

/** Where `marks` has the value `mark`, ascending. */
export function positions(marks: Uint8Array, mark: number): Uint32Array {
  const found = new Uint32Array(marks.length);
  return found.slice(0, listMarked(marks, mark, found));
}

function listMarked(marks: Uint8Array, mark: number, out: Uint32Array): number {
  let count = 0;
  for (let j = 0; j < marks.length; j++) if (marks[j] === mark) out[count++] = j;
  return count;
}
