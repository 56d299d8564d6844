/** Filters and rows in a form that can be seen: pictures where features are pixels, words where they have names. */

import {
  type BankExplanation,
  compareLabels,
  expandFilter,
  FilterWords,
  type Label,
  type Matrix,
  type Model,
  type PatchModel,
  type Run,
  toDense,
  type Word,
} from "@ranksim/core";
import type { DataSet, ImageSize } from "@ranksim/data";
import { labelNamer } from "../files/labels.ts";
import { featureNamer, hasTellingFeatures } from "../model/feature-names.ts";
import { classesOf, type FilterModel, filterClasses } from "../model/parts.ts";
import type { Passage } from "../model/passage.ts";
import { greyOf, patchesOf, whereFound, wherePictures } from "../model/patch-view.ts";
import { pictureOf, shrink } from "../pictures/picture.ts";
import type { ClassFilters, Curve, FilterView, Look, RowView } from "./content.ts";

/** Filters shown per class, and in all: what keeps a page of many classes small. */
const FILTERS_PER_CLASS = 10;
const FILTERS_IN_ALL = 400;
/** Filters shown per class where they are words, which take more room. */
const WORDED_FILTERS = 5;
/** Filters of a model without classes. */
const FILTERS_OF_TRANSFORM = 48;
/** Words per filter, per class, and per decision. */
const FILTER_WORDS = 8;
const CLASS_WORDS = 16;
const DECISION_WORDS = 12;
/** Longest side of a picture in pixels; larger ones are averaged down. */
const LARGEST_PICTURE = 64;
/** Characters of a text that are shown. */
const TEXT_SHOWN = 360;

/** What is known of a row's answer. */
interface RowAnswer {
  readonly truth: Label | readonly Label[] | undefined;
  readonly predicted: Label | readonly Label[] | undefined;
  readonly probabilities: ArrayLike<number> | undefined;
  readonly classes: readonly Label[];
}

/** The filters of one model and the rows of one data set, ready to be shown. */
export class FilterGallery {
  readonly #part: FilterModel;
  readonly #data: DataSet;
  readonly #size: ImageSize | undefined;
  readonly #classOf: Uint32Array | undefined;
  readonly #classes: readonly Label[];
  readonly #nameOf: (feature: number) => string;
  readonly #labelName: (label: Label) => string;
  /** Whether filters can be shown at all: as pictures, or as words that mean something. */
  readonly #isTelling: boolean;
  /** What images go through before the filters see them. */
  readonly #patches: PatchModel | undefined;
  #words: FilterWords | undefined;

  constructor(part: FilterModel, model: Model, data: DataSet, size: ImageSize | undefined) {
    this.#part = part;
    this.#data = data;
    this.#size = size;
    this.#classOf = filterClasses(part);
    this.#classes = classesOf(part);
    this.#nameOf = featureNamer(model, data);
    this.#labelName = labelNamer(data);
    this.#patches = patchesOf(model);
    // Filters of pooled patches are neither pictures nor words; the map of a row shows what they found.
    this.#isTelling = size !== undefined || (!this.#patches && hasTellingFeatures(model, data));
  }

