/**
 * Parts of the method for those who study it: densities of features and their confusion. They follow the paper, not
 * semantic versioning.
 *
 * @packageDocumentation
 */

export { cumulateGaps, histogramConfusion, kdeConfusion } from "./paper/confusion.ts";
export { type Column, columnOf, type Histogram, histogramOf, type Kde, kdeOf, kernelSum } from "./paper/density.ts";
