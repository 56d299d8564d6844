/**
 * What is asked of the library h5wasm with one file, which is all that it sees: neither other files nor the network. In Node it runs in a thread
 * that can be ended, to which `serveHdf5` goes as text: all that it uses is inside it or given to it.
 */

import type { Dataset, Group } from "h5wasm";

export type Library = typeof import("h5wasm").default;

/** What the library is given. */
export interface Start {
  /** The whole file, or the number by which it is open and how long it is. */
  readonly bytes: Uint8Array | { readonly number: number; readonly byteLength: number };
  /** Whether it is written to, by which the bytes given do not change. */
  readonly isChanged: boolean;
  /** A name that no other file has. */
  readonly folder: string;
  /** Where bytes that are read are counted; absent without other threads. */
  readonly counter?: BigInt64Array;
}

/** Reads from an open file, as Node does. */
type ReadSync = (file: number, into: Uint8Array, at: number, length: number, from: number) => number;

/** What is known of an array before it is read. */
export interface Metadata {
  readonly shape: readonly number[] | null;
  readonly type: number;
  /** Bytes of an element, and the number of all. */
  readonly size: number;
  readonly total: number;
  readonly chunks: readonly number[] | null;
  /** The names in records. */
  readonly members: readonly string[] | undefined;
}

/** A column of texts or numbers that is written, and its attributes. */
export interface NewColumn {
  readonly name: string;
  readonly data: readonly string[] | Float64Array;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The questions, by their names. */
export type Served = Awaited<ReturnType<typeof serveHdf5>>;

/** Opens a file and answers questions about it. */
export async function serveHdf5(h5: Library, { bytes, isChanged, folder, counter }: Start, readSync?: ReadSync) {
  /** Bytes of a part that is kept once something in it was written. */
  const PAGE = 1 << 16;
  const pages = new Map<number, Uint8Array>();
  let size = bytes.byteLength;

  function readGiven(into: Uint8Array, from: number): number {
    if (!(bytes instanceof Uint8Array)) return readSync?.(bytes.number, into, 0, into.byteLength, from) ?? 0;
    const found = bytes.subarray(from, from + into.byteLength);
    into.set(found);
    return found.byteLength;
  }

  /** The bytes with what was written over them. */
  function read(into: Uint8Array, from: number): number {
    if (pages.size === 0 && size === bytes.byteLength) return readGiven(into, from);
    const count = Math.max(0, Math.min(into.byteLength, size - from));
    for (let done = 0; done < count; ) {
      const [page, at] = [Math.floor((from + done) / PAGE), (from + done) % PAGE];
      const part = into.subarray(done, Math.min(done + PAGE - at, count));
      const own = pages.get(page);
      if (own) part.set(own.subarray(at, at + part.byteLength));
      else part.fill(0, readGiven(part, from + done));
      done += part.byteLength;
    }
    return count;
  }

  function write(given: Uint8Array, to: number): void {
    for (let done = 0; done < given.byteLength; ) {
      const [page, at] = [Math.floor((to + done) / PAGE), (to + done) % PAGE];
      let own = pages.get(page);
      if (!own) {
        own = new Uint8Array(PAGE);
        readGiven(own, page * PAGE);
        pages.set(page, own);
      }
      const part = given.subarray(done, done + PAGE - at);
      own.set(part, at);
      done += part.byteLength;
    }
    size = Math.max(size, to + given.byteLength);
  }

  /** Bytes before the first object of a heap, and before the data of each. */
  const HEAP_HEAD = 16;
  const OBJECT_HEAD = 16;

  /** Whether bytes are a heap of texts whose parts do not lie in it one behind the other: the library would look for its end for ever. */
  function isEndless(found: Uint8Array): boolean {
    if (found.length < HEAP_HEAD || String.fromCharCode(...found.subarray(0, 4)) !== "GCOL") return false;
    const view = new DataView(found.buffer, found.byteOffset, found.byteLength);
    const heap = Number(view.getBigUint64(8, true));
    if (heap > size) return true;
    for (let at = HEAP_HEAD; at + OBJECT_HEAD <= Math.min(found.length, heap); ) {
      const length = Number(view.getBigUint64(at + 8, true));
      const takes = view.getUint16(at, true) === 0 ? length : OBJECT_HEAD + 8 * Math.ceil(length / 8);
      if (takes < 8 || at + takes > heap) return true;
      at += takes;
    }
    return false;
  }

  /** What is used of the file system that the library sees. */
  interface FileSystem {
    mkdir(path: string): void;
    rmdir(path: string): void;
    mount(type: object, options: object, path: string): void;
    unmount(path: string): void;
    createNode(parent: object | null, name: string, mode: number, device: number): Node;
    readonly ErrnoError: new (code: number) => Error;
  }
  interface Node {
    readonly id: number;
    readonly mode: number;
    node_ops: object;
    stream_ops: object;
  }
  const [FOLDER, FILE, NO_ENTRY, BAD_READ] = [0o40777, 0o100666, 44, 29];

  /** A folder with one file in it: the library sees nothing else. */
  function mount(fs: FileSystem): void {
    const time = new Date(0);
    const fixed = { dev: 1, nlink: 1, uid: 0, gid: 0, rdev: 0, atime: time, mtime: time, ctime: time, blksize: 4096 };
    const getattr = (node: Node) => {
      const length = node.mode === FILE ? size : 0;
      return { ...fixed, ino: node.id, mode: node.mode, size: length, blocks: Math.ceil(size / 512) };
    };
    const stream = {
      read(_: object, into: Uint8Array, at: number, length: number, from: number) {
        const own = into.subarray(at, at + length);
        const count = read(own, from);
        if (counter) Atomics.add(counter, 0, BigInt(count));
        if (isEndless(own.subarray(0, count))) throw new fs.ErrnoError(BAD_READ);
        return count;
      },
      write(_: object, given: Uint8Array, at: number, length: number, to: number) {
        write(given.subarray(at, at + length), to);
        return length;
      },
      llseek: (stream: { readonly position: number }, offset: number, whence: number) =>
        offset + (whence === 1 ? stream.position : whence === 2 ? size : 0),
    };
    const setattr = (_: Node, change: { readonly size?: number }) => {
      size = change.size ?? size;
    };
    const type = {
      mount() {
        const root = fs.createNode(null, "/", FOLDER, 0);
        root.stream_ops = {};
        root.node_ops = {
          getattr,
          lookup(parent: Node, name: string) {
            if (name !== "file") throw new fs.ErrnoError(NO_ENTRY);
            const node = fs.createNode(parent, name, FILE, 0);
            node.node_ops = { getattr, setattr };
            node.stream_ops = stream;
            return node;
          },
        };
        return root;
      },
    };
    fs.mkdir(folder);
    fs.mount(type, {}, folder);
  }

  const head = new Uint8Array(16);
  readGiven(head, 0);
  const signature = "89 48 44 46 0d 0a 1a 0a";
  const found = Array.from(head.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  if (found !== signature) throw new Error(`expected the first bytes ${signature}, found ${found}`);
  // Nobody writes other sizes, and `isEndless` takes them for eight bytes.
  const sizes = head[8] < 2 ? head[14] : head[10];
  if (sizes !== 8) throw new Error(`expected sizes of 8 bytes, found ${sizes}`);
  const module = await h5.ready;
  // Else it prints what it meets in damaged files, and goes on.
  module.activate_throwing_error_handler();
  const fs = module.FS as unknown as FileSystem;
  mount(fs);
  const file = new h5.File(`${folder}/file`, isChanged ? "a" : "r");

  function at(path: string): Group | Dataset | undefined {
    let here: Group | Dataset = file;
    for (const part of path.split("/").filter((part) => part !== "")) {
      if (here.type !== "Group" || !(here as Group).keys().includes(part)) return undefined;
      const next = (here as Group).get(part) as Group | Dataset | null;
      if (next === null || (next.type !== "Group" && next.type !== "Dataset")) return undefined;
      here = next;
    }
    return here;
  }

  return {
    typeOf: (path: string) => at(path)?.type as "Group" | "Dataset" | undefined,
    keys: (path: string): readonly string[] => (at(path) as Group).keys(),
    metadata(path: string): Metadata {
      const { shape, type, size, total_size, chunks, compound_type } = (at(path) as Dataset).metadata;
      const members = compound_type?.members.map(({ name }) => name);
      return { shape, type, size, total: Number(total_size), chunks, members };
    },
    /** The number of elements of an attribute; undefined where there is none. */
    attributeSize(path: string, name: string): number | undefined {
      const attribute = at(path)?.attrs[name];
      return attribute && Number(attribute.metadata.total_size);
    },
    attribute: (path: string, name: string): unknown => at(path)?.attrs[name].value,
    slice: (path: string, ranges: readonly (readonly [from: number, to: number])[]): unknown =>
      (at(path) as Dataset).slice(ranges.map(([from, to]) => [from, to])),
    value: (path: string): unknown => (at(path) as Dataset).value,
    /** Adds columns to a table, and names its columns in order, in place of what it said of that. */
    addColumns(path: string, added: readonly NewColumn[], order: readonly string[]): void {
      const group = at(path) as Group;
      for (const { name, data, attributes } of added) {
        const own = group.create_dataset({ name, data: data as string[] | Float64Array });
        for (const [key, value] of Object.entries(attributes)) own.create_attribute(key, value);
      }
      if (group.attrs["column-order"] !== undefined) group.delete_attribute("column-order");
      group.create_attribute("column-order", [...order]);
    },
    /** Closes the file, by which all that was written is among the bytes, and answers how many those are. */
    close(): number {
      file.close();
      fs.unmount(folder);
      fs.rmdir(folder);
      return size;
    },
    bytes(from: number, to: number): Uint8Array {
      const found = new Uint8Array(to - from);
      read(found, from);
      return found;
    },
  };
}
