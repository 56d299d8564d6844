/** Filters and rows in a form that can be seen: pictures where features are pixels, words where they have names. */

import {
  type BankExplanation,
  expandFilter,
  type Label,
  type Matrix,
  type Model,
  type PatchModel,
  type Run,
} from "@ranksim/core";
import type { DataSet, ImageSize } from "@ranksim/data";
import { classesOf, type FilterModel, FilterWords, filterClasses, labelNamer, type Passage } from "@ranksim/learn";
import { featureNamer, hasTellingFeatures } from "../model/feature-names.ts";
import { patchesOf, whereFound, wherePictures } from "../model/patch-view.ts";
import { shrink } from "../pictures/picture.ts";
import { AnsweredRows, DECISION_WORDS, LARGEST_PICTURE, pictureLook, type RowAnswer } from "./answered-rows.ts";
import type { ClassFilters, Curve, FilterView, Look, RowView } from "./content.ts";

/** Filters shown per class, and in all: what keeps a page of many classes small. */
const FILTERS_PER_CLASS = 10;
const FILTERS_IN_ALL = 400;
/** Filters shown per class where they are words, which take more room. */
const WORDED_FILTERS = 5;
/** Filters of a model without classes. */
const FILTERS_OF_TRANSFORM = 48;
/** Words per filter, and per class. */
const FILTER_WORDS = 8;
const CLASS_WORDS = 16;

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
  readonly #rows: AnsweredRows;
  #words: FilterWords | undefined;

  constructor(
    { part, step }: { readonly part: FilterModel; readonly step: number },
    model: Model,
    data: DataSet,
    size: ImageSize | undefined,
  ) {
    const placed = { model, part, step };
    this.#part = part;
    this.#data = data;
    this.#size = size;
    this.#classOf = filterClasses(part);
    this.#classes = classesOf(part);
    this.#nameOf = featureNamer(placed, model, data);
    this.#labelName = labelNamer(data);
    this.#patches = patchesOf(model);
    this.#rows = new AnsweredRows(data, size, this.#patches);
    // Filters of pooled patches are neither pictures nor words; the map of a row shows what they found.
    this.#isTelling = size !== undefined || (!this.#patches && hasTellingFeatures(placed, model, data));
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
    return {
      ...this.#rows.row(row, answer),
      strongest: found.filters.slice(0, most).map(({ filter, similarity, response }) => ({
        ...this.filter(filter),
        similarity,
        response,
        fits: this.#fits(filter, answer.truth),
      })),
      contributions:
        this.#size || !this.#isTelling
          ? []
          : found.contributions
              .slice(0, DECISION_WORDS)
              .map(({ feature, contribution }) => ({ text: this.#nameOf(feature), weight: contribution })),
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
    return pictureLook(weights, this.#size);
  }

  #filterWords(): FilterWords {
    this.#words ??= new FilterWords(this.#part.bank, this.#nameOf);
    return this.#words;
  }
}
