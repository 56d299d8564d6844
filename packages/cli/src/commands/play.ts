/** `ranksim play`: serves the playground's page on this machine, opened with a model if one is named. */

import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RanksimError } from "@ranksim/core";
import { type Command, Option } from "commander";
import { portOf } from "../flags/port.ts";
import type { Io } from "../io.ts";
import { modelBytes, readModel } from "../model/store.ts";
import { servePage } from "../play/serve.ts";
import { addCommonOptions, type CommonOptions, Session } from "../session.ts";

interface PlayOptions extends CommonOptions {
  readonly port: number;
}

/** Where the build puts the page: beside the commands. */
const PAGE = fileURLToPath(new URL("../playground", import.meta.url));

const EXAMPLES = `
Examples:
  ranksim play                   the embedded digits, or data that you drop on the page
  ranksim play digits.ranksim    the same, opened with a model
`;

/** Adds the command. */
export function addPlay(program: Command, io: Io): void {
  const command = program
    .command("play")
    .summary("train, draw and explain in the browser")
    .description(
      "Serves the playground on this machine only, until interrupted: a page that trains in the browser and shows why a model decides as it does.",
    )
    .argument("[model]", "model file to open the page with");
  addCommonOptions(command)
    .addOption(new Option("--port <n>", "port to serve on; 0 takes a free one").argParser(portOf).default(0))
    .addHelpText("after", EXAMPLES)
    .action((modelPath: string | undefined, options: PlayOptions) => play(modelPath, options, io));
}

async function play(modelPath: string | undefined, options: PlayOptions, io: Io): Promise<void> {
  if (!existsSync(join(PAGE, "index.html"))) {
    throw new RanksimError("unsupported", "the page is not part of this build; npm run build:playground makes it");
  }
  const session = new Session(io, options);
  const model = modelPath === undefined ? undefined : await modelOf(modelPath, io);
  const page = await servePage({ folder: PAGE, port: options.port, ...(model ? { model } : {}) });
  try {
    await session.print(
      "play",
      { address: page.address },
      () => `${page.address}\nOpen it in a browser; Ctrl-C ends it.\n`,
    );
    await new Promise<void>((ended) => {
      if (io.signal.aborted) ended();
      io.signal.addEventListener("abort", () => ended(), { once: true });
    });
  } finally {
    await page.close();
  }
}

/** The bytes of a model file, after the same checks as everywhere. */
async function modelOf(path: string, io: Io): Promise<{ name: string; bytes: Uint8Array }> {
  await readModel(path, io);
  return { name: basename(path), bytes: await modelBytes(path, io) };
}
