/** The peer at its best: a bare node:http server that parses the same body and answers a constant. Prints its port. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const ANSWER = JSON.stringify({ model: "bare", version: "0", labels: [0] });

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { rows } = JSON.parse(Buffer.concat(chunks).toString()) as { rows: number[][] };
    if (rows[0].length === 0) throw new Error("a row of no numbers");
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": ANSWER.length });
    response.end(ANSWER);
  });
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
