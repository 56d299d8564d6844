/**
 * Genes by name. Files call them by symbols or by Ensembl numbers, in upper or lower case, with or without the version of the number, and
 * some twice. What is one gene is decided here, and so is which genes of a file are those of a model.
 */

import { RanksimError, type Schema } from "@ranksim/core";
import type { DataSet } from "../data-set.ts";
import { didYouMean } from "../did-you-mean.ts";

/** Genes in the order of a file: what they are called, and another name of each where the file has one. */
export interface Genes {
  readonly names: readonly string[];
  readonly ids?: readonly string[] | undefined;
  /** 1 for each that is none, such as an antibody; absent where all are. */
  readonly isOther?: Uint8Array | undefined;
}

/** Where the genes of a file go. */
export interface GenePlaces {
  /** The feature of each gene of the file; -1: none. Values of several genes of one feature are added up. */
  readonly features: Int32Array;
  readonly names: readonly string[];
  readonly ids?: readonly string[];
  /** Which of a model's columns the features are, ascending; absent where they are all of them, or no model is asked. */
  readonly columns?: Uint32Array;
  readonly notes: readonly string[];
}

/** A file in which fewer of a model's genes are found is refused: it is another kind of data, or its names are. */
export const LEAST_SHARE = 0.2;

/** What two names of one gene have in common. */
export function geneKey(name: string): string {
  const plain = name.trim().toUpperCase();
  return /^ENS[A-Z]*\d{11}\.\d+$/.test(plain) ? plain.slice(0, plain.indexOf(".")) : plain;
}

/** Every gene a feature of its own, those of one name together. */
export function ownGenes(file: string, { names, ids, isOther }: Genes): GenePlaces {
  const places = new Map<string, number>();
  const features = new Int32Array(names.length);
  const [own, numbers]: [string[], string[]] = [[], []];
  let others = 0;
  for (let g = 0; g < names.length; g++) {
    if (isOther?.[g]) {
      features[g] = -1;
      others++;
      continue;
    }
    const name = names[g].trim() === "" ? (ids?.[g] ?? "").trim() : names[g].trim();
    if (name === "") throw new RanksimError("bad-file", `${file}: expected a name for each gene, gene ${g} has none`);
    const key = geneKey(name);
    let place = places.get(key);
    if (place === undefined) {
      place = own.length;
      places.set(key, place);
      own.push(name);
      numbers.push(ids?.[g] ?? "");
    }
    features[g] = place;
  }
  const joined = names.length - others - own.length;
  const again = joined === 1 ? "1 gene has" : `${joined} genes have`;
  return {
    features,
    names: own,
    ...(ids ? { ids: numbers } : {}),
    notes: [
      ...(others === 0 ? [] : [`${file}: ${others} features that are no genes are left out`]),
      ...(joined === 0 ? [] : [`${file}: ${again} the name of another; their counts are added up`]),
    ],
  };
}

/**
 * The genes of a file that a model knows, in the order of the model. A gene is found by its name, else by its other name. Those that the
 * file lacks take no part, which is said; where too few are found, the file is refused.
 */
export function knownGenes(file: string, { names, ids, isOther }: Genes, { columns = [] }: Schema): GenePlaces {
  const found = new Map<string, number>();
  for (const [j, { name }] of columns.entries()) found.set(geneKey(name), j);
  const byId = new Map<string, number>();
  for (const [j, { id }] of columns.entries()) if (id !== undefined && id !== "") byId.set(geneKey(id), j);
  const ofModel = (name: string | undefined): number | undefined => {
    if (name === undefined || name.trim() === "") return undefined;
    const key = geneKey(name);
    return found.get(key) ?? byId.get(key);
  };
  const model = new Int32Array(names.length).fill(-1);
  const isFound = new Uint8Array(columns.length);
  for (let g = 0; g < names.length; g++) {
    const j = isOther?.[g] ? undefined : (ofModel(names[g]) ?? ofModel(ids?.[g]));
    if (j === undefined) continue;
    model[g] = j;
    isFound[j] = 1;
  }
  const at = Uint32Array.from(isFound.keys()).filter((j) => isFound[j] === 1);
  const share = `${at.length.toLocaleString("en")} of ${columns.length.toLocaleString("en")} genes of the model found`;
  if (at.length < LEAST_SHARE * columns.length || at.length === 0) {
    const some = names.slice(0, 3).map((name) => JSON.stringify(name));
    const known = columns.slice(0, 3).map(({ name }) => JSON.stringify(name));
    throw new RanksimError("wrong-width", {
      file,
      expected: `at least ${100 * LEAST_SHARE} % of the model's ${columns.length} genes (${known.join(", ")}, …)`,
      found: `${at.length} (the file's are ${some.join(", ")}, …)${didYouMean(names[0] ?? "", known)}`,
      cure: () => "genes are found by symbol or Ensembl number; give a file of the same species with one of these",
    });
  }
  const place = new Int32Array(columns.length);
  for (const [c, j] of at.entries()) place[j] = c;
  const isWhole = at.length === columns.length;
  return {
    features: model.map((j) => (j < 0 ? -1 : place[j])),
    names: Array.from(at, (j) => columns[j].name),
    ...(isWhole ? {} : { columns: at }),
    notes: isWhole ? [] : [`${file}: ${share}; the others take no part`],
  };
}

/** Rows that have others of the model's columns are answered by other filters. */
export function refuseOtherColumns(
  parts: readonly { readonly name: string; readonly data: DataSet | undefined }[],
): void {
  const columns = parts.map(({ data }) => String(data?.found?.columns));
  const other = columns.findIndex((own) => own !== columns[0]);
  if (other < 0) return;
  const expected = `the same of the model's columns as in ${parts[0].name}`;
  const cure = () => "give the files one by one";
  throw new RanksimError("wrong-width", { file: parts[other].name, expected, found: "others", cure });
}
