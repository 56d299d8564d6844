/** The page's worker, in Chromium, gives the bytes of the command: for data of every kind, dropped as files and folders. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { saveModel } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { train } from "@ranksim/learn";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CASES, filesOfCase } from "../../cli/test/same-model-cases.ts";
import { makeWorld, type World } from "../../cli/test/world.ts";
import type { ReadChoices, Recipe, Reply } from "../src/protocol.ts";
import { openStage, type Stage, untilTrained } from "./chromium.ts";
import { CHROMIUM } from "./find-chromium.ts";

describe.skipIf(!CHROMIUM)("the page's worker in Chromium (needs chromium)", () => {
  let stage: Stage;
  let world: World;
  beforeAll(async () => {
    world = makeWorld();
    stage = await openStage();
  });
  afterAll(async () => {
    await stage?.close();
    world?.remove();
  });

  /** The model's bytes, as hexadecimal digits, that a worker of the page gives when it is given files and told to train. */
  async function trainedThere(
    files: readonly { name: string; bytes: Uint8Array }[],
    choices: ReadChoices,
    recipe: Recipe,
  ): Promise<string> {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    const given = files.map(({ name, bytes }) => ({ name, base64: Buffer.from(bytes).toString("base64") }));
    const bytes = await page.evaluate(
      async ({ given, choices, said }) => {
        const script = performance.getEntriesByType("resource").find(({ name }) => /worker-[^/]*\.js$/.test(name));
        const worker = new Worker(script?.name ?? "", { type: "module" });
        const call = (name: string, argument: unknown) =>
          new Promise<never>((resolve, reject) => {
            worker.onerror = ({ message }) => reject(new Error(message));
            worker.onmessage = ({ data }: MessageEvent<Reply>) => {
              if ("failure" in data) reject(new Error(data.failure.message));
              else if ("answer" in data) resolve(data.answer as never);
            };
            worker.postMessage({ id: 0, call: name, argument });
          });
        const files = given.map(({ name, base64 }) => {
          const content = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
          return { path: name, file: new File([content], name.slice(name.lastIndexOf("/") + 1)) };
        });
        if (files.length === 0) await call("openDigits", {});
        else {
          const { refused } = (await call("openFiles", { files, choices })) as { refused?: { message: string } };
          if (refused) throw new Error(refused.message);
        }
        await call("train", { recipe: JSON.parse(said), pace: "full" });
        const saved = (await call("save", {})) as Uint8Array;
        worker.terminate();
        return Array.from(saved, (byte) => byte.toString(16).padStart(2, "0")).join("");
      },
      { given, choices, said: JSON.stringify(recipe) },
    );
    expect(complaints).toEqual([]);
    await stage.leave();
    return bytes;
  }

  it.each(CASES.filter(({ onPage }) => onPage !== null))("trains the command's model of $name", async (given) => {
    const { file, make, flags = [], options = {}, onPage } = given;
    make(join(world.folder, file));
    const labels = file.endsWith(".npy") ? ["--labels", `${file}.labels.txt`] : [];
    const { code, stderr } = await world.ranksim(["train", file, ...labels, ...flags, "--model", "page.ranksim"]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const recipe = { estimator: "chosen", heldOut: options.testShare ?? 0, params: {} } as const;
    const bytes = await trainedThere(filesOfCase(world.folder, given), onPage ?? {}, recipe);
    expect(bytes).toBe(readFileSync(world.path("page.ranksim")).toString("hex"));
  });

  it("trains the library's model of the digits", async () => {
    const { model } = await train(await loadDigits(), { preset: "fast", seed: 2, testShare: 0.5 });
    const recipe = { estimator: "chosen", heldOut: 0.5, params: { preset: "fast", seed: 2 } } as const;
    expect(await trainedThere([], {}, recipe)).toBe(Buffer.from(saveModel(model)).toString("hex"));
  });
});
