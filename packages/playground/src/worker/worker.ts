/** The worker's front door: takes calls, answers each once, hands large arrays over instead of copying them. */

import { RanksimError } from "@ranksim/core";
import type { CallName, Failure, Reply, Request } from "../protocol.ts";
import { inPageWords } from "./page-words.ts";
import { Session } from "./session.ts";

const port = globalThis as unknown as {
  postMessage(message: Reply, transfer: Transferable[]): void;
  onmessage: (event: MessageEvent<Request>) => void;
};

const session = new Session((step) => port.postMessage({ step }, buffersOf(step)));

port.onmessage = async ({ data: { id, call, argument } }) => {
  try {
    const answer = await (session[call as CallName] as (argument: unknown) => unknown).call(session, argument);
    port.postMessage({ id, answer }, buffersOf(answer));
  } catch (error) {
    port.postMessage({ id, failure: failureOf(error) }, []);
  }
};

/** The memory of all typed arrays within an answer. Answers own their arrays, so nothing here is used afterwards. */
function buffersOf(value: unknown, found = new Set<Transferable>()): Transferable[] {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) buffersOf(part, found);
  }
  return [...found];
}

function failureOf(error: unknown): Failure {
  if (error instanceof RanksimError) return { code: error.code, message: inPageWords(error) };
  if (error instanceof DOMException && error.name === "AbortError") return { code: "stopped", message: error.message };
  return { code: "internal", message: error instanceof Error ? error.message : String(error) };
}
