/** Readers for the vectorisers, to be given to `loadModel`. */

import type { ModelReader } from "@ranksim/core";
import { countReader } from "./count.ts";
import { hashingReader } from "./hashing.ts";
import { tfidfReader } from "./tfidf.ts";

/** `loadModel(bytes, { readers: textReaders })` loads models that take raw text. */
export const textReaders: readonly ModelReader[] = [countReader, tfidfReader, hashingReader];
