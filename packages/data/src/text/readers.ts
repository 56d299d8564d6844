/** Readers for the vectorisers, to be given to `loadModel`. */

import type { ModelReader } from "@ranksim/core";
import { type CountModel, countReader } from "./count.ts";
import { type HashingModel, hashingReader } from "./hashing.ts";
import { type TfidfModel, tfidfReader } from "./tfidf.ts";

/** A vectoriser that was trained. */
export type TextModel = CountModel | TfidfModel | HashingModel;

/** `loadModel(bytes, { readers: textReaders })` loads models that take raw text. */
export const textReaders: readonly ModelReader<TextModel>[] = [countReader, tfidfReader, hashingReader];
