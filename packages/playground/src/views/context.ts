/** How views reach the controller, follow the state, and ask the worker for what only they show. */

import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { CallName, Calls } from "../protocol.ts";
import type { Controller } from "../state/controller.ts";
import type { State } from "../state/state.ts";
import { usePart } from "../state/store.ts";

const ControllerContext = createContext<Controller | undefined>(undefined);

export const ControllerProvider = ControllerContext.Provider;

/** What the user can do. */
export function useController(): Controller {
  const controller = useContext(ControllerContext);
  if (!controller) throw new Error("a view was rendered outside of the page");
  return controller;
}

/** One field of the state. */
export function useField<K extends keyof State>(field: K): State[K] {
  return usePart(useController().store, (state) => state[field]);
}

/** An answer of the worker, asked for again when `key` changes; the last answer stays until the next one is there. */
export function useAnswer<K extends CallName>(
  call: K,
  argument: Calls[K]["in"] | undefined,
  key: string,
): { readonly answer: Calls[K]["out"] | undefined; readonly error: string | undefined; readonly waiting: boolean } {
  const { client } = useController();
  const [state, setState] = useState<{ answer?: Calls[K]["out"]; error?: string; waiting: boolean }>({ waiting: true });
  useEffect(() => {
    if (argument === undefined) return setState({ waiting: false });
    let wanted = true;
    setState((before) => ({ ...before, waiting: true }));
    client.call(call, argument).then(
      (answer) => wanted && setState({ answer, waiting: false }),
      (error: Error) => wanted && setState({ error: error.message, waiting: false }),
    );
    return () => {
      wanted = false;
    };
  }, [client, call, key]);
  return { answer: state.answer, error: state.error, waiting: state.waiting };
}
