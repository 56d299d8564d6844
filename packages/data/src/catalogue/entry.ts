/** What the catalogue says about a data set. */

import type { ImageSize } from "../data-set.ts";

/** A file as its makers publish it. */
export interface CatalogueFile {
  readonly name: string;
  /** Where it can be had, best first; empty where there is no public address. */
  readonly addresses: readonly string[];
  /** Size as published. */
  readonly byteLength?: number;
  /** SHA-256 as published. */
  readonly sha256?: string;
  /** MD5 as published, where no SHA-256 is known. */
  readonly md5?: string;
  /** SHA-256 of the unpacked content: tells files of one name apart, however they were packed. */
  readonly plainSha256?: string;
}

/** A way to have a part: its files and how to read them. */
export interface CatalogueSource {
  readonly form: "embedded" | "idx" | "npz" | "newsgroups" | "svmlight" | "lyrl2004";
  readonly files: readonly CatalogueFile[];
  readonly rows: number;
}

/** One data set. */
export interface CatalogueEntry {
  /** The name that commands take. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly homepage: string;
  readonly licence: string;
  readonly citation: string;
  /** Absent for text. */
  readonly features?: number;
  readonly classes: number;
  /** Whether a row has several labels. */
  readonly multilabel?: boolean;
  readonly imageSize?: ImageSize;
  /** What labels 0, 1, … stand for. */
  readonly classNames?: readonly string[];
  /** Parts by name, the default first; each with its sources, best first. */
  readonly parts: { readonly [part: string]: readonly CatalogueSource[] };
}
