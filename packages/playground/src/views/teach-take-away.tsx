/** What was taught, to take along: as a model file, as ONNX, as a page of its own. */

import { useState } from "preact/hooks";
import { download } from "../takeaway/download.ts";
import { useController } from "./context.ts";
import { Notice } from "./notice.tsx";

export function TeachTakeAway() {
  const { client, teaching } = useController();
  const [state, setState] = useState<{ busy?: string; error?: string }>({});
  const attempt = async (busy: string, work: () => Promise<void>) => {
    setState({ busy });
    try {
      await work();
      setState({});
    } catch (failure) {
      setState({ error: (failure as Error).message });
    }
  };
  const asFile = () =>
    attempt("Choosing what suits the examples best…", async () => {
      const recipe = { estimator: "chosen", heldOut: 0, params: {} } as const;
      download("taught.model", await client.call("saveOnAll", { recipe }), "application/octet-stream");
    });
  const asOnnx = () =>
    attempt("Writing ONNX…", async () =>
      download("taught.onnx", await client.call("onnx", {}), "application/octet-stream"),
    );
  const asPage = () =>
    attempt("Writing the page…", async () => {
      const { standalonePage } = await import("../takeaway/standalone-page.ts");
      const filters = await client.call("plainFilters", {});
      download("taught.html", standalonePage(filters, teaching.lesson()), "text/html");
    });
  return (
    <div class="teach-take">
      <div class="buttons">
        <span class="hint">Take it away</span>
        <button type="button" onClick={asFile}>
          Model file
        </button>
        <button type="button" onClick={asOnnx}>
          ONNX
        </button>
        <button type="button" onClick={asPage}>
          Web page
        </button>
      </div>
      {state.busy && (
        <p class="hint" role="status">
          {state.busy}
        </p>
      )}
      {state.error && <Notice kind="error" text={state.error} />}
    </div>
  );
}
