/** A place where bytes are written and read again: a file without a name, in Node. */
export interface Store {
  read(from: number, to: number): Promise<Uint8Array>;
  write(bytes: Uint8Array, at: number): Promise<void>;
}

/** Makes a store. It goes when it is no longer in use. */
export type Stores = () => Store;
