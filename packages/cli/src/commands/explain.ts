/** `ranksim explain`: why a row was given its class. */

import {
  type BankExplanation,
  ConformalModel,
  expandFilter,
  type Label,
  LinearModel,
  type Run,
  schemaOf,
  toDense,
} from "@ranksim/core";
import { type DataSet, type ImageSize, rowCount } from "@ranksim/data";
import {
  classesOf,
  type DecidingPart,
  decidingPart,
  type FilterModel,
  filterClasses,
  inputOf,
  labelNamer,
  modelFor,
  passThrough,
} from "@ranksim/learn";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { blended, cellReader } from "../model/deciding.ts";
import { featureNamer, featureWord } from "../model/feature-names.ts";
import { imageSizeOf, parseImageSize } from "../model/image-size.ts";
import { neighboursOf } from "../model/neighbours.ts";
import { greyOf, patchesOf, type Where, whereFound, wherePictures } from "../model/patch-view.ts";
import { readModel } from "../model/store.ts";
import type { ResultOf } from "../output.ts";
import { pictureOf, shrink } from "../pictures/picture.ts";
import { addCommonOptions, addComputeOptions, type ComputeOptions, Session } from "../session.ts";
import { drawPictures } from "../terminal/draw.ts";
import { counted, short } from "../terminal/numbers.ts";
import { cut, printable } from "../terminal/style.ts";
import { table } from "../terminal/table.ts";
import { explainPlanes } from "./explain-planes.ts";
import { answered, contributionTable, NEIGHBOURS, neighbourTable } from "./explain-text.ts";

type Options = ComputeOptions &
  ReadingOptions & { readonly row: number; readonly top: number; readonly image?: ImageSize | "none" };

/** Longest side of a picture on a terminal, in pixels: with colours, and as characters, which take four times the room. */
const COLOUR_PICTURE = 32;
const CHARACTER_PICTURE = 16;
/** Training rows named per filter. */
const ROWS_NAMED = 5;

/** Row numbers are those of the rows trained on, which are not those of a file of which some were held out. */
const HELD_OUT = "rows of filters are counted among the rows that were trained on; rows held out are not among these";

/** Adds the command. */
export function addExplain(program: Command, io: Io): void {
  const number = (least: number) => (text: string) => wholeNumber(text, least);
  const command = program
    .command("explain")
    .summary("say why a row was given its class")
    .description(
      "Says why a row was given its class: the filters that respond to it most, the training rows they stand for, and the features that decided between the strongest filter and its strongest rival. Of a model that keeps rows (keep-rows) it also names those most like the row. Of a linear model it says which features speak for the class and against it. A model with patches also shows where in the image each of the two was found.",
    )
    .argument("<model>", "model file")
    .argument("<data...>", DATA_ABOUT)
    .addOption(new Option("--row <i>", "the row, from 0").argParser(number(0)).makeOptionMandatory())
    .addOption(new Option("--top <n>", "filters and features shown").argParser(number(1)).default(8))
    .addOption(new Option("--image <WxH>", "rows are images of this size; none: no picture").argParser(parseImageSize));
  addCommonOptions(addComputeOptions(addReadingOptions(command, io))).action(
    async (modelPath: string, dataName: string[], options: Options) => {
      const session = new Session(io, options);
      const { model: stored, kept: whole } = await readModel(modelPath, io, dataName);
      if (!decidingPart(stored))
        throw usageError(`a ${stored.kind} model has neither filters nor planes to explain by`);
      const { set } = await openData(dataName, options, session, { model: stored });
      const model = modelFor(stored, set);
      // Rows that lack columns are like none of those that were kept.
      const kept = model === stored ? whole : undefined;
      const deciding = decidingPart(model) as DecidingPart;
      const one = oneRow(set, options.row);
      const { part } = deciding;
      if (part instanceof LinearModel) {
        await explainPlanes({ model, kept, deciding, part, one, truth: set.y?.[options.row] }, options, session);
        return;
      }
      const size = imageSizeOf(one, part.features, options.image);
      const { found, note, near } = await session.compute("explaining", options, async (run) => {
        const { atFilters } = await passThrough(deciding.model, one, run);
        const strong = await part.explain(atFilters, 0, quiet(run));
        const own = "label" in strong ? (strong.label as Label) : undefined;
        const whole = await blended(model, deciding, one, own, quiet(run));
        const near = await kept?.nearest(inputOf(model, one), NEIGHBOURS, quiet(run));
        return { found: { ...strong, ...(whole ? { label: whole.label } : {}) }, note: whole?.note, near };
      });
      if (note) await session.note(note);
      const patches = patchesOf(model);
      const where = patches && one.form === "matrix" ? whereFound(patches, one.x, 0, found) : undefined;
      const nameOf = featureNamer(deciding, model, one, size);
      const explained: Explained = {
        part,
        found,
        row: options.row,
        truth: set.y?.[options.row],
        nameOf,
        featuresAre: featureWord(model),
        cellOf: cellReader(model, deciding, one),
        labelName: labelNamer(set),
        top: options.top,
        where,
        channels: patches?.shape.channels ?? 1,
        neighbours: near && neighboursOf(near, 0),
      };
      if (schemaOf(model)?.heldOut || model instanceof ConformalModel) await session.note(HELD_OUT);
      await session.print("explain", asJson(explained), () => forPeople(explained, one, size, session));
    },
  );
}

