/** Types of C and the tables of a header. */

/** A type and its size. */
export interface CType {
  readonly type: string;
  readonly bytes: number;
}

export const UINT8: CType = { type: "uint8_t", bytes: 1 };
export const UINT16: CType = { type: "uint16_t", bytes: 2 };
export const UINT32: CType = { type: "uint32_t", bytes: 4 };
export const UINT64: CType = { type: "uint64_t", bytes: 8 };

const PER_LINE = 28;

/** A constant array. */
export function table(name: string, { type }: CType, values: ArrayLike<number>): string {
  const lines: string[] = [];
  for (let at = 0; at < values.length; at += PER_LINE) {
    const end = Math.min(values.length, at + PER_LINE);
    let line = "  ";
    for (let e = at; e < end; e++) line += e + 1 < values.length ? `${values[e]},` : values[e];
    lines.push(line);
  }
  return `static const ${type} ${name}[${values.length}] = {\n${lines.join("\n")}\n};\n`;
}
