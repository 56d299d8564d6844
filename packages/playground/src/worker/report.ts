/** The report of the command, made in the page: the same generator, given the model and the rows it is judged on. */

import type { Run } from "@ranksim/core";
import { pickRows } from "@ranksim/data";
import { makeReport } from "ranksim/report";
import type { Calls, ImageSize } from "../protocol.ts";
import { allRows, type LoadedData } from "./data.ts";
import { digestOf, type Subject } from "./subject.ts";

/** Rows shown with their strongest filters, of samples and of mistakes. */
const SHOWN_ROWS = 12;

/** The page. `heldOut`: the rows that the model was not trained on; absent where all rows are used. */
export async function reportOf(
  subject: Subject,
  data: LoadedData,
  heldOut: Uint32Array | undefined,
  imageSize: ImageSize | undefined,
  provenance: Calls["report"]["in"]["provenance"],
  run: Run,
): Promise<string> {
  const { whole, name, inputs } = subject.parts;
  const rows = heldOut ?? allRows(data);
  const { page } = await makeReport(
    {
      model: whole,
      modelName: name,
      byteLength: subject.bytes.byteLength,
      digest: digestOf(subject.bytes),
      data: await pickRows(data.set, rows),
      dataName: data.name,
      title: `Rank filters of ${data.name}`,
      imageSize: imageSize && imageSize.width * imageSize.height === inputs ? imageSize : undefined,
      provenance,
      samples: SHOWN_ROWS,
      notes: [
        heldOut
          ? `Judged on ${heldOut.length} rows that were held out of training.`
          : "Judged on all rows of the data, which may be those that the model was trained on.",
      ],
    },
    run,
  );
  return page;
}
