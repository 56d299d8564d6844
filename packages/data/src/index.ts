/** @packageDocumentation Readers, writers, text vectorisers and a catalogue of data sets. Runs in Node and browsers. */

export { loadDigits } from "./catalogue/digits.ts";
