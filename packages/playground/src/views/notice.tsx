/** A message in the place it concerns. */

export function Notice({ kind, text }: { kind: "error" | "stopped" | "note"; text: string }) {
  return (
    <p class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
      {text}
    </p>
  );
}