interface Explained {
  readonly part: FilterModel;
  readonly found: BankExplanation & { readonly label?: Label | readonly Label[] };
  readonly row: number;
  readonly truth: Label | readonly Label[] | undefined;
  readonly nameOf: (feature: number) => string;
  /** What the row holds in the column of a feature, where columns are encoded. */
  readonly cellOf: (feature: number) => string | undefined;
  /** What features are: words, columns, or plain features. */
  readonly featuresAre: string;
  readonly labelName: (label: Label) => string;
  readonly top: number;
  /** Where in the image the decision was found, of a model with patches. */
  readonly where: Where | undefined;
  readonly channels: number;
  /** The rows most like it of those that the model keeps. */
  readonly neighbours: ReturnType<typeof neighboursOf> | undefined;
}

/** A data set of one row; refused by name when there is no such row. */
function oneRow(set: DataSet, row: number): DataSet {
  const rows = rowCount(set);
  if (row >= rows) throw usageError(`--row: expected a row from 0 below ${rows}, found ${row}`);
  if (set.form === "table") return { ...set, table: set.table.slice(row, row + 1) };
  return set.form === "text" ? { ...set, text: [set.text[row]] } : { ...set, x: set.x.slice(row, row + 1) };
}

/** Without progress: one row is done at once. */
const quiet = ({ backend, signal }: Run): Run => ({ ...(backend ? { backend } : {}), ...(signal ? { signal } : {}) });

function asJson({ found, row, truth, nameOf, part, top, where, neighbours }: Explained): ResultOf<"explain"> {
  const label = labelsOf(part);
  return {
    row,
    ...(truth === undefined ? {} : { truth }),
    ...(found.label === undefined ? {} : { label: found.label }),
    filters: found.filters.map(({ filter, response, similarity, rows }) => ({
      filter,
      ...(label ? { label: label(filter) } : {}),
      response,
      similarity,
      rows: Array.from(rows),
    })),
    ...(found.rival === undefined
      ? {}
      : { rival: { filter: found.rival, ...(label ? { label: label(found.rival) } : {}) } }),
    contributions: found.contributions
      .slice(0, Math.max(top, 100))
      .map(({ feature, value, contribution }) => ({ feature, name: nameOf(feature), value, contribution })),
    ...(where ? { where: { width: where.width, height: where.height, values: Array.from(where.values) } } : {}),
    ...(neighbours ? { neighbours } : {}),
  };
}

function labelsOf(part: FilterModel): ((filter: number) => Label) | undefined {
  const of = filterClasses(part);
  const classes = classesOf(part);
  return of && ((filter) => classes[of[filter]]);
}

