/** One line about the GPU of this browser: how long it takes for the current data, beside WebAssembly, when asked. */

import { useState } from "preact/hooks";
import type { GpuComparison } from "../protocol.ts";
import { useController, usePage } from "./context.ts";
import { count, counted, duration } from "./text.ts";

export function GpuLine() {
  const { client } = useController();
  const { model, data, owner, run } = usePage();
  const [known, setKnown] = useState<{ readonly owner: string; readonly text: string; readonly busy?: boolean }>();
  if (!("gpu" in navigator) || !model.value || !data.value) return null;
  const about = owner.value;
  const shown = known?.owner === about ? known : undefined;
  const compare = () => {
    setKnown({ owner: about, text: "Timing the GPU and WebAssembly…", busy: true });
    client.call("compareGpu", {}).then(
      (found) => setKnown({ owner: about, text: comparisonText(found) }),
      (error: Error) => setKnown({ owner: about, text: `The GPU could not be timed: ${error.message}` }),
    );
  };
  return (
    <p class="hint" data-testid="gpu-line" aria-live="polite">
      {shown ? shown.text : "This browser has WebGPU."}{" "}
      {!shown?.busy && (
        <button type="button" class="link" disabled={run.value !== undefined} onClick={compare}>
          {shown ? "Time it again" : "Time the GPU on this data"}
        </button>
      )}
    </p>
  );
}

/** What was measured, in a sentence. */
function comparisonText(found: GpuComparison): string {
  if (found.is === "refused") return "This browser has WebGPU, but no GPU for it.";
  const { rows, filters, gpuSeconds, wasmSeconds, adapter, isSoftware, isSame, notes } = found;
  const gpu = `${isSoftware ? "GPU in software" : "GPU"} (${adapter})`;
  const ratio = wasmSeconds / gpuSeconds;
  const [faster, times] = ratio >= 1 ? ["the GPU", ratio] : ["WebAssembly", 1 / ratio];
  const speed = times < 1.05 ? "Both are as fast" : `For this data ${faster} is ${factor(times)} times as fast`;
  const answers = isSame ? "the answers are the same" : "the answers differ, which is a defect: please report it";
  const fallback = notes.length > 0 ? ` ${notes.join(" ")}.` : "";
  const work = `${counted(rows, "row")} × ${counted(filters, "filter")}`;
  return `${work}: ${gpu} ${short(gpuSeconds)}, WebAssembly on one thread ${short(wasmSeconds)}. ${speed}; ${answers}.${fallback}`;
}

const factor = (times: number): string => (times < 10 ? times.toFixed(1) : count(Math.round(times)));

/** A duration of which tenths of a millisecond count. */
const short = (seconds: number): string => (seconds < 0.01 ? `${(seconds * 1000).toFixed(1)} ms` : duration(seconds));
