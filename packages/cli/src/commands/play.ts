/** `ranksim play`: serves the playground's page on this machine, opened with a model and with data if they are named. */

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RanksimError } from "@ranksim/core";
import { type Command, Option } from "commander";
import { openData } from "../files/data-argument.ts";
import { addReadingOptions, DATA_ABOUT, type ReadingOptions } from "../flags/reading-flags.ts";
import { wholeNumber } from "../flags/values.ts";
import type { Io } from "../io.ts";
import { modelBytes, readModel } from "../model/store.ts";
import { openBrowser } from "../play/open-browser.ts";
import { pageData } from "../play/page-data.ts";
import { type ServedFile, servePage } from "../play/serve.ts";
import { addCommonOptions, type CommonOptions, Session } from "../session.ts";

interface PlayOptions extends CommonOptions, ReadingOptions {
  readonly port: number;
  readonly open?: boolean;
}

/** Where the build puts the page: beside the commands. */
const PAGE = fileURLToPath(new URL("../playground", import.meta.url));

/** Adds the command. */
export function addPlay(program: Command, io: Io): void {
  const command = program
    .command("play")
    .summary("train, draw and explain in the browser")
    .description(
      "Serves the playground on this machine only, until interrupted: a page that trains in the browser and shows why a model decides as it does.",
    )
    .argument("[model]", "model file to open the page with")
    .argument("[data...]", `rows to look at with the model: ${DATA_ABOUT}`);
  addCommonOptions(addReadingOptions(command, io))
    .addOption(
      new Option("--port <n>", "port to serve on; 0: any free port")
        .argParser((text: string) => wholeNumber(text, 0, 65_535))
        .default(0),
    )
    .addOption(new Option("--open", "open the page in the browser"))
    .action((modelPath: string | undefined, dataNames: string[], options: PlayOptions) =>
      play(modelPath, dataNames, options, io),
    );
}

async function play(
  modelPath: string | undefined,
  dataNames: readonly string[],
  options: PlayOptions,
  io: Io,
): Promise<void> {
  if (!existsSync(join(PAGE, "index.html"))) {
    throw new RanksimError("unsupported", "the page is not part of this build; npm run build:playground makes it");
  }
  const session = new Session(io, options);
  const files = modelPath === undefined ? {} : await filesOf(modelPath, dataNames, options, session);
  const page = await servePage({ folder: PAGE, port: options.port, ...files });
  try {
    await session.print(
      "play",
      { address: page.address },
      () => `${page.address}\n${options.open ? "" : "Open it in a browser; "}Ctrl-C ends it.\n`,
    );
    if (options.open) await openBrowser(page.address, session);
    await new Promise<void>((ended) => {
      if (io.signal.aborted) ended();
      io.signal.addEventListener("abort", () => ended(), { once: true });
    });
  } finally {
    await page.close();
  }
}

/** The bytes of a model file, after the same checks as everywhere, and rows in the form that the page takes. */
async function filesOf(
  modelPath: string,
  dataNames: readonly string[],
  options: PlayOptions,
  session: Session,
): Promise<{ model: ServedFile; data?: ServedFile }> {
  const { model } = await readModel(modelPath, session.io);
  const file = { name: basename(modelPath), bytes: await modelBytes(modelPath, session.io) };
  if (dataNames.length === 0) return { model: file };
  const { set, name } = await openData(dataNames, options, session, { model });
  return { model: file, data: await pageData(model, set, name) };
}
