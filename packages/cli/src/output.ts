/**
 * What --json prints, a type for each command: `Session.print` takes no other value, and the build makes output.schema.json
 * of them. A field that is not named here is refused by the schema.
 */

import type { ErrorCode, Label } from "@ranksim/core";
import type { CatalogueEntry } from "@ranksim/data/node";
import type { Baseline } from "@ranksim/learn";
import type { DataSummary } from "./model/data-summary.ts";
import type {
  Count,
  Digest,
  HeldOutScores,
  Intervals,
  Majority,
  PrecisionRecall,
  Reliability,
  Share,
  TrainingReport,
} from "./output-parts.ts";
import type { TuningView } from "./report/tuning-content.ts";

/** The version of what --json prints. */
export const OUTPUT_SCHEMA = 1;

/**
 * Results go to standard output, one object a command, told apart by `command`; errors go to standard error, one object on a
 * line.
 */
export type Output = Failure | CommandOutput;

type CommandOutput =
  | Trained
  | DryRun
  | Update
  | Evaluate
  | Explain
  | ReportPage
  | Predict
  | Transform
  | Nearest
  | KeepRows
  | MapPage
  | Inspect
  | Doctor
  | Tune
  | CrossValidate
  | DataList
  | DataInfo
  | DataPath
  | DataFetch
  | Play
  | Demo
  | Export
  | Spikes
  | Serve;

/** Commands by the names that their results carry. */
export type CommandName = CommandOutput["command"];

/** What a command prints besides what all commands do. */
export type ResultOf<Name extends CommandName> = WithoutCommon<Extract<CommandOutput, Result<Name>>>;

/** What `train` prints of a model. */
export type TrainedResult = WithoutCommon<Trained>;

type WithoutCommon<Printed> = Printed extends unknown ? Omit<Printed, keyof Result<CommandName>> : never;

interface Result<Name extends string> {
  readonly schema: typeof OUTPUT_SCHEMA;
  readonly command: Name;
  readonly notes: readonly string[];
}

interface Summary {
  readonly mean: number;
  readonly standardDeviation: number;
}

interface Chosen {
  readonly preset: "paper" | "fast" | "balanced" | "best";
  readonly about: string;
  readonly tried?: readonly Tried[];
}

/** A recipe that was tried. */
interface Tried {
  readonly name: string;
  readonly reason?: string;
  readonly rows?: Count;
  readonly logLoss?: number;
  readonly accuracy?: Share;
  readonly multiplyAdds?: Count;
  readonly weight?: Share;
}

interface Figures {
  readonly accuracy: Share;
  readonly cpuSeconds: number;
  readonly byteLength: Count;
  readonly filters?: Count;
  readonly digest?: Digest;
  readonly trainingSeconds?: number | undefined;
}

interface Failure {
  readonly schema: typeof OUTPUT_SCHEMA;
  readonly error: {
    readonly code: ErrorCode | "usage" | "memory" | "system" | "internal";
    readonly message: string;
  };
}

interface Trained extends Result<"train"> {
  readonly kind: string;
  readonly byteLength: Count;
  readonly digest: Digest;
  /** Of a model with filters. */
  readonly report?: TrainingReport;
  readonly classes?: readonly Label[];
  readonly heldOut?: HeldOutScores;
  readonly recipe?: Chosen;
}

/** Of `train --dry-run`. */
interface DryRun extends Result<"train">, DataSummary {
  readonly dryRun: true;
}

interface Update extends Result<"update"> {
  readonly kind: string;
  readonly byteLength: Count;
  readonly digest: Digest;
  readonly rowsAdded: Count;
  readonly newClasses: readonly Label[];
  readonly report: TrainingReport;
}

interface Evaluate extends Result<"evaluate"> {
  readonly rows: Count;
  readonly accuracy: Share;
  readonly macro: PrecisionRecall;
  readonly micro: PrecisionRecall;
  readonly weighted: PrecisionRecall;
  readonly classes: readonly {
    readonly label: Label;
    readonly precision: Share;
    readonly recall: Share;
    readonly f1: Share;
    readonly support: Count;
  }[];
  readonly balancedAccuracy?: Share;
  readonly majority?: Majority;
  readonly logLoss?: number;
  readonly hammingLoss?: Share;
  readonly sets?: {
    readonly coverage: number;
    readonly held: Share;
    readonly meanSize: number;
  };
  readonly reliability?: Reliability;
  readonly confusion?: {
    readonly classes: readonly Label[];
    readonly counts: readonly (readonly Count[])[];
  };
  readonly intervals?: Intervals;
  readonly baselines?: readonly Baseline[];
}

interface Explain extends Result<"explain"> {
  readonly row: Count;
  readonly filters: readonly {
    readonly filter: Count;
    readonly response: number;
    readonly similarity: Share;
    readonly rows: readonly Count[];
    readonly label?: Label;
  }[];
  /** Of a model with patches: what each pixel contributed, above 0 for the strongest filter, below 0 for its rival. */
  readonly where?: {
    readonly width: Count;
    readonly height: Count;
    readonly values: readonly number[];
  };
  readonly contributions: readonly {
    readonly feature: Count;
    readonly name: string;
    readonly value: number;
    readonly contribution: number;
  }[];
  readonly truth?: Label | readonly Label[];
  readonly label?: Label | readonly Label[];
  /** Of a linear model, which has no filters: the largest distance from the plane of a class first. */
  readonly classes?: readonly {
    readonly label: Label;
    readonly distance: number;
    readonly probability: Share;
  }[];
  readonly rival?: {
    readonly filter?: Count;
    readonly label?: Label;
  };
  /** Of a model that keeps rows: those most like the row, most alike first. */
  readonly neighbours?: readonly Neighbour[];
}

