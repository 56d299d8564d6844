/**
 * How far the scores of a row lie apart (deviation 27): among sparse rows log odds grow as the root of it, not with it. Found on the
 * training texts of 20 Newsgroups, as the lab's BEYOND.md tells. Only + - * / and roots are used, which are the same on every engine.
 */

import { fitHalfway, GAIN } from "./row-length.ts";

/** Replaces the scores of each row (rows x classes) by what they differ from their mean, divided by the root of their standard deviation. */
export function rootSpread(scores: Float64Array, classes: number): void {
  for (let at = 0; at < scores.length; at += classes) {
    let mean = 0;
    for (let c = 0; c < classes; c++) mean += scores[at + c];
    mean /= classes;
    let squares = 0;
    for (let c = 0; c < classes; c++) {
      scores[at + c] -= mean;
      squares += scores[at + c] * scores[at + c];
    }
    const root = Math.sqrt(Math.sqrt(squares / classes));
    if (root === 0) continue;
    for (let c = 0; c < classes; c++) scores[at + c] /= root;
  }
}

/** The factor and what counts beside it: the length of rows, and whether scores are divided by the root of their spread. */
export function fitSparse(
  scores: Float64Array,
  truth: Uint32Array,
  classes: number,
  lengths: Uint32Array,
): { readonly beta: number; readonly halfway: number; readonly isRooted: boolean } {
  const plain = fitHalfway(scores, truth, classes, lengths);
  const apart = scores.slice();
  rootSpread(apart, classes);
  const rooted = fitHalfway(apart, truth, classes, lengths);
  const isRooted = plain.loss - rooted.loss > GAIN;
  const { beta, halfway } = isRooted ? rooted : plain;
  return { beta, halfway, isRooted };
}
