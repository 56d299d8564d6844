/** What can be shared of an answer: a link that restores it, and a picture of it. */

import { useState } from "preact/hooks";
import { download } from "../takeaway/download.ts";
import { useController, usePage } from "./context.ts";

export function Share() {
  const { sampling } = useController();
  const page = usePage();
  const [state, setState] = useState("");
  const shown = page.sample.value;
  const size = page.imageSize.value;
  const explanation = page.explanation.value;
  if (!shown || !explanation) return null;
  const say = (text: string) => {
    setState(text);
    setTimeout(() => setState(""), 1500);
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      say("Link copied");
    } catch {
      say("Copying is not allowed");
    }
  };
  const values = shown.sample.form === "dense" ? shown.sample.values : undefined;
  const isPicture = size && values && size.width * size.height === values.length;
  const save = async () => {
    if (!isPicture) return;
    const { cardPicture } = await import("../takeaway/card.ts");
    const data = page.data.peek();
    const picture = await cardPicture({
      explanation,
      values,
      size,
      drawing: sampling.drawingOf(shown),
      low: data?.low ?? 0,
      high: data?.high ?? 255,
      classes: page.model.peek()?.classes ?? [],
      // An address on this machine is of no use to others.
      link: isLocal() ? "npx ranksim play" : location.origin + location.pathname,
      isDrawn: shown.edited,
    });
    download(`ranksim-${explanation.labels.join("-") || "sample"}.png`, picture, "image/png");
  };
  return (
    <div class="share">
      <span class="hint" role="status">
        {state}
      </span>
      <button type="button" class="quiet" onClick={copy}>
        Link
      </button>
      {isPicture && !explanation.isEmpty && (
        <button type="button" class="quiet" onClick={save}>
          Picture
        </button>
      )}
    </div>
  );
}

const isLocal = (): boolean => /^(localhost|127\.|\[::1\])/.test(location.hostname);