function forPeople(explained: Explained, one: DataSet, size: ImageSize | undefined, session: Session): string {
  const { found, row, truth, part, top, labelName } = explained;
  const label = labelsOf(part);
  const rival = found.rival === undefined || !label ? undefined : label(found.rival);
  const parts = [answered({ row, one, truth, label: found.label, rival, labelName }, session)];
  if (size) parts.push(pictures(explained, one, size, session));
  if (explained.where) parts.push(maps(explained, one, explained.where, session));
  parts.push(filterTable(explained, session));
  if (explained.neighbours) parts.push(neighbourTable(explained.neighbours, labelName, session));
  // A pixel's number says little; what pixels say together is in the pictures.
  if (!size && found.contributions.length > 0) {
    parts.push(contributionTable({ ...explained, contributions: found.contributions }, top, session));
  }
  return parts.join("\n");
}

function pictures(
  { found, part, row, top, labelName }: Explained,
  one: DataSet,
  size: ImageSize,
  { io, style }: Session,
): string {
  const label = labelsOf(part);
  const weights = new Float64Array(part.bank.features);
  const side = io.stdout.colourDepth >= 8 ? COLOUR_PICTURE : CHARACTER_PICTURE;
  const draw = (values: ArrayLike<number>) => shrink(pictureOf(values, size.width, size.height), side);
  const shown = found.filters.slice(0, top).map(({ filter, similarity }) => {
    expandFilter(part.bank, filter, weights);
    const name = label ? printable(labelName(label(filter))) : `filter ${filter}`;
    return { picture: draw(weights), caption: `${similarity.toFixed(2)} ${name}` };
  });
  const given = one.form === "matrix" ? [{ picture: draw(toDense(one.x).values), caption: `row ${row}` }] : [];
  return drawPictures([...given, ...shown], io.stdout, style);
}

/** The image, and where in it the class it was given and its rival were found. */
function maps(
  { found, part, row, labelName, channels }: Explained,
  one: DataSet,
  where: Where,
  { io, style }: Session,
): string {
  const label = labelsOf(part);
  const side = io.stdout.colourDepth >= 8 ? COLOUR_PICTURE : CHARACTER_PICTURE;
  const name = (filter: number) => (label ? printable(labelName(label(filter))) : `filter ${filter}`);
  // The strongest filter of a committee may be of another class than the one it gave.
  const chosen = label ? printable(labelName(found.label as Label)) : name(found.filters[0].filter);
  const { given, rival } = wherePictures(where);
  const image = one.form === "matrix" ? greyOf(toDense(one.x).values, channels) : [];
  return drawPictures(
    [
      { picture: shrink(pictureOf(image, where.width, where.height), side), caption: `row ${row}` },
      { picture: shrink(given, side), caption: `where ${chosen}` },
      { picture: shrink(rival, side), caption: `where ${name(found.rival as number)}` },
    ],
    io.stdout,
    style,
  );
}

function filterTable({ found, part, top, labelName }: Explained, { style }: Session): string {
  const label = labelsOf(part);
  const right = { align: "right" } as const;
  const shown = found.filters.slice(0, top);
  const text = table(
    [
      { head: "filter", ...right },
      ...(label ? [{ head: "class" }] : []),
      { head: "similarity", ...right },
      { head: "response", ...right },
      { head: "made from training rows" },
    ],
    shown.map(({ filter, similarity, response, rows }) => [
      String(filter),
      ...(label ? [cut(printable(labelName(label(filter))), 30)] : []),
      style.good(similarity.toFixed(3)),
      short(response),
      `${counted(rows.length, "row")}${rows.length > 0 ? style.faint(`: ${rows.slice(0, ROWS_NAMED).join(", ")}${rows.length > ROWS_NAMED ? ", …" : ""}`) : ""}`,
    ]),
    style,
  );
  return shown.length === found.filters.length
    ? text
    : `${text}${style.faint(`… ${found.filters.length - shown.length} more with --top`)}\n`;
}
