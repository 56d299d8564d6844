/** How views reach the controller, follow the state, and ask the worker for what only they show. */

import { createContext } from "preact";
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import type { CallName, Calls, Sample } from "../protocol.ts";
import { latest } from "../state/client.ts";
import type { Controller } from "../state/controller.ts";
import type { PageState } from "../state/state.ts";

const ControllerContext = createContext<Controller | undefined>(undefined);

export const ControllerProvider = ControllerContext.Provider;

/** What the user can do. */
export function useController(): Controller {
  const controller = useContext(ControllerContext);
  if (!controller) throw new Error("a view was rendered outside of the page");
  return controller;
}

/** What the page knows. A component that reads the value of a signal renders again when it changes. */
export const usePage = (): PageState => useController().state;

/**
 * An answer of the worker about the current data and model, asked for again when they or `key` change. The last answer
 * stays until the next one is there, unless it was about other data or another model.
 */
export function useAnswer<K extends CallName>(
  call: K,
  argument: Calls[K]["in"] | undefined,
  key: string,
): { readonly answer: Calls[K]["out"] | undefined; readonly error: string | undefined; readonly waiting: boolean } {
  const { client, state } = useController();
  const owner = state.owner.value;
  const [known, setKnown] = useState<{ owner: string; answer?: Calls[K]["out"]; error?: string; waiting: boolean }>({
    owner,
    waiting: true,
  });
  useEffect(() => {
    if (argument === undefined) return setKnown({ owner, waiting: false });
    let wanted = true;
    setKnown((before) => ({ ...(before.owner === owner ? before : { owner }), waiting: true }));
    client.call(call, argument).then(
      (answer) => wanted && setKnown({ owner, answer, waiting: false }),
      (error: Error) => wanted && setKnown({ owner, error: error.message, waiting: false }),
    );
    return () => {
      wanted = false;
    };
  }, [client, call, key, owner]);
  return known.owner === owner
    ? { answer: known.answer, error: known.error, waiting: known.waiting }
    : { answer: undefined, error: undefined, waiting: true };
}

/** An answer of the worker about the current sample. One is asked for at a time, and then the newest sample's. */
export function useSampleAnswer<K extends "patches" | "spikes">(
  call: K,
): { readonly answer?: Calls[K]["out"]; readonly error?: string } {
  const { client, state } = useController();
  const model = state.openModel.value?.id;
  const sample = state.sample.value?.sample;
  const [known, setKnown] = useState<{ model: number; answer?: Calls[K]["out"]; error?: string }>();
  const ask = useMemo(
    () =>
      latest<{ model: number; sample: Sample }>(({ model: asked, sample: shown }) =>
        client.call(call, { sample: shown }).then(
          (answer) => setKnown({ model: asked, answer }),
          (error: Error) => setKnown({ model: asked, error: error.message }),
        ),
      ),
    [client, call],
  );
  useEffect(() => {
    if (sample && model !== undefined) ask({ model, sample });
  }, [ask, sample, model]);
  return known && known.model === model ? known : {};
}
