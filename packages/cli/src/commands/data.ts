/** `ranksim data`: the data sets that can be asked for by name. */

import { RanksimError } from "@ranksim/core";
import {
  type CatalogueEntry,
  catalogue,
  type DownloadProgress,
  didYouMean,
  fetchDataSet,
  findDataSet,
  type Located,
  locateDataSet,
} from "@ranksim/data/node";
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { addCommonOptions, type CommonOptions, Session } from "../session.ts";
import { bytes, count, counted } from "../terminal/numbers.ts";
import { pairs, table } from "../terminal/table.ts";

/** Adds the commands. */
export function addData(program: Command, io: Io): void {
  const data = program
    .command("data")
    .summary("data sets by name: list, fetch, path, info")
    .description(
      "Data sets that every command takes by name. They are looked for in the folders of RANKSIM_DATA, in the user's cache and in Debian's packages, and downloaded only by `ranksim data fetch`.",
    );
  const add = (
    name: string,
    summary: string,
    argument: boolean,
    run: (session: Session, name: string) => Promise<void>,
  ) => {
    const command = data
      .command(name)
      .summary(summary)
      .description(`${summary[0].toUpperCase()}${summary.slice(1)}.`);
    if (argument) command.argument("<name>", "name of a data set, or name:part");
    addCommonOptions(command).action((first: string | CommonOptions, second: CommonOptions) => {
      const options = argument ? second : (first as CommonOptions);
      return run(new Session(io, options), argument ? (first as string) : "");
    });
  };
  add("list", "list all data sets, and say which are here", false, list);
  add(
    "fetch",
    "download a data set that is not here; an interrupted download goes on where it stopped",
    true,
    fetchOne,
  );
  add("path", "print the paths of the files of a data set", true, path);
  add("info", "say what a data set holds, where it comes from, on what terms", true, info);
}

async function list(session: Session): Promise<void> {
  const { env } = session.io;
  const found = await Promise.all(catalogue.map(async (entry) => ({ entry, here: await partsHere(entry, env) })));
  const right = { align: "right" } as const;
  await session.print(
    "data list",
    {
      dataSets: found.map(({ entry, here }) => ({ name: entry.name, title: entry.title, parts: partsOf(entry), here })),
    },
    () =>
      table(
        [
          { head: "name" },
          { head: "rows", ...right },
          { head: "features", ...right },
          { head: "classes", ...right },
          { head: "here" },
          { head: "title" },
        ],
        found.map(({ entry, here }) => [
          session.style.strong(entry.name),
          count(rowsOf(entry)),
          entry.features === undefined ? "text" : count(entry.features),
          count(entry.classes),
          here.length === 0
            ? session.style.faint("no")
            : here.length === Object.keys(entry.parts).length
              ? session.style.good("yes")
              : here.join(", "),
          entry.title,
        ]),
        session.style,
      ),
  );
}

/** Rows of all parts; a part that holds the others counts alone. */
function rowsOf({ parts }: CatalogueEntry): number {
  if (parts.all) return parts.all[0].rows;
  return Object.values(parts).reduce((sum, [source]) => sum + source.rows, 0);
}

const partsOf = ({ parts }: CatalogueEntry): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(parts).map(([part, [source]]) => [part, source.rows]));

async function partsHere(entry: CatalogueEntry, env: Io["env"]): Promise<string[]> {
  const found = await Promise.all(
    Object.keys(entry.parts).map(async (part) =>
      (await locateDataSet(`${entry.name}:${part}`, { env })) ? [part] : [],
    ),
  );
  return found.flat();
}

async function path(session: Session, name: string): Promise<void> {
  const parts = await locatedParts(session, name);
  const missing = parts.filter(({ located }) => located === undefined);
  if (missing.length > 0) {
    const { entry } = known(name);
    throw new RanksimError(
      "bad-file",
      `${missing[0].name} is not on this machine; download it with: ranksim data fetch ${entry.name}`,
    );
  }
  await printPaths(
    "data path",
    session,
    parts.flatMap(({ located }) => (located as Located).paths),
  );
}

async function fetchOne(session: Session, name: string): Promise<void> {
  const { io } = session;
  const paths: string[] = [];
  for (const part of partNames(name)) {
    const located = await session.metered(`fetching ${part}`, (meter) => {
      const onProgress = ({ file, received, total }: DownloadProgress) => {
        const size = total === undefined ? bytes(received) : `${bytes(received)} of ${bytes(total)}`;
        meter.show(total ? Math.min(received / total, 0.999) : 0, `${file} ${size}`);
      };
      return fetchDataSet(part, { env: io.env, signal: io.signal, onProgress });
    });
    paths.push(...located.paths);
  }
  await printPaths("data fetch", session, paths);
}

async function printPaths(
  command: "data path" | "data fetch",
  session: Session,
  all: readonly string[],
): Promise<void> {
  const paths = [...new Set(all)];
  await session.print(command, { paths }, () =>
    paths.length === 0 ? "inside the program: nothing to download\n" : paths.map((file) => `${file}\n`).join(""),
  );
}

/** The choice, or an error that names what there is. */
function known(name: string) {
  const choice = findDataSet(name);
  if (choice) return choice;
  const names = catalogue.map((entry) => entry.name).join(", ");
  throw new RanksimError(
    "bad-params",
    `expected one of ${names}, found ${name}${didYouMean(
      name,
      catalogue.map((entry) => entry.name),
    )}`,
  );
}

/** The part that was named, or all of them. */
function partNames(name: string): string[] {
  const { entry } = known(name);
  return name.includes(":") ? [name] : Object.keys(entry.parts).map((part) => `${entry.name}:${part}`);
}

function locatedParts({ io }: Session, name: string) {
  return Promise.all(
    partNames(name).map(async (part) => ({ name: part, located: await locateDataSet(part, { env: io.env }) })),
  );
}

async function info(session: Session, name: string): Promise<void> {
  const { entry } = known(name);
  const parts = await locatedParts(session, entry.name);
  const { style } = session;
  const value = { ...entry, here: Object.fromEntries(parts.map((part) => [part.name, part.located?.paths ?? null])) };
  await session.print("data info", value, () => {
    const partLines = parts.map(({ name: part, located }) => {
      const [source] = known(part).sources;
      const where = located
        ? located.paths.map((file) => style.faint(file)).join("\n  ") || style.faint("inside the program")
        : "not here";
      return `${part}, ${counted((located?.source ?? source).rows, "row")}\n  ${where}`;
    });
    const size = entry.imageSize ? `, images of ${entry.imageSize.width} × ${entry.imageSize.height}` : "";
    return pairs(
      [
        ["name", style.strong(entry.name)],
        ["title", entry.title],
        ["about", entry.about],
        ["features", entry.features === undefined ? "text" : count(entry.features) + size],
        ["classes", `${count(entry.classes)}${entry.multilabel ? ", several for each row" : ""}`],
        ["class names", entry.classNames?.map((label, c) => `${c} ${label}`).join(", ")],
        ["parts", partLines.join("\n")],
        ["home page", entry.homepage],
        ["licence", entry.licence],
        ["citation", entry.citation],
      ],
      style,
    );
  });
}
