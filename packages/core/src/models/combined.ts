/** What models have in common that answer by whole models of their own. */

import { refuseJson } from "../errors.ts";
import type { Dense } from "../matrix/dense.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { Saved } from "../model-file/saved.ts";
import type { Classifier, Explanation, Ranked, Run, SureOptions } from "./estimator.ts";
import { schemaOf } from "./schema.ts";

export abstract class CombinedModel<X> implements Classifier<Label, X> {
  abstract readonly kind: string;
  abstract readonly classes: readonly Label[];
  abstract predict(x: X, options: Run & SureOptions): Promise<(Label | null)[]>;
  abstract predict(x: X, run?: Run): Promise<Label[]>;
  abstract predictProbabilities(x: X, run?: Run): Promise<Dense>;
  abstract score(x: X, y: Labels | LabelSets, run?: Run): Promise<number>;
  abstract save(): Saved;

  async predictTop(x: X, k: number, run?: Run): Promise<Ranked[][]> {
    return (await import("./asked.ts")).topAnswers(this, x, k, run);
  }

  /** Why one row gets its class, as the model says that counts most. */
  async explain(x: X, row = 0, run?: Run): Promise<Explanation> {
    return (await import("./asked.ts")).explainAnswer(this, schemaOf(this), x, row, run) as Promise<Explanation>;
  }

  toJSON(): never {
    return refuseJson();
  }
}