  /** The training of each bank. */
  curves(): Curve[] {
    return this.#part.report.trainings.map(({ label, rows, filters, converged, steps }) => ({
      label: label === undefined ? undefined : this.#labelName(label),
      rows,
      filters,
      converged,
      steps,
    }));
  }

  /** How many filters each class has. */
  filtersOf(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const c of this.#classOf ?? []) {
      const name = this.#labelName(this.#classes[c]);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /** The filters worth showing, class by class; none where neither pictures nor words would tell anything. */
  classes(): ClassFilters[] {
    if (!this.#isTelling) return [];
    const { filters } = this.#part.bank;
    const groups: { label: string | undefined; filters: number[] }[] =
      this.#classOf === undefined
        ? [{ label: undefined, filters: [] }]
        : this.#classes.map((label) => ({ label: this.#labelName(label), filters: [] }));
    for (let f = 0; f < filters; f++) groups[this.#classOf?.[f] ?? 0].filters.push(f);
    const most =
      this.#classOf === undefined
        ? FILTERS_OF_TRANSFORM
        : Math.max(
            1,
            Math.min(this.#size ? FILTERS_PER_CLASS : WORDED_FILTERS, Math.floor(FILTERS_IN_ALL / groups.length)),
          );
    return groups.filter((group) => group.filters.length > 0).map((group) => this.#class(group, most));
  }

  #class(group: { label: string | undefined; filters: number[] }, most: number): ClassFilters {
    const rowsOf = new Map(group.filters.map((f) => [f, this.#part.filterRows(f).length]));
    const order = group.filters.toSorted((a, b) => rowsOf.get(b)! - rowsOf.get(a)! || a - b);
    const rows = [...rowsOf.values()].reduce((sum, n) => sum + n, 0);
    const share = (f: number) => (rows === 0 ? 1 / group.filters.length : rowsOf.get(f)! / rows);
    return {
      label: group.label,
      filters: group.filters.length,
      shown: order.slice(0, most).map((f) => this.filter(f)),
      words:
        this.#size || group.label === undefined
          ? []
          : this.#filterWords().ofFilters(Uint32Array.from(group.filters), share, CLASS_WORDS),
    };
  }

  /** One filter. */
  filter(filter: number): FilterView {
    return {
      filter,
      label: this.#classOf === undefined ? undefined : this.#labelName(this.#classes[this.#classOf[filter]]),
      rows: this.#part.filterRows(filter).length,
      look: this.#filterLook(filter),
    };
  }

  /** One row of the data with its strongest filters. */
  async row(passage: Passage, row: number, most: number, run: Run, answer: RowAnswer): Promise<RowView> {
    const quiet = run.backend ? { backend: run.backend, ...(run.signal ? { signal: run.signal } : {}) } : {};
    const found: BankExplanation = await this.#part.explain(passage.atFilters, row, quiet);
    const { truth, predicted, probabilities, classes } = answer;
    const probabilityOf = (label: Label | readonly Label[] | undefined) => {
      const c = label === undefined || typeof label === "object" ? -1 : classes.indexOf(label);
      return c < 0 ? undefined : probabilities?.[c];
    };
    return {
      row,
      name: this.#data.rowNames?.[row],
      look: this.#rowLook(row),
      truth: this.#shown(truth),
      predicted: this.#shown(predicted),
      right: truth === undefined || predicted === undefined ? undefined : this.#shown(truth) === this.#shown(predicted),
      probability: probabilityOf(predicted),
      probabilityOfTruth: probabilityOf(truth),
      strongest: found.filters.slice(0, most).map(({ filter, similarity, response }) => ({
        ...this.filter(filter),
        similarity,
        response,
        fits: this.#fits(filter, truth),
      })),
      contributions: this.#size || !this.#isTelling ? [] : this.#contributions(found),
      ...this.#where(row, found),
    };
  }

  /** Where the class that the row was given and its rival were found. */
  #where(row: number, found: BankExplanation & { readonly label?: unknown }): Pick<RowView, "where"> {
    const { x } = this.#data as { x: Matrix };
    const map = this.#patches && this.#classOf && whereFound(this.#patches, x, row, found);
    if (!map || found.rival === undefined) return {};
    const { given, rival } = wherePictures(map);
    return {
      where: [
        { label: this.#labelName(found.label as Label), picture: shrink(given, LARGEST_PICTURE) },
        { label: this.filter(found.rival).label as string, picture: shrink(rival, LARGEST_PICTURE) },
      ],
    };
  }

  #fits(filter: number, truth: Label | readonly Label[] | undefined): boolean | undefined {
    if (truth === undefined || this.#classOf === undefined) return undefined;
    return [truth].flat().includes(this.#classes[this.#classOf[filter]]);
  }

  #filterLook(filter: number): Look {
    if (!this.#isTelling) return { form: "words", words: [] };
    if (!this.#size) return { form: "words", words: this.#filterWords().ofFilter(filter, FILTER_WORDS) };
    const weights = new Float64Array(this.#part.bank.features);
    expandFilter(this.#part.bank, filter, weights);
    return this.#picture(weights, this.#size);
  }

  #rowLook(row: number): Look {
    const data = this.#data;
    if (data.form === "text") {
      const text = data.text[row].replace(/\s+/g, " ").trim();
      if (text === "") return { form: "text", text: "(no text)" };
      return { form: "text", text: text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN)}…` : text };
    }
    if (data.form === "table") {
      const cells = data.table.columns.map(({ name }, c) => `${name} ${data.table.cell(c, row) ?? "missing"}`);
      return { form: "text", text: cells.join(", ") };
    }
    const { values } = toDense(data.x.slice(row, row + 1));
    if (this.#patches) return this.#picture(greyOf(values, this.#patches.shape.channels), this.#patches.shape);
    return this.#size ? this.#picture(values, this.#size) : { form: "words", words: [] };
  }

  #picture(values: ArrayLike<number>, { width, height }: ImageSize): Look {
    return { form: "picture", picture: shrink(pictureOf(values, width, height), LARGEST_PICTURE) };
  }

  #contributions({ contributions }: BankExplanation): Word[] {
    return contributions.slice(0, DECISION_WORDS).map(({ feature, contribution }) => ({
      text: this.#nameOf(feature),
      weight: contribution,
    }));
  }

  #filterWords(): FilterWords {
    this.#words ??= new FilterWords(this.#part.bank, this.#nameOf);
    return this.#words;
  }

  /** A label, or a set of them in order. */
  #shown(label: Label | readonly Label[] | undefined): string | undefined {
    if (label === undefined) return undefined;
    if (typeof label !== "object") return this.#labelName(label);
    return label.length === 0 ? "no label" : [...label].sort(compareLabels).map(this.#labelName).join(", ");
  }
}
