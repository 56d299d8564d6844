/** The sample in the middle of the page: chosen from the rows, drawn, typed or set by hand. */

import { useField } from "./context.ts";
import { NumberSample } from "./number-sample.tsx";
import { PictureSample } from "./picture-sample.tsx";
import { RowPicker } from "./row-picker.tsx";
import { TextSample } from "./text-sample.tsx";

export function SamplePanel() {
  const sample = useField("sample");
  const size = useField("imageSize");
  const isPicture = size && sample?.form === "dense" && sample.values.length === size.width * size.height;
  return (
    <section class="card" aria-labelledby="sample-title">
      <h2 id="sample-title">
        <span class="step-number">3</span> Sample
      </h2>
      <RowPicker />
      {!sample ? (
        <p class="muted">Choose data, and a row of it appears here.</p>
      ) : isPicture ? (
        <PictureSample sample={sample} size={size} />
      ) : sample.form === "text" ? (
        <TextSample text={sample.text} />
      ) : (
        <NumberSample sample={sample} />
      )}
    </section>
  );
}
