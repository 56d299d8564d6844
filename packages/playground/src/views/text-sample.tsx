/** A sample that is text: words instead of pixels. Typing asks "what if" at once. */

import { useMemo } from "preact/hooks";
import { useController, usePage } from "./context.ts";
import { EditTools } from "./edit-tools.tsx";
import { Parts } from "./number-sample.tsx";

/** Words of a long text that are shown with their parts. */
const MOST_WORDS = 400;

export function TextSample({ text }: { text: string }) {
  const { sampling } = useController();
  return (
    <div class="text-sample">
      <label>
        <span class="muted">Type or change the text</span>
        <textarea
          rows={6}
          value={text}
          onInput={(event) => sampling.edit({ form: "text", text: event.currentTarget.value }, "typing")}
        />
      </label>
      <EditTools clear="Clear" />
      <ColouredWords text={text} />
      <Parts />
    </div>
  );
}

/** The text once more, each word tinted by its part in the decision. */
function ColouredWords({ text }: { text: string }) {
  const explanation = usePage().explanation.value;
  const parts = useMemo(() => {
    const byWord = new Map<string, number>();
    explanation?.names?.forEach((word, j) => {
      byWord.set(word, explanation.parts[j]);
    });
    return byWord;
  }, [explanation]);
  if (parts.size === 0) return null;
  const largest = Math.max(...Array.from(parts.values(), Math.abs)) || 1;
  const pieces = text.split(/([\p{L}\p{N}_]+)/u).slice(0, 2 * MOST_WORDS);
  return (
    <p class="coloured-words">
      {pieces.map((piece, j) => {
        const part = parts.get(piece.toLowerCase());
        if (part === undefined) return piece;
        const strength = Math.round(15 + (55 * Math.abs(part)) / largest);
        return (
          <mark key={j} class={part > 0 ? "for" : "against"} style={{ "--strength": `${strength}%` }}>
            {piece}
          </mark>
        );
      })}
      {pieces.length === 2 * MOST_WORDS && "…"}
    </p>
  );
}
