/**
 * Rows of any values on the device, as float32, for searches by candidates: dense ones in as few buffers as it allows, sparse ones in
 * three. Each row has a slack, which says how far apart float32 and the host may be (`candidates.ts`).
 */

import type { CsrRows, RowSource, Rows } from "../../kernels/shapes.ts";
import type { Turn } from "../turn.ts";
import { MOST_TERMS, measureRows, slackOf, TOO_LARGE } from "./candidates.ts";
import type { Room } from "./device.ts";
import type { House } from "./house.ts";
import { spreadRows, strideOf } from "./layout.ts";
import type { SparseRooms } from "./multiply-floats.ts";
import { emptyRows, freeRows, gatherRows, placesOf, type Resident } from "./resident.ts";

/** Bytes that are copied between two looks at the clock. */
const COPY_BYTES = 2 ** 22;

/** Rows as float32. */
export type FloatRows = {
  readonly rows: number;
  readonly features: number;
  /** The slack of each row. */
  readonly slack: Room;
} & (
  | { readonly form: "dense"; readonly resident: Resident }
  | { readonly form: "csr"; readonly rooms: SparseRooms; readonly spans: Uint32Array; readonly slacks: Float32Array }
);

/** Whether such rows may be searched by candidates. */
export function canFloat({ form, rows, features }: RowSource): boolean {
  return rows > 0 && (form === "csr" || features <= MOST_TERMS);
}

/** Brings rows to the device; undefined where a value is too large for float32 or they take more than a buffer. The caller frees them. */
export async function bringFloats(house: House, source: RowSource, turn: Turn): Promise<FloatRows | undefined> {
  return source.form === "dense" ? bringDense(house, source, turn) : bringSparse(house, source, turn);
}

export function freeFloats(x: FloatRows): void {
  x.slack.free();
  if (x.form === "dense") freeRows(x.resident);
  else for (const room of [x.rooms.spans, x.rooms.indices, x.rooms.values]) room.free();
}

/** Calls `work` with a copy of the listed rows; sparse ones share their entries with all others. */
export async function withListed<T>(
  house: House,
  x: FloatRows,
  list: Uint32Array,
  work: (some: FloatRows) => Promise<T>,
): Promise<T> {
  const { device } = house;
  const rows = list.length;
  if (x.form === "dense") {
    const resident = await gatherRows(house, x.resident, list);
    try {
      return await device.borrowing(async (borrow) => {
        const slack = borrow(4 * rows);
        await addSlacks(house, resident, slack, borrow(4));
        return work({ form: "dense", rows, features: x.features, slack, resident });
      });
    } finally {
      freeRows(resident);
    }
  }
  return device.borrowing((borrow) => {
    const spans = new Uint32Array(2 * rows);
    for (let j = 0; j < rows; j++) spans.set(x.spans.subarray(2 * list[j], 2 * list[j] + 2), 2 * j);
    const slacks = Float32Array.from(list, (r) => x.slacks[r]);
    const [slack, room] = [borrow(slacks.byteLength), borrow(spans.byteLength)];
    device.write(slack, 0, slacks);
    device.write(room, 0, spans);
    return work({ ...x, rows, slack, rooms: { ...x.rooms, spans: room }, spans, slacks });
  });
}

async function bringDense(house: House, source: RowSource, turn: Turn): Promise<FloatRows | undefined> {
  const { device, limits } = house;
  const { rows, features } = source;
  const resident = emptyRows(house, rows, features, strideOf(4 * features));
  let slack: Room | undefined;
  try {
    let first = 0;
    for await (const block of source.blocks(Math.min(COPY_BYTES, limits.partBytes / 2))) {
      const floats = floatsOf(block);
      for (const { part, from, to } of placesOf(resident.parts, first, first + block.rows)) {
        const values = floats.subarray((from - first) * features, (to - first) * features);
        await device.borrowing(async (borrow) => {
          const packed = borrow(values.byteLength + 8);
          const job = device.job();
          job.bring(packed, values);
          await spreadRows(job, packed, 4 * features, to - from, from - part.first, part.room);
          job.send();
        });
      }
      first += block.rows;
      await turn.pause();
    }
    slack = device.room(4 * rows);
    const isSmall = await device.borrowing((borrow) => addSlacks(house, resident, slack as Room, borrow(4)));
    if (isSmall) return { form: "dense", rows, features, slack, resident };
  } catch (error) {
    freeRows(resident);
    slack?.free();
    throw error;
  }
  freeRows(resident);
  slack.free();
  return undefined;
}

/** Finds the slack of each row; says whether all values are small enough. */
async function addSlacks(house: House, x: Resident, slack: Room, largest: Room): Promise<boolean> {
  const job = house.device.job();
  job.clear(largest);
  for (const part of x.parts) await measureRows(job, { ...x, ...part }, slack, largest);
  const read = job.read(largest, 4);
  job.send();
  return new Uint32Array(await read)[0] < TOO_LARGE;
}

async function bringSparse(house: House, source: RowSource, turn: Turn): Promise<FloatRows | undefined> {
  const { device, limits } = house;
  const { rows, features } = source;
  const spans = new Uint32Array(2 * rows);
  const slacks = new Float32Array(rows);
  const pieces: { readonly indices: Uint32Array; readonly floats: Float32Array }[] = [];
  let row = 0;
  let entries = 0; // counted: listed rows know theirs only roughly
  for await (const block of source.blocks(COPY_BYTES)) {
    const { offsets, indices } = block as CsrRows;
    const begin = offsets[0];
    const floats = floatsOf(block);
    for (let r = 0; r < block.rows; r++, row++) {
      const [from, to] = [offsets[r] - begin, offsets[r + 1] - begin];
      const slack = slackOf(floats, from, to);
      if (slack === undefined) return undefined;
      spans[2 * row] = entries + from;
      spans[2 * row + 1] = entries + to;
      slacks[row] = slack;
    }
    pieces.push({ indices: indices.slice(begin, begin + floats.length), floats });
    entries += floats.length;
    if (4 * Math.max(entries, 2 * rows) > limits.partBytes) return undefined;
    await turn.pause();
  }
  const held: Room[] = [];
  const room = (bytes: number): Room => {
    const made = device.room(bytes);
    held.push(made);
    return made;
  };
  try {
    const rooms = { spans: room(8 * rows), indices: room(4 * entries), values: room(4 * entries) };
    const slack = room(4 * rows);
    device.write(rooms.spans, 0, spans);
    device.write(slack, 0, slacks);
    let at = 0;
    for (const { indices, floats } of pieces) {
      device.write(rooms.indices, 4 * at, indices);
      device.write(rooms.values, 4 * at, floats);
      at += floats.length;
    }
    return { form: "csr", rows, features, slack, rooms, spans, slacks };
  } catch (error) {
    for (const each of held) each.free();
    throw error;
  }
}

/** The stored values of rows as float32. */
function floatsOf(block: Rows): Float32Array<ArrayBuffer> {
  const from = block.form === "dense" ? 0 : block.offsets[0];
  const to = block.form === "dense" ? block.rows * block.features : block.offsets[block.rows];
  return new Float32Array(block.values.subarray(from, to));
}
