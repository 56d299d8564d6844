/**
 * Labels of a file that is read in blocks. They stay as they are written until the last block, because whether they are numbers depends
 * on all of them: "01" is the number 1 among numbers, and itself where a later row has a word.
 */

import type { Label } from "@ranksim/core";
import type { RowLabels } from "../data-set.ts";
import { joinLabels } from "../join.ts";
import { typedLabels } from "./dense-builder.ts";

/** The option of readers that read blocks of one file. */
export interface InBlocks {
  readonly labelBlocks?: LabelBlocks;
}

/** Takes in the labels of one file. */
export class LabelBlocks {
  /** Set by a reader that leaves labels as they are written; formats with types of their own do not. */
  areAsWritten = false;
  readonly #blocks: RowLabels[] = [];
  /** One string for all labels of the same spelling. */
  readonly #spellings = new Map<Label, Label>();

  add(y: RowLabels | undefined): void {
    if (y) this.#blocks.push(y.map((label) => (typeof label === "object" ? label : this.#shared(label))) as RowLabels);
  }

  /** The labels; undefined where no block had any. */
  finish(): RowLabels | undefined {
    if (this.#blocks.length === 0) return undefined;
    return this.areAsWritten ? typedLabels(this.#blocks.flat(1) as RowLabels) : joinLabels(this.#blocks);
  }

  #shared(label: Label): Label {
    const known = this.#spellings.get(label);
    if (known === undefined) this.#spellings.set(label, label);
    return known ?? label;
  }
}
