/** Files of one's own: tables, arrays, pictures, text, models, and files that are none of these. */

import { type ClassifierModel, Pipeline, RankSimilarityClassifier, saveModel, withSchema } from "@ranksim/core";
import { describeData, loadDigits, Table, TableEncoder, type TableLike } from "@ranksim/data";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { dropFiles, figure, openStage, type Stage, train, untilTrained } from "./chromium.ts";
import { CHROMIUM } from "./find-chromium.ts";
import { idxImages, idxLabels, npy, pgm, reviewsJsonl } from "./made-files.ts";

/** Snails are small and brown, mussels large and grey; the table has its columns in another order than the model. */
function shells() {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const isSnail = i % 2 === 0;
    return {
      colour: isSnail ? "brown" : "grey",
      size: (isSnail ? 10 : 60) + i / 10,
      kind: isSnail ? "snail" : "mussel",
    };
  });
  const lines = rows.map(({ colour, size, kind }) => `${size},${kind},${colour}`);
  return {
    table: Table.fromRecords(rows.map(({ colour, size }) => ({ colour, size }))),
    y: rows.map(({ kind }) => kind),
    csv: `size,kind,colour\n${lines.join("\n")}\n`,
  };
}

describe.skipIf(!CHROMIUM)("files in Chromium (needs chromium)", () => {
  let stage: Stage;
  let digitsModel: Uint8Array;

  beforeAll(async () => {
    stage = await openStage();
    const { x, y } = await loadDigits();
    digitsModel = saveModel(await new RankSimilarityClassifier({ filters: 60 }).fit(x, y));
  });
  afterEach(() => stage?.leave());
  afterAll(() => stage?.close());

  it("takes the four files of one set together and holds the test files out", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    await dropFiles(page, [
      { name: "t10k-images-idx3-ubyte", content: idxImages(40, 12) },
      { name: "t10k-labels-idx1-ubyte", content: idxLabels(40) },
      { name: "train-images-idx3-ubyte", content: idxImages(200, 12) },
      { name: "train-labels-idx1-ubyte", content: idxLabels(200) },
    ]);
    await page.getByText("240 rows × 144 features, 40 of them for testing").waitFor();
    // Twice: the rows to be held out are told to the page after each run, and still have to be there for the next.
    for (let run = 0; run < 2; run++) {
      await train(page);
      await page.getByText(/; from 200 rows\./).waitFor();
      await page.getByText("40 held-out rows").waitFor();
      await page.getByTestId("result").getByText("Held-out accuracy").waitFor();
    }
    expect(await page.getByText("Save one trained on all").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("takes shares in a square for pictures where neighbours are alike, and for nothing else where they are not", async () => {
    const { page } = await stage.open();
    await untilTrained(page);
    const smooth = npy(30, 64, (row, pixel) => Math.abs(Math.sin((row + (pixel % 8) + (pixel >> 3)) / 5)));
    await dropFiles(page, [{ name: "smooth.npy", content: smooth }]);
    await page.getByText("30 rows × 64 features, pictures of 8").waitFor();
    await page.getByTestId("painter").waitFor();
    const rough = npy(30, 64, (row, pixel) => Math.abs(Math.sin((64 * row + pixel) * 12.9898) * 43_758.5453) % 1);
    await dropFiles(page, [{ name: "rough.npy", content: rough }]);
    await page.locator(".data-name", { hasText: "rough.npy" }).waitFor();
    expect(await page.getByTestId("painter").count()).toBe(0);
  });

  it("takes an IDX file of pictures with its labels", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    await dropFiles(page, [
      { name: "train-images-idx3-ubyte", content: idxImages(200, 12) },
      { name: "train-labels-idx1-ubyte", content: idxLabels(200) },
    ]);
    await page.getByText("200 rows × 144 features, pictures of 12").waitFor();
    await train(page);
    expect(Number(await figure(page, "Held-out accuracy"))).toBeGreaterThan(0.9);
    await page.getByTestId("painter").waitFor();
    expect(complaints).toEqual([]);
  });

  it("takes svmlight, and says so when rows have several labels", async () => {
    const { page } = await stage.open();
    await untilTrained(page);
    const lines = Array.from(
      { length: 60 },
      (_, r) => `${r % 2 ? "1,2" : "3"} ${(r % 2) * 5 + 1}:3 ${(r % 2) * 5 + 3}:2 12:1`,
    );
    await dropFiles(page, [{ name: "topics.svm", content: lines.join("\n") }]);
    await page.getByText("60 rows × 12 features, sparse").waitFor();
    await page.getByText("3 labels, several a row").waitFor();
    await train(page);
    await page.getByRole("tab", { name: "Mistakes" }).click();
    await page.getByRole("columnheader", { name: "precision" }).waitFor();
  });

  it("takes an array without labels: a transform, whose filters can be looked at", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    const content = npy(50, 30, (row, feature) => Math.sin(row * 0.7 + feature * (1 + (row % 3))));
    await dropFiles(page, [{ name: "waves.npy", content }]);
    await page.getByText("50 rows × 30 features").waitFor();
    await page.getByText("no labels: only a transform can be trained").waitFor();
    expect(await page.getByLabel("Estimator").inputValue()).toBe("transform");
    await train(page);
    await page.getByText(/Most like filter \d+/).waitFor();
    await page.getByText("all filters").waitFor();
    await page.getByLabel("Draw rows as pictures, width").fill("6");
    await page.keyboard.press("Enter");
    await page.getByTestId("painter").waitFor();
    expect(complaints).toEqual([]);
  });

  it("follows an address that is changed by hand", async () => {
    const { page, complaints } = await stage.open("#data=digits&estimator=classifier&heldOut=0.25&filters=150&row=3");
    await untilTrained(page);
    await page.evaluate(() => {
      location.hash = "#data=digits&estimator=classifier&heldOut=0.25&filters=30&row=8&tab=features";
    });
    await page.getByText("How values are distributed").waitFor();
    await page
      .locator(".numbers div", { hasText: "Filters" })
      .getByText(/^[23]\d$/)
      .waitFor();
    await page.waitForFunction(() => document.querySelector<HTMLInputElement>(".row-choice input")?.value === "8");
    await page.evaluate(() => {
      location.hash = "#data=my.csv&estimator=transform";
    });
    await page
      .getByRole("alert")
      .getByText(/made with “my\.csv”/)
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it("takes images, a folder for each class", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    const image = (r: number) => pgm(8, (x, y) => ((r % 2 ? x : y) < 3 ? 200 : 10) + ((r * 5 + x * 3 + y) % 20));
    const files = Array.from({ length: 24 }, (_, r) => ({
      name: `picture-${r}.pgm`,
      mimeType: "image/x-portable-graymap",
      folder: r % 2 ? "left" : "top",
      buffer: Buffer.from(image(r)),
    }));
    await page.evaluate(
      (given) => {
        const entry = (name: string, children: readonly FileSystemEntry[], file?: File) => {
          const left = [...children];
          return {
            name,
            isFile: file !== undefined,
            isDirectory: file === undefined,
            file: (done: (file: File) => void) => file && done(file),
            createReader: () => ({ readEntries: (done: (batch: unknown[]) => void) => done(left.splice(0)) }),
          } as unknown as FileSystemEntry;
        };
        const bytes = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
        const folders = ["left", "top"].map((folder) =>
          entry(
            folder,
            given
              .filter((file) => file.folder === folder)
              .map(({ name, base64 }) => entry(name, [], new File([bytes(base64)], name))),
          ),
        );
        // A folder cannot be put into a drop by script, so the drop is made to hold one.
        const transfer = { types: ["Files"], files: [], items: [{ webkitGetAsEntry: () => entry("shapes", folders) }] };
        const drop = new DragEvent("drop", { bubbles: true, cancelable: true });
        Object.defineProperty(drop, "dataTransfer", { value: transfer });
        document.body.dispatchEvent(drop);
      },
      files.map(({ name, folder, buffer }) => ({ name, folder, base64: buffer.toString("base64") })),
    );
    await page.getByText("24 rows × 64 features, pictures of 8").waitFor();
    await page.getByText("2 classes: left, top").waitFor();
    await train(page);
    expect(complaints).toEqual([]);
  });

  it("takes text: words instead of pixels, and an answer for what is typed", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    await dropFiles(page, [{ name: "reviews.jsonl", content: reviewsJsonl(80) }]);
    await page.getByText("80 texts").waitFor();
    await train(page);
    expect(await figure(page, "Held-out accuracy")).toBe("1.000");
    await page.getByLabel("Type or change the text").fill("what a boring tired plot");
    await page.getByTestId("verdict").locator(".answer", { hasText: "bad" }).waitFor();
    await page.locator("mark.for", { hasText: "tired" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("opens a model of the command line, judges it on data that fits, and reads what is drawn", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    await dropFiles(page, [{ name: "digits.model", content: digitsModel }]);
    await page.getByText(/digits\.model: \d+ filters from 1,797 rows/).waitFor();
    expect(Number(await figure(page, "Accuracy, rows it may know"))).toBeGreaterThan(0.95);
    await page.getByTestId("verdict").waitFor();
    expect(complaints).toEqual([]);
  });

  it("opens with the model it is served with", async () => {
    const served = await stage.serve({ model: { name: "my digits.model", bytes: digitsModel } });
    const { page, complaints } = await stage.open(served.address);
    await page.getByText(/model-my-digits\.model: \d+ filters from 1,797 rows/).waitFor();
    await page.getByTestId("painter").waitFor();
    expect(complaints).toEqual([]);
  });

  it("opens a model of tables with a table, and speaks of its columns", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    const { table, y, csv } = shells();
    const pipeline = new Pipeline<TableLike, ClassifierModel>([new TableEncoder(), new RankSimilarityClassifier()]);
    const model = withSchema(
      await pipeline.fit(table, y),
      describeData({ form: "table", table, y, found: { label: "kind" } }),
    );
    await dropFiles(page, [
      { name: "shells.ranksim", content: saveModel(model) },
      { name: "shells.csv", content: csv },
    ]);
    await page.getByText(/shells\.ranksim: \d+ filters from 60 rows/).waitFor();
    expect(await figure(page, "Accuracy, training rows")).toBe("1.000");
    await page.getByText("The model was trained on these rows: new rows will do worse.").waitFor();
    await page.getByRole("combobox", { name: "colour" }).selectOption("brown");
    await page.getByRole("spinbutton", { name: "size", exact: true }).fill("12");
    await page.getByTestId("verdict").locator(".answer", { hasText: "snail" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("refuses what is no data in place, by its name, and keeps what was there", async () => {
    const { page, complaints } = await stage.open();
    await untilTrained(page);
    const refused: [name: string, content: Buffer, message: RegExp][] = [
      ["noise.npy", Buffer.from("\x93NUMPY\x01\x00garbage", "latin1"), /noise\.npy/],
      ["broken.csv", Buffer.from("a,b,label\n1,2,x\n1,x\n"), /broken\.csv, line 3: expected 3 fields/],
      ["empty.csv", Buffer.alloc(0), /empty file/],
      ["photo.png", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), /photo\.png is a picture \(PNG\), not a table/],
      ["holiday.jpg", Buffer.from("\xff\xd8\xff\xe0", "latin1"), /holiday\.jpg is a photo \(JPEG\), not a table/],
      ["paper.pdf", Buffer.from("%PDF-1.7"), /paper\.pdf is a PDF document, .* Save its table as CSV/],
      ["cut.model", Buffer.from(new Uint8Array(40)), /header|safetensors|file|bytes/i],
    ];
    for (const [name, content, message] of refused) {
      await dropFiles(page, [{ name, content }]);
      await page.getByRole("alert").getByText(message).waitFor();
      expect(await figure(page, "Held-out accuracy")).toMatch(/^0\.9/);
      await page.getByTestId("verdict").waitFor();
    }
    await page.getByRole("button", { name: "Digits", exact: true }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });
});