interface ReportPage extends Result<"report"> {
  readonly out: string;
  readonly byteLength: Count;
  readonly accuracy?: Share;
  readonly macroF1?: Share;
}

interface Predict extends Result<"predict"> {
  readonly labels: readonly (Label | readonly Label[] | null)[];
  readonly sets?: readonly (readonly Label[])[];
  readonly classes?: readonly Label[];
  readonly probabilities?: readonly (readonly Share[])[];
  readonly keptNames?: readonly string[];
  readonly kept?: readonly (readonly string[])[];
}

interface Transform extends Result<"transform"> {
  readonly rows: Count;
  readonly features: Count;
  readonly entries: Count;
  readonly out: string;
}

interface Neighbour {
  readonly row: Count;
  readonly similarity: number;
  readonly label?: Label | readonly Label[];
}

interface Nearest extends Result<"nearest"> {
  readonly k: Count;
  /** For each row the rows most like it, most alike first. */
  readonly neighbours: readonly (readonly Neighbour[])[];
}

interface KeepRows extends Result<"keep-rows"> {
  readonly model: string;
  readonly rows: Count;
  readonly byteLength: Count;
}

interface MapPage extends Result<"map"> {
  readonly out: string;
  readonly rows: Count;
  readonly byteLength: Count;
}

interface Inspect extends Result<"inspect"> {
  readonly kind: string;
  readonly byteLength: Count;
  readonly digest: Digest;
  /** The rows that the file keeps beside the model. */
  readonly kept?: { readonly rows: Count; readonly similarity: string };
  readonly steps: readonly {
    readonly kind: string;
    readonly params?: object;
    readonly features?: Count;
    readonly filters?: Count;
    readonly weights?: string;
    readonly form?: string;
    readonly classes?: readonly {
      readonly label: Label;
      readonly filters?: Count;
      /** Of planes: the features that weigh most for the class or against it. */
      readonly strongest?: readonly {
        readonly feature: Count;
        readonly name: string;
        readonly weight: number;
      }[];
    }[];
    readonly report?: TrainingReport;
  }[];
  /** What the model knows of its data: the schema of FORMAT.md. */
  readonly data?: object;
}

interface Doctor extends Result<"doctor"> {
  readonly machine: {
    readonly processor: string;
    readonly cores: Count;
    readonly memory: Count;
    readonly system: string;
    readonly node: string;
  };
  readonly backends: readonly {
    readonly name: string;
    readonly refused?: string;
    readonly threads?: Count;
    readonly rate?: number;
    readonly device?: object;
  }[];
}

interface Tune extends Result<"tune">, TuningView {}

interface CrossValidate extends Result<"cross-validate"> {
  readonly folds: readonly {
    readonly accuracy: Share;
    readonly macroF1: Share;
    readonly fitSeconds: number;
    readonly scoreSeconds: number;
  }[];
  readonly accuracy: Summary;
  readonly macroF1: Summary;
}

interface DataList extends Result<"data list"> {
  readonly dataSets: readonly {
    readonly name: string;
    readonly title: string;
    readonly parts: { readonly [part: string]: Count };
    readonly here: readonly string[];
  }[];
}

interface DataInfo extends Result<"data info">, CatalogueEntry {
  /** Files by the names of parts; null where a part is not on this machine. */
  readonly here: { readonly [part: string]: readonly string[] | null };
}

interface DataPath extends Result<"data path"> {
  readonly paths: readonly string[];
}

interface DataFetch extends Result<"data fetch"> {
  readonly paths: readonly string[];
}

interface Play extends Result<"play"> {
  readonly address: string;
}

interface Demo extends Result<"demo"> {
  readonly rows: {
    readonly train: Count;
    readonly test: Count;
  };
  readonly rankSimilarity: Figures;
  readonly recipe: Chosen;
  readonly plain: Figures;
  readonly nearestNeighbour: Figures;
  readonly model: string;
  readonly report: string;
  readonly table: string;
}

interface Export extends Result<"export"> {
  readonly to: "onnx" | "c" | "nir";
  readonly out: string;
  readonly bytes: Count;
  readonly bits?: 8 | 16;
  readonly isExact?: boolean;
  readonly flashBytes?: Count;
  readonly ramBytes?: Count;
  readonly check?: {
    readonly rows: Count;
    readonly right: Count;
    readonly rightIn8Bits: Count;
    readonly changed: Count;
    readonly bits: 8 | 16;
  };
}

interface Spikes extends Result<"spikes"> {
  readonly out: string;
  readonly byteLength: Count;
  readonly rows: Count;
  readonly curve: readonly {
    readonly spikeShare: number;
    readonly accuracy: number;
  }[];
  readonly spikes: Count;
  readonly spikesNeeded: Count;
  readonly synapticEvents: Count;
  /** Spikes and events of the layer of windows, of a model with patches. */
  readonly firstLayer?: {
    readonly spikes: Count;
    readonly synapticEvents: Count;
  };
  readonly synapticEventsNeeded: Count;
}

interface Serve extends Result<"serve"> {
  readonly address: string;
  readonly models: readonly string[];
}
