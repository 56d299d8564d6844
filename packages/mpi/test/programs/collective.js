/** Does everything that processes can do together and says what came of it; every process says the same, but for its number. */

import { createHash } from "node:crypto";
import { joinProcesses } from "@ranksim/mpi";

const { collective, leave } = await joinProcesses();
const { rank, size } = collective;
const said = [];

const sum = await collective.sum(Float64Array.from({ length: 1000 }, (_, j) => j * (rank + 1)));
said.push(sum.every((value, j) => value === (j * size * (size + 1)) / 2));

// Parts of different lengths, one of them empty, and more than fits in a message that is sent at once.
const part = new Uint8Array(rank === 1 ? 0 : 100_000 * (rank + 1)).fill(rank + 1);
const parts = await collective.gather(part);
said.push(
  parts.map(({ byteLength }) => byteLength).join(),
  parts.every((own, r) => own.every((byte) => byte === r + 1)),
);

for (let from = 0; from < size; from++) {
  const told = await collective.broadcast(
    rank === from ? new Uint8Array(300_000).fill(from + 7) : new Uint8Array(0),
    from,
  );
  said.push(
    told.byteLength,
    told.every((byte) => byte === from + 7),
  );
}

// Along the chain, twice, in order.
for (const letter of ["a", "b"]) {
  const before = rank === 0 ? new Uint8Array(0) : await collective.receive(rank - 1);
  const after = new TextEncoder().encode(`${new TextDecoder().decode(before)}${letter}${rank}`);
  if (rank + 1 < size) await collective.send(after, rank + 1);
  said.push(new TextDecoder().decode(await collective.broadcast(after, size - 1)));
}
await collective.barrier();
console.log(`${size} ${createHash("sha256").update(JSON.stringify(said)).digest("hex").slice(0, 8)} ${said.join(" ")}`);
await leave();
