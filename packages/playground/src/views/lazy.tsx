/** Views whose code is fetched when they are first shown, so that the first load does not wait for it. */

import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Notice } from "./notice.tsx";

/** A view that stands in for the one that `load` fetches. */
export function lazily(load: () => Promise<FunctionComponent>): FunctionComponent {
  let View: FunctionComponent | undefined;
  return function Lazy() {
    const [error, setError] = useState("");
    const [, setLoaded] = useState(View !== undefined);
    useEffect(() => {
      if (View) return;
      load().then(
        (loaded) => {
          View = loaded;
          setLoaded(true);
        },
        () => setError("This view could not be fetched. Load the page again when there is a network."),
      );
    }, []);
    if (error) return <Notice kind="error" text={error} />;
    return View ? <View /> : <p class="muted">Opening…</p>;
  };
}
