/** Texts written to a store, so that they can be read again, some at a time. */

import type { Csr } from "@ranksim/core";
import { hashRows } from "../row-hash.ts";
import type { TextSource } from "../text/source.ts";
import { keptRows } from "./cached-rows.ts";
import type { Store, Stores } from "./store.ts";

/** Blocks that would fit in the room: one is there as bytes, as texts and as what is made of them. */
const BLOCKS = 32;

/** Takes in texts that come in order. */
export class TextCache {
  readonly #options: { readonly room: number; readonly stores: Stores };
  readonly #store: Store;
  /** Where each block begins, and where the last ends. */
  readonly #places = [0];
  readonly #hashes: Uint32Array[] = [];
  #rows = 0;

  constructor(options: { readonly room: number; readonly stores: Stores }) {
    this.#options = options;
    this.#store = options.stores();
  }

  async add(texts: readonly string[]): Promise<void> {
    const most = this.#options.room / BLOCKS;
    let from = 0;
    let characters = 0;
    for (const [r, text] of texts.entries()) {
      if (r > from && characters + text.length > most) {
        await this.#write(texts.slice(from, r));
        [from, characters] = [r, 0];
      }
      characters += text.length;
    }
    if (from < texts.length) await this.#write(texts.slice(from));
  }

  async #write(text: readonly string[]): Promise<void> {
    const at = this.#places[this.#places.length - 1];
    // As JSON, which keeps characters that UTF-8 has no bytes for.
    const bytes = new TextEncoder().encode(JSON.stringify(text));
    await this.#store.write(bytes, at);
    this.#places.push(at + bytes.byteLength);
    this.#hashes.push(hashRows({ form: "text", text }));
    this.#rows += text.length;
  }

  finish(): TextSource {
    const [store, places, options] = [this.#store, this.#places, this.#options];
    const hashes = new Uint32Array(this.#rows);
    let first = 0;
    for (const some of this.#hashes) {
      hashes.set(some, first);
      first += some.length;
    }
    return {
      form: "texts",
      rows: this.#rows,
      hashes,
      async *blocks() {
        for (let b = 0; b + 1 < places.length; b++) {
          yield JSON.parse(new TextDecoder().decode(await store.read(places[b], places[b + 1]))) as string[];
        }
      },
      keep: (made: AsyncIterable<Csr>, shape) => keptRows(made, shape, options),
    };
  }
}
