/** Tar archives made by hand, also of what no tar command packs. */

/** An entry, as its header has it. */
export interface TarEntry {
  readonly path: string;
  /** The flag that says what it is; "0", a plain file. */
  readonly type?: string;
  readonly content?: string;
  /** What the header claims; the length of the content. */
  readonly size?: number;
}

/** The bytes of an archive. */
export function tarOf(...entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, type = "0", content = "", size }) => {
    const body = Buffer.from(content, "latin1");
    const header = Buffer.alloc(512);
    header.write(path);
    header.write((size ?? body.length).toString(8).padStart(11, "0"), 124);
    header.write(type, 156);
    header.write("ustar", 257);
    header.write("        ", 148);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(sum.toString(8).padStart(6, "0"), 148);
    return [header, body, Buffer.alloc(-body.length & 511)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
