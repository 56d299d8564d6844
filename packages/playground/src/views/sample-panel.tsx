/** The sample, first on the page: drawn, typed, set by hand or chosen from the rows. */

import { usePage } from "./context.ts";
import { NumberSample } from "./number-sample.tsx";
import { PictureSample } from "./picture-sample.tsx";
import { TextSample } from "./text-sample.tsx";

export function SamplePanel() {
  const { sample: state, imageSize, data, busy, run } = usePage();
  const shown = state.value;
  const size = imageSize.value;
  const sample = shown?.sample;
  const isPicture = size && sample?.form === "dense" && sample.values.length === size.width * size.height;
  const isTaught = data.value?.name === "taught";
  const title = isTaught
    ? "Draw anything"
    : data.value?.inkBlocks
      ? "Draw a digit"
      : isPicture
        ? "Draw on the sample"
        : "Sample";
  return (
    <section class="card sample" aria-labelledby="sample-title">
      <h2 id="sample-title">
        {data.value || busy.value === undefined ? title : "Draw a digit"}
        {shown?.edited && <span class="badge">{shown.origin ? `row ${shown.origin.row}, changed` : "drawn"}</span>}
        {shown?.origin && !shown.edited && <span class="badge">row {shown.origin.row}</span>}
      </h2>
      {!shown || !sample ? (
        busy.value === undefined && !run.value && !data.value ? (
          <p class="muted">Choose data or drop a file, and a row of it appears here.</p>
        ) : (
          <>
            <div class="paper painter-place" />
            <div class="tools" />
            <p class="hint keys" role="status">
              {busy.value}
            </p>
          </>
        )
      ) : isPicture ? (
        <PictureSample shown={shown} values={sample.values} size={size} />
      ) : sample.form === "text" ? (
        <TextSample text={sample.text} />
      ) : (
        <NumberSample sample={sample} />
      )}
    </section>
  );
}
