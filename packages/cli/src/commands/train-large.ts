/** `ranksim train` on data that does not fit in memory: it is read in blocks, once a round, and the model is the same file. */

import { type Model, withSchema } from "@ranksim/core";
import { type AnySource, describeSource, hashedInPassing } from "@ranksim/data";
import { agree, labelsDigest, sampleDigest } from "../agreement.ts";
import { type CheckpointFlags, checkpointFor, factsOf } from "../flags/checkpoint-flags.ts";
import { presetOf, presetRecipe } from "../flags/preset-flags.ts";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import type { TableOptions } from "../flags/table-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { dataNotes } from "../model/data-notes.ts";
import { rowWeights } from "../model/hold-out.ts";
import { type FilterModel, filterPart } from "../model/parts.ts";
import { columnsOf, type Recipe, suitedSource, tableAbout } from "../model/recipe.ts";
import { writeModel } from "../model/store.ts";
import type { ComputeOptions, Session } from "../session.ts";
import { dividedSource, type HeldOutOptions, heldOutText, judgeSource, storedScores } from "./held-out-scores.ts";
import { showTrained, trainedAsJson } from "./show-trained.ts";

/** What is to be trained, and where it goes. */
interface Plan {
  readonly dataName: readonly string[];
  readonly recipe: Recipe;
  readonly notes: readonly string[];
  readonly reading: ReadingOptions;
  readonly path: string | undefined;
}

type Options = ComputeOptions &
  ReadingOptions &
  CheckpointFlags &
  HeldOutOptions &
  TableOptions & { readonly rows?: boolean; readonly trace?: boolean; readonly [name: string]: unknown };

/** What looks at all rows at once. */
const IN_MEMORY = {
  sets: "--sets",
  dryRun: "--dry-run",
  card: "--card",
  baselines: "--baselines",
} as const;

/** Trains and writes the model. */
export async function trainLarge(
  given: AnySource,
  { dataName, recipe: planned, notes, reading, path }: Plan,
  options: Options,
  session: Session,
): Promise<void> {
  refuseWhole(options);
  const { io } = session;
  const byHand = await suitedSource(planned, given, options, io.env.RANKSIM_SCRATCH);
  const preset = presetOf(options);
  for (const note of [...notes, ...dataNotes(byHand.data, options)]) await session.note(note);
  const { train: data, test, rows } = await dividedSource(dataName, byHand.data, options, session);
  const weights = await rowWeights(dataName, options, session, byHand.data.x.rows, rows);
  const byPreset = preset && byHand.recipe.takes !== "table" && (await presetRecipe(preset, data, options, io.cwd));
  const recipe = byPreset || byHand.recipe;
  const { estimator } = recipe;
  const keepsRows = options.rows !== false;
  const describe = (known?: Uint32Array) =>
    describeSource(data, { options: readOptions(reading), rows: keepsRows, ...columnsOf(recipe) }, known);
  // A checkpoint has to know the data before training begins. Else rows of numbers are hashed as they pass by.
  const isPassing = options.checkpoint === undefined && data.form === "source";
  const before = isPassing ? undefined : await describe();
  const passing = isPassing ? hashedInPassing(data.x) : undefined;
  const fitted = await session.compute("training", options, async (run) => {
    if (run.collective) {
      const sample = isPassing
        ? { "some rows": await sampleDigest(data.x), "labels digest": labelsDigest(data.y) }
        : {};
      await agree(run.collective, { ...factsOf(estimator, before ?? {}, weights), ...sample, reading: "in blocks" });
    }
    const kept = before && (await checkpointFor(options, estimator, before, io, run.collective, weights));
    const { fit } = estimator as { fit(x: unknown, y: unknown, run: object): Promise<Model> };
    const model = await fit.call(estimator, passing?.x ?? data.x, data.y, {
      ...run,
      ...kept,
      ...(weights ? { weights } : {}),
    });
    await kept?.checkpoint?.settled?.();
    return model;
  });
  const described = before ?? (await describe(await passing?.hashes()));
  await agree(await io.processes?.join(), factsOf(estimator, described, weights));
  const heldOut = test && (await judgeSource(fitted, test, options, session));
  const chosen = byPreset ? { recipe: { preset: byPreset.preset, about: byPreset.about } } : {};
  const said = chosen.recipe ?? tableAbout(recipe, data, preset, options.preset !== undefined);
  const model = withSchema(fitted, {
    ...described,
    ...(heldOut ? { heldOut: storedScores(heldOut) } : {}),
    ...chosen,
  });
  const stored = await writeModel(model, path as string, io, { rows: keepsRows });
  const part = filterPart(model)?.part as FilterModel;
  for (const note of [...part.report.notes, ...(part.report.fallbacks ?? [])]) await session.note(note);
  if (path === "-") return;
  await session.print(
    "train",
    { ...trainedAsJson(stored, part, options), ...(heldOut ? { heldOut } : {}), ...(said ? { recipe: said } : {}) },
    () =>
      showTrained(
        stored,
        part,
        path as string,
        said,
        recipe.takes === "table" ? recipe.columns : undefined,
        session.style,
      ) + heldOutText(heldOut, session.style),
  );
}

function refuseWhole(options: Options): void {
  const cure = "the data does not fit in the memory it may take; raise --memory where there is more";
  const given = Object.entries(IN_MEMORY).find(([name]) => options[name] !== undefined && options[name] !== false);
  if (given) throw usageError(`${given[1]} needs all rows at once: ${cure}`);
}
